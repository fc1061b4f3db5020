"""Entries are visible to subscribers of their feed and to users who kept them; read, star and labels are per user."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from feedmill.library.entries.marks import apply_marks_to_entry
from feedmill.model.entry_marks import EntryMarks, MarkAllRead
from feedmill.model.parsed_feed import Enclosure
from feedmill.model.refresh import Revision
from feedmill.store.entries.add_entries import steps_to_add_revisions
from feedmill.store.entries.labels import add_label
from feedmill.store.entries.mark_all_read import mark_unread_as_read
from tests.library.small_library import SmallLibrary
from tests.scripted_web import Answer
from tests.serve.rest.cases import Case, CaseRequest
from tests.serve.rest.site import Person, Site

SECRET = "Alices own"
REVISED = Revision(0, 1, "e", "https://example.org/", f"{SECRET} changed", None, None, f"<p>{SECRET} changed</p>")


async def entry_of(site: Site, person: Person, **more: Any) -> int:
    """An unread entry of a feed without other subscribers."""
    library = SmallLibrary(site.app.db)
    feed = await library.feed("private")
    await library.subscribe(person.user, feed)
    [entry] = await library.arrive(feed, SECRET, **more)
    return entry


def _of_entry(path: str, json: Any = None, secret: str | None = SECRET) -> Case:
    async def prepare(site: Site, alice: Person) -> CaseRequest:
        return CaseRequest(f"/entries/{await entry_of(site, alice)}{path}", json, secret)

    return Case(prepare)


def _of_label(json: Any = None, secret: str | None = SECRET) -> Case:
    async def prepare(site: Site, alice: Person) -> CaseRequest:
        label = await add_label(site.app.db, alice.user.id, SECRET)
        return CaseRequest(f"/labels/{label.id}", json, secret)

    return Case(prepare)


async def _the_list(site: Site, alice: Person) -> CaseRequest:
    await entry_of(site, alice)
    return CaseRequest("/entries?view=all", secret=SECRET)


async def _ids(site: Site, alice: Person) -> CaseRequest:
    return CaseRequest("/entries/ids?view=unread", secret=f'"ids":[{await entry_of(site, alice)}]')


async def _texts(site: Site, alice: Person) -> CaseRequest:
    return CaseRequest(f"/entries/texts?ids={await entry_of(site, alice)}", secret=SECRET)


async def _changes(site: Site, alice: Person) -> CaseRequest:
    since = (await alice.get("/entries/ids")).json()["since"]
    entry = await entry_of(site, alice)
    await apply_marks_to_entry(site.app.db, alice.user.id, entry, EntryMarks(starred=True), datetime.now(UTC))
    return CaseRequest(f"/entries/changes?since={since}", secret=f'"id":{entry}')


async def _starred(site: Site, alice: Person) -> CaseRequest:
    await apply_marks_to_entry(
        site.app.db, alice.user.id, await entry_of(site, alice), EntryMarks(starred=True), datetime.now(UTC)
    )
    return CaseRequest("/entries/export", secret=SECRET)


async def _position(site: Site, alice: Person) -> CaseRequest:
    entry = await entry_of(site, alice, enclosures=(Enclosure("https://example.org/a.mp3"),))
    return CaseRequest(f"/entries/{entry}/enclosures/0/position", {"seconds": 4711}, "4711")


async def _difference(site: Site, alice: Person) -> CaseRequest:
    entry = await entry_of(site, alice)
    await site.app.db.batch(steps_to_add_revisions([replace(REVISED, entry_id=entry)], "2026-02-19T00:00:00.000Z"))
    return CaseRequest(f"/entries/{entry}/difference?old=0&new=1", secret=SECRET)


async def _full_text(site: Site, alice: Person) -> CaseRequest:
    page = f"<html><body><p>{SECRET}, and more of it, in whole sentences. </p>{'<p>More, and more.</p>' * 20}"
    site.web.serve("/page", Answer(page.encode(), headers={"Content-Type": "text/html"}))
    entry = await entry_of(site, alice, link=site.web.url("/page"))
    return CaseRequest(f"/entries/{entry}/full-text", secret=f"{SECRET}, and more")


async def _many(site: Site, alice: Person) -> CaseRequest:
    return CaseRequest("/entries/mark", {"ids": [await entry_of(site, alice)], "starred": True})


async def _all(site: Site, alice: Person) -> CaseRequest:
    await entry_of(site, alice)
    return CaseRequest("/entries/mark-all", {"everything": True})


async def _undo(site: Site, alice: Person) -> CaseRequest:
    await entry_of(site, alice)
    swept = await mark_unread_as_read(site.app.db, alice.user.id, MarkAllRead(), datetime.now(UTC))
    return CaseRequest("/entries/undo", {"undo": swept.undo})


async def _labels(site: Site, alice: Person) -> CaseRequest:
    await add_label(site.app.db, alice.user.id, SECRET)
    return CaseRequest("/labels", secret=SECRET)


async def _new_label(site: Site, alice: Person) -> CaseRequest:
    return CaseRequest("/labels", {"name": "red"})


CASES = {
    "GET /entries": Case(_the_list, others=200),
    "GET /entries/export": Case(_starred, others=200),
    "GET /entries/ids": Case(_ids, others=200),
    "GET /entries/changes": Case(_changes, others=200),
    "GET /entries/texts": Case(_texts, others=200),
    "GET /entries/{entry_id}": _of_entry("?raw=true"),
    "PATCH /entries/{entry_id}": _of_entry("", {"starred": True}),
    "PUT /entries/{entry_id}/enclosures/{number}/position": Case(_position),
    "GET /entries/{entry_id}/revisions": _of_entry("/revisions"),
    "GET /entries/{entry_id}/difference": Case(_difference),
    "GET /entries/{entry_id}/original": _of_entry("/original"),
    "POST /entries/{entry_id}/full-text": Case(_full_text),
    "POST /entries/mark": Case(_many, others=200),
    "POST /entries/mark-all": Case(_all, others=200),
    "POST /entries/undo": Case(_undo),
    "GET /labels": Case(_labels, others=200),
    "POST /labels": Case(_new_label, others=201),
    "GET /labels/{label_id}": _of_label(),
    "PATCH /labels/{label_id}": _of_label({"name": f"{SECRET} too"}),
    "DELETE /labels/{label_id}": _of_label(secret=None),
}
