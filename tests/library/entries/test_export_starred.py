"""The export of a user's starred entries."""

import json
from typing import Any

import pytest

from feedmill.library.entries import export_starred as starred
from feedmill.library.entries.export_starred import export_starred
from feedmill.library.entries.marks import apply_marks_to_entry
from feedmill.model.entry_marks import EntryMarks
from feedmill.model.refresh import Revision
from feedmill.model.user import User
from feedmill.store.database import Database, Step
from feedmill.store.entries.add_entries import steps_to_add_revisions
from feedmill.store.entries.labels import add_label
from feedmill.store.schema import subscriptions
from tests.library.small_library import HOUR, NOW, SmallLibrary


async def exported(db: Database, user: User) -> Any:
    return json.loads(b"".join([piece async for piece in export_starred(db, user.id, NOW)]))


async def test_starred_entries_are_a_json_feed_with_their_newest_texts_and_labels(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice, bob, feed = await library.person(), await library.person("bob"), await library.feed()
    mine = await library.subscribe(alice, feed, "Mine")
    await library.subscribe(bob, feed)
    first, second, _ = await library.arrive(feed, "one", "two", "three", content_html="<p>old</p><script>x</script>")
    label = await add_label(any_db, alice.id, "later on")
    await apply_marks_to_entry(any_db, alice.id, first, EntryMarks(starred=True, add_labels=(label.id,)), NOW)
    await apply_marks_to_entry(any_db, alice.id, second, EntryMarks(starred=True), NOW + HOUR)
    await apply_marks_to_entry(any_db, bob.id, second, EntryMarks(starred=True), NOW)
    revised = Revision(first, 1, "d", "https://x.example/1", "one!", None, None, "<p>new</p>")
    await any_db.batch(steps_to_add_revisions([revised], "2026-02-18T00:00:00.000Z"))
    # A starred entry stays, also after unsubscribing.
    await any_db.batch([Step(subscriptions.delete().where(subscriptions.c.id == mine))])

    document = await exported(any_db, alice)

    assert document["version"] == "https://jsonfeed.org/version/1.1"
    two, one = document["items"]
    assert (one["title"], one["url"], one["content_html"]) == ("one!", "https://x.example/1", "<p>new</p>")
    assert (one["tags"], "tags" in two, two["content_html"]) == (["later on"], False, "<p>old</p>")
    assert (one["_feedmill"]["entry_id"], one["_feedmill"]["feed_url"]) == (first, "https://feed.example.org/")
    assert two["_feedmill"]["starred_at"] == "2026-02-18T09:30:00.000Z"
    assert [item["title"] for item in (await exported(any_db, bob))["items"]] == ["two"]


async def test_without_stars_the_document_is_empty(db: Database) -> None:
    assert (await exported(db, await SmallLibrary(db).person()))["items"] == []


@pytest.mark.parametrize("starred_entries", [2, 3, 4])
async def test_many_entries_are_exported_once_each(
    db: Database, monkeypatch: pytest.MonkeyPatch, starred_entries: int
) -> None:
    monkeypatch.setattr(starred, "AT_ONCE", 2)
    library = SmallLibrary(db)
    alice, feed = await library.person(), await library.feed()
    await library.subscribe(alice, feed)
    for id in await library.arrive(feed, *(str(n) for n in range(starred_entries))):
        await apply_marks_to_entry(db, alice.id, id, EntryMarks(starred=True), NOW + id * HOUR)

    titles = [item["title"] for item in (await exported(db, alice))["items"]]

    assert titles == [str(n) for n in reversed(range(starred_entries))]
