from datetime import UTC, datetime
from typing import Any

from feedmill.library.filters.filter_jobs import apply_backwards, cancel_filter_job
from feedmill.library.filters.manage_filters import create_filter
from feedmill.library.filters.work_on_jobs import FilterJobWorker
from feedmill.model.filters.entry_filter import EntryFilter, FilterAction, FilterActions, FilterDraft
from feedmill.model.user import SCOPES, Caller
from feedmill.store.filters.apply_to_stored import StoredMatches, steps_to_apply
from tests.serve.rest.cases import Case, CaseRequest, simple_case
from tests.serve.rest.cases.entries import entry_of
from tests.serve.rest.site import Person, Site

NAME = "Alice's releases"
NEW = {"name": NAME, "condition": "rust", "actions": {"star": True}}


async def _filter(site: Site, alice: Person) -> EntryFilter:
    draft = FilterDraft(NAME, "rust", actions=FilterActions(star=True))
    return await create_filter(site.app.db, Caller(alice.user, frozenset(SCOPES)), draft, datetime.now(UTC))


def _of_filter(path: str = "", json: Any = None, secret: str | None = None) -> Case:
    async def prepare(site: Site, alice: Person) -> CaseRequest:
        return CaseRequest(f"/filters/{(await _filter(site, alice)).id}{path}", json, secret)

    return Case(prepare)


async def _all(site: Site, alice: Person) -> CaseRequest:
    await _filter(site, alice)
    return CaseRequest("/filters", secret=NAME)


async def _order(site: Site, alice: Person) -> CaseRequest:
    return CaseRequest("/filters/order", {"ids": [(await _filter(site, alice)).id]})


async def _starred_entry(site: Site, alice: Person) -> int:
    """An entry that a filter of Alice's has starred."""
    own, entry = await _filter(site, alice), await entry_of(site, alice)
    matches, now = StoredMatches(own.id, alice.user.id, [entry]), datetime.now(UTC)
    await site.app.db.batch(steps_to_apply(matches, [(FilterAction.STAR, 0)], now, now))
    return entry


async def _effects(site: Site, alice: Person) -> CaseRequest:
    return CaseRequest(f"/entries/{await _starred_entry(site, alice)}/effects", secret=NAME)


async def _undo(site: Site, alice: Person) -> CaseRequest:
    return CaseRequest(f"/entries/{await _starred_entry(site, alice)}/effects/star")


def _of_job(path: str = "", secret: str | None = NAME, is_done: bool = False, is_cancelled: bool = False) -> Case:
    async def prepare(site: Site, alice: Person) -> CaseRequest:
        db, user_id, now = site.app.db, alice.user.id, datetime.now(UTC)
        own, _ = await _filter(site, alice), await entry_of(site, alice, content_html="rust")
        job = await apply_backwards(db, user_id, own.id, now)
        if is_done:
            await FilterJobWorker(db).work()
        if is_cancelled:
            await cancel_filter_job(db, user_id, job.id, now)
        return CaseRequest(f"/filter-jobs/{job.id}{path}" if path != "all" else "/filter-jobs", secret=secret)

    return Case(prepare, 200 if path == "all" else 404)


async def _trial(site: Site, alice: Person) -> CaseRequest:
    await entry_of(site, alice)
    return CaseRequest("/filters/try", {"condition": "alices"}, secret="Alices own")


CASES = {
    "POST /filters/try": Case(_trial, others=200),
    "POST /filters/{filter_id}/apply": _of_filter("/apply", secret=NAME),
    "POST /filters/{filter_id}/revert": _of_filter("/revert", secret=NAME),
    "GET /filters/{filter_id}/jobs": _of_filter("/jobs"),
    "GET /filter-jobs": _of_job("all"),
    "GET /filter-jobs/{job_id}": _of_job(),
    "POST /filter-jobs/{job_id}/undo": _of_job("/undo", is_done=True),
    "POST /filter-jobs/{job_id}/retry": _of_job("/retry", is_cancelled=True),
    "POST /filter-jobs/{job_id}/cancel": _of_job("/cancel"),
    "GET /filters": Case(_all, others=200),
    "POST /filters": simple_case("/filters", NEW, others=201),
    "PUT /filters/order": Case(_order),
    "GET /filters/{filter_id}": _of_filter(secret=NAME),
    "PATCH /filters/{filter_id}": _of_filter(json={"enabled": False}, secret=NAME),
    "DELETE /filters/{filter_id}": _of_filter(),
    "GET /filters/{filter_id}/hits": _of_filter("/hits"),
    "GET /entries/{entry_id}/effects": Case(_effects),
    "DELETE /entries/{entry_id}/effects/{action}": Case(_undo),
    "POST /mutes": simple_case("/mutes", {"text": "world cup"}, others=201),
    "POST /follows": simple_case("/follows", {"text": "world cup"}, others=201),
}
