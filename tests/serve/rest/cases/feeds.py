"""`/api/feeds`, `/api/folders`, `/api/jobs` and `/api/queue`."""

from datetime import UTC, datetime
from typing import Any

from feedmill.library.subscriptions.opml import OpmlFeed, write_opml
from feedmill.store.jobs.batches import start_batch
from tests.serve.rest.cases import Case, CaseRequest, simple_case
from tests.serve.rest.sample_feeds import feed_of, folder_of
from tests.serve.rest.site import Person, Site

SECRET = "Alice's own"


async def _discover(site: Site, alice: Person) -> CaseRequest:
    return CaseRequest("/feeds/discover", {"url": site.web.serve("/feed", feed_of("a"))})


async def _subscribe(site: Site, alice: Person) -> CaseRequest:
    return CaseRequest("/feeds", {"url": site.web.serve("/feed", feed_of("a"))})


async def _list(site: Site, alice: Person) -> CaseRequest:
    await _hers(site, alice)
    return CaseRequest("/feeds", secret=SECRET)


def _one(rest: str = "", json: Any = None, secret: str | None = None) -> Case:
    async def prepare(site: Site, alice: Person) -> CaseRequest:
        return CaseRequest(f"/feeds/{(await _hers(site, alice))['id']}{rest}", json, secret)

    return Case(prepare)


async def _hers(site: Site, alice: Person) -> dict[str, Any]:
    url = site.web.serve("/hers", feed_of("hers"))
    added = await alice.post("/feeds", {"url": url, "title": SECRET})
    feed: dict[str, Any] = added.json()["feed"]
    return feed


async def _schedule(site: Site, alice: Person) -> CaseRequest:
    return CaseRequest("/queue/schedule-feed", {"feed_id": (await _hers(site, alice))["feed_id"]})


async def _import(site: Site, alice: Person) -> CaseRequest:
    opml = write_opml([OpmlFeed(site.web.serve("/listed", feed_of("a")))], title="List")
    return CaseRequest("/feeds/import", content=opml, headers=(("Content-Type", "text/x-opml"),))


async def _export(site: Site, alice: Person) -> CaseRequest:
    await _hers(site, alice)
    return CaseRequest("/feeds/export", secret="/hers")


async def _folders(site: Site, alice: Person) -> CaseRequest:
    await folder_of(alice, SECRET)
    return CaseRequest("/folders", secret=SECRET)


def _folder(json: Any = None, secret: str | None = None) -> Case:
    async def prepare(site: Site, alice: Person) -> CaseRequest:
        return CaseRequest(f"/folders/{await folder_of(alice, SECRET)}", json, secret)

    return Case(prepare)


async def _jobs(site: Site, alice: Person) -> CaseRequest:
    await site.parts.batches.refresh(SECRET, [], alice.user.id)
    return CaseRequest("/jobs", secret=SECRET)


def _ended_job(rest: str = "") -> Case:
    async def prepare(site: Site, alice: Person) -> CaseRequest:
        job_id, _ = await site.parts.batches.refresh("refresh_all", [], alice.user.id)
        return CaseRequest(f"/jobs/{job_id}{rest}")

    return Case(prepare)


async def _running_job(site: Site, alice: Person) -> CaseRequest:
    job_id, _ = await start_batch(site.app.db, "refresh_all", [1], datetime.now(UTC), alice.user.id)
    return CaseRequest(f"/jobs/{job_id}/cancel")


CASES = {
    "GET /feeds": Case(_list, others=200),
    "POST /feeds": Case(_subscribe, others=201),
    "POST /feeds/discover": Case(_discover, others=200),
    "POST /feeds/refresh-all": simple_case("/feeds/refresh-all", others=202),
    "GET /feeds/{subscription_id}": _one(secret=SECRET),
    "PATCH /feeds/{subscription_id}": _one(json={"paused": True}, secret=SECRET),
    "DELETE /feeds/{subscription_id}": _one(),
    "GET /feeds/{subscription_id}/fetches": _one("/fetches", secret="updated"),
    "POST /feeds/{subscription_id}/refresh": _one("/refresh"),
    "POST /feeds/{subscription_id}/rules/preview": _one("/rules/preview", {"block_rules": "ads"}, secret="hers"),
    "POST /feeds/import": Case(_import, others=202),
    "GET /feeds/export": Case(_export, others=200),
    "POST /queue/schedule-feed": Case(_schedule),
    "GET /folders": Case(_folders, others=200),
    "POST /folders": simple_case("/folders", {"name": "News"}, others=201),
    "PATCH /folders/{folder_id}": _folder({"position": 2}, secret=SECRET),
    "DELETE /folders/{folder_id}": _folder(),
    "GET /jobs": Case(_jobs, others=200),
    "GET /jobs/{job_id}": _ended_job(),
    "GET /jobs/{job_id}/events": _ended_job("/events"),
    "POST /jobs/{job_id}/cancel": Case(_running_job),
}
