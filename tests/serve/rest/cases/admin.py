"""Alice is an admin, Charlie is not: what is for admins is for him as if it were not."""

from typing import Any

from feedmill.store.feeds.add_feeds import add_feed
from tests.flows.refresh_environment import NOW
from tests.serve.rest.cases import Asked, Case, plainly
from tests.serve.rest.site import Person, Site

FORBIDDEN = 403


def _of_dora(path: str = "", json: Any = None) -> Case:
    async def ask(site: Site, alice: Person) -> Asked:
        dora = await site.person("dora")
        return Asked(f"/admin/users/{dora.user.id}{path}", json)

    return Case(ask, FORBIDDEN)


def _of_feed(json: Any = None) -> Case:
    async def ask(site: Site, alice: Person) -> Asked:
        feed = await add_feed(site.app.db, "https://example.org/feed", NOW)
        return Asked(f"/admin/feeds/{feed.id}", json)

    return Case(ask, FORBIDDEN)


def _two_feeds() -> Case:
    async def ask(site: Site, alice: Person) -> Asked:
        one, other = [await add_feed(site.app.db, f"https://example.org/{name}", NOW) for name in "ab"]
        return Asked(f"/admin/feeds/{one.id}/merge", {"into": other.id})

    return Case(ask, FORBIDDEN)


def _of_blocked() -> Case:
    async def ask(site: Site, alice: Person) -> Asked:
        await alice.post("/admin/blocked-hosts", {"host": "example.org"})
        return Asked("/admin/blocked-hosts/example.org")

    return Case(ask, FORBIDDEN)


CASES = {
    "GET /admin/users": plainly("/admin/users", others=FORBIDDEN),
    "POST /admin/users": plainly("/admin/users", {"name": "dora", "password": "a password"}, FORBIDDEN),
    "GET /admin/users/{user_id}": _of_dora(),
    "PATCH /admin/users/{user_id}": _of_dora(json={"status": "disabled"}),
    "DELETE /admin/users/{user_id}": _of_dora(),
    "GET /admin/feeds": plainly("/admin/feeds", others=FORBIDDEN),
    "GET /admin/feeds/{feed_id}": _of_feed(),
    "PATCH /admin/feeds/{feed_id}": _of_feed({"paused": True}),
    "POST /admin/feeds/{feed_id}/merge": _two_feeds(),
    "GET /admin/blocked-hosts": plainly("/admin/blocked-hosts", others=FORBIDDEN),
    "POST /admin/blocked-hosts": plainly("/admin/blocked-hosts", {"host": "example.org"}, FORBIDDEN),
    "DELETE /admin/blocked-hosts/{host}": _of_blocked(),
    "POST /admin/queue/retry": plainly("/admin/queue/retry", {"what": "images"}, FORBIDDEN),
    "GET /admin/log": plainly("/admin/log", others=FORBIDDEN),
    "GET /admin/settings": plainly("/admin/settings", others=FORBIDDEN),
    "GET /admin/backup": plainly("/admin/backup", others=FORBIDDEN),
    "GET /admin/retention": plainly("/admin/retention", others=FORBIDDEN),
    "GET /admin/queue": plainly("/admin/queue", others=FORBIDDEN),
    "GET /admin/storage": plainly("/admin/storage", others=FORBIDDEN),
    "GET /admin/hosts": plainly("/admin/hosts", others=FORBIDDEN),
    "GET /admin/audit": plainly("/admin/audit", others=FORBIDDEN),
}
