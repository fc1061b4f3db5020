"""Alice is an admin and Charlie is not, so routes for admins do not exist for him."""

from typing import Any

from feedmill.store.feeds.add_feeds import add_feed
from tests.flows.refresh_environment import NOW
from tests.serve.rest.cases import Case, CaseRequest, simple_case
from tests.serve.rest.site import Person, Site

FORBIDDEN = 403


def _of_dora(path: str = "", json: Any = None) -> Case:
    async def prepare(site: Site, alice: Person) -> CaseRequest:
        dora = await site.person("dora")
        return CaseRequest(f"/admin/users/{dora.user.id}{path}", json)

    return Case(prepare, FORBIDDEN)


def _of_feed(json: Any = None) -> Case:
    async def prepare(site: Site, alice: Person) -> CaseRequest:
        feed = await add_feed(site.app.db, "https://example.org/feed", NOW)
        return CaseRequest(f"/admin/feeds/{feed.id}", json)

    return Case(prepare, FORBIDDEN)


def _two_feeds() -> Case:
    async def prepare(site: Site, alice: Person) -> CaseRequest:
        one, other = [await add_feed(site.app.db, f"https://example.org/{name}", NOW) for name in "ab"]
        return CaseRequest(f"/admin/feeds/{one.id}/merge", {"into": other.id})

    return Case(prepare, FORBIDDEN)


def _of_blocked() -> Case:
    async def prepare(site: Site, alice: Person) -> CaseRequest:
        await alice.post("/admin/blocked-hosts", {"host": "example.org"})
        return CaseRequest("/admin/blocked-hosts/example.org")

    return Case(prepare, FORBIDDEN)


CASES = {
    "GET /admin/users": simple_case("/admin/users", others=FORBIDDEN),
    "POST /admin/users": simple_case("/admin/users", {"name": "dora", "password": "a password"}, FORBIDDEN),
    "GET /admin/users/{user_id}": _of_dora(),
    "PATCH /admin/users/{user_id}": _of_dora(json={"status": "disabled"}),
    "DELETE /admin/users/{user_id}": _of_dora(),
    "GET /admin/feeds": simple_case("/admin/feeds", others=FORBIDDEN),
    "GET /admin/feeds/{feed_id}": _of_feed(),
    "PATCH /admin/feeds/{feed_id}": _of_feed({"paused": True}),
    "POST /admin/feeds/{feed_id}/merge": _two_feeds(),
    "GET /admin/blocked-hosts": simple_case("/admin/blocked-hosts", others=FORBIDDEN),
    "POST /admin/blocked-hosts": simple_case("/admin/blocked-hosts", {"host": "example.org"}, FORBIDDEN),
    "DELETE /admin/blocked-hosts/{host}": _of_blocked(),
    "POST /admin/queue/retry": simple_case("/admin/queue/retry", {"what": "images"}, FORBIDDEN),
    "GET /admin/log": simple_case("/admin/log", others=FORBIDDEN),
    "GET /admin/settings": simple_case("/admin/settings", others=FORBIDDEN),
    "GET /admin/backup": simple_case("/admin/backup", others=FORBIDDEN),
    "GET /admin/retention": simple_case("/admin/retention", others=FORBIDDEN),
    "GET /admin/queue": simple_case("/admin/queue", others=FORBIDDEN),
    "GET /admin/storage": simple_case("/admin/storage", others=FORBIDDEN),
    "GET /admin/hosts": simple_case("/admin/hosts", others=FORBIDDEN),
    "GET /admin/audit": simple_case("/admin/audit", others=FORBIDDEN),
}
