"""`/api/feeds`, `/api/folders`, `/api/jobs` and `/api/queue`."""

from datetime import UTC, datetime
from typing import Any

from feedmill.library.subscriptions.opml import OpmlFeed, write_opml
from feedmill.store.jobs.batches import start_batch
from tests.serve.rest.cases import Asked, Case, plainly
from tests.serve.rest.site import Person, Site
from tests.serve.rest.subscribing import feed_of, folder_of

SECRET = "Alice's own"


async def _discover(site: Site, alice: Person) -> Asked:
    return Asked("/feeds/discover", {"url": site.web.serve("/feed", feed_of("a"))})


async def _subscribe(site: Site, alice: Person) -> Asked:
    return Asked("/feeds", {"url": site.web.serve("/feed", feed_of("a"))})


async def _list(site: Site, alice: Person) -> Asked:
    await _hers(site, alice)
    return Asked("/feeds", secret=SECRET)


def _one(rest: str = "", json: Any = None, secret: str | None = None) -> Case:
    async def ask(site: Site, alice: Person) -> Asked:
        return Asked(f"/feeds/{(await _hers(site, alice))['id']}{rest}", json, secret)

    return Case(ask)


async def _hers(site: Site, alice: Person) -> dict[str, Any]:
    url = site.web.serve("/hers", feed_of("hers"))
    added = await alice.post("/feeds", {"url": url, "title": SECRET})
    feed: dict[str, Any] = added.json()["feed"]
    return feed


async def _schedule(site: Site, alice: Person) -> Asked:
    return Asked("/queue/schedule-feed", {"feed_id": (await _hers(site, alice))["feed_id"]})


async def _import(site: Site, alice: Person) -> Asked:
    opml = write_opml([OpmlFeed(site.web.serve("/listed", feed_of("a")))], title="List")
    return Asked("/feeds/import", content=opml, headers=(("Content-Type", "text/x-opml"),))


async def _export(site: Site, alice: Person) -> Asked:
    await _hers(site, alice)
    return Asked("/feeds/export", secret="/hers")


async def _folders(site: Site, alice: Person) -> Asked:
    await folder_of(alice, SECRET)
    return Asked("/folders", secret=SECRET)


def _folder(json: Any = None, secret: str | None = None) -> Case:
    async def ask(site: Site, alice: Person) -> Asked:
        return Asked(f"/folders/{await folder_of(alice, SECRET)}", json, secret)

    return Case(ask)


async def _jobs(site: Site, alice: Person) -> Asked:
    await site.parts.batches.refresh(SECRET, [], alice.user.id)
    return Asked("/jobs", secret=SECRET)


def _ended_job(rest: str = "") -> Case:
    async def ask(site: Site, alice: Person) -> Asked:
        job_id, _ = await site.parts.batches.refresh("refresh_all", [], alice.user.id)
        return Asked(f"/jobs/{job_id}{rest}")

    return Case(ask)


async def _running_job(site: Site, alice: Person) -> Asked:
    job_id, _ = await start_batch(site.app.db, "refresh_all", [1], datetime.now(UTC), alice.user.id)
    return Asked(f"/jobs/{job_id}/cancel")


CASES = {
    "GET /feeds": Case(_list, others=200),
    "POST /feeds": Case(_subscribe, others=201),
    "POST /feeds/discover": Case(_discover, others=200),
    "POST /feeds/refresh-all": plainly("/feeds/refresh-all", others=202),
    "GET /feeds/{subscription_id}": _one(secret=SECRET),
    "PATCH /feeds/{subscription_id}": _one(json={"paused": True}, secret=SECRET),
    "DELETE /feeds/{subscription_id}": _one(),
    "POST /feeds/{subscription_id}/refresh": _one("/refresh"),
    "POST /feeds/{subscription_id}/rules/preview": _one("/rules/preview", {"block_rules": "ads"}, secret="hers"),
    "POST /feeds/import": Case(_import, others=202),
    "GET /feeds/export": Case(_export, others=200),
    "POST /queue/schedule-feed": Case(_schedule),
    "GET /folders": Case(_folders, others=200),
    "POST /folders": plainly("/folders", {"name": "News"}, others=201),
    "PATCH /folders/{folder_id}": _folder({"position": 2}, secret=SECRET),
    "DELETE /folders/{folder_id}": _folder(),
    "GET /jobs": Case(_jobs, others=200),
    "GET /jobs/{job_id}": _ended_job(),
    "GET /jobs/{job_id}/events": _ended_job("/events"),
    "POST /jobs/{job_id}/cancel": Case(_running_job),
}
