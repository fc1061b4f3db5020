"""Lists show a story once, by its first entry that is in the list."""

from dataclasses import replace

import pytest

from feedmill.library.entries.article import find_entry, neighbours
from feedmill.library.entries.labels import ensure_label
from feedmill.library.entries.list_entries import EntryListQuery, count_news
from feedmill.library.entries.marks import apply_marks
from feedmill.library.entries.sync_entries import sync_ids
from feedmill.library.stories.also_in import copies_of_entries
from feedmill.library.subscriptions.change_subscription import unsubscribe
from feedmill.model.entry_lists import ALL_ENTRIES, EntryOrder, EntryScope, EntryView
from feedmill.model.entry_marks import EntryMarks
from feedmill.model.sync_query import SyncQuery
from feedmill.store.database import Database, Step
from feedmill.store.entries import list_pages
from feedmill.store.feeds.merge_feeds import Merge, merge_feeds
from feedmill.store.schema import entries, feeds
from tests.library.small_library import DAY, HOUR, NOW
from tests.library.stories.story_library import StoryLibrary

READ = EntryMarks(read=True)


@pytest.fixture
def library(db: Database) -> StoryLibrary:
    return StoryLibrary(db)


async def test_every_database_shows_a_story_once_in_every_list(any_db: Database) -> None:
    library = StoryLibrary(any_db)
    alice = await library.person()
    await library.have(alice, "one", "two", "three")
    for name in ("one", "two", "three"):
        await library.publish(name, "bridge", f"only {name}")
    label = await ensure_label(any_db, alice.id, "good")
    await apply_marks(any_db, alice.id, list(library.entries.values()), EntryMarks(add_labels=(label,)), NOW)

    shown = ["three: only three", "two: only two", "one: only one", "one: bridge"]
    assert await library.listed(alice) == shown
    assert await library.listed(alice, EntryView.ALL) == shown
    assert await library.listed(alice, order=EntryOrder.OLDEST) == shown[::-1]
    assert await library.listed(alice, scope=EntryScope(label_id=label)) == shown
    assert await library.listed(alice, EntryView.ALL, scope=EntryScope(label_id=label)) == shown
    some = await library.scope(alice, "two", "three")
    assert await library.listed(alice, scope=some) == ["three: only three", "two: only two", "two: bridge"]
    assert await library.listed(alice, EntryView.ALL, scope=some) == await library.listed(alice, scope=some)
    one = await library.scope(alice, "three")
    assert await library.listed(alice, scope=one) == ["three: only three", "three: bridge"]


@pytest.mark.parametrize("view", [EntryView.UNREAD, EntryView.ALL])
async def test_a_list_of_a_time_shows_the_first_entry_of_that_time(any_db: Database, view: EntryView) -> None:
    """The first of the story came yesterday, the copies today."""
    library = StoryLibrary(any_db)
    alice = await library.person()
    await library.have(alice, "one", "two", "three")
    await library.publish("one", "bridge", at=NOW - DAY)
    await library.publish("two", "bridge", at=NOW)
    await library.publish("three", "bridge", at=NOW)
    today = NOW - HOUR

    assert await library.listed(alice, view, since=today) == ["two: bridge"]
    assert await library.listed(alice, view, since=today, order=EntryOrder.OLDEST) == ["two: bridge"]
    assert await library.listed(alice, view, since=today, scope=await library.scope(alice, "one", "three")) == [
        "three: bridge"
    ]
    assert await library.listed(alice, view) == ["one: bridge"]
    of_today = EntryListQuery(since=today, stories_once=True)
    assert await count_news(any_db, alice.id, of_today, library.entries["one: bridge"]) == 1
    assert await count_news(any_db, alice.id, replace(of_today, since=None), library.entries["one: bridge"]) == 0


async def test_the_other_feeds_are_named(library: StoryLibrary) -> None:
    alice = await library.person()
    await library.have(alice, "one", "two", "three")
    for name in ("one", "two", "three"):
        await library.publish(name, "bridge")
    first = library.entries["one: bridge"]
    await apply_marks(library.db, alice.id, [library.entries["two: bridge"]], READ, NOW)

    copies = await copies_of_entries(library.db, alice.id, [first])

    assert [(copy.feed_title, copy.unread) for copy in copies[first]] == [("two", False), ("three", True)]


async def test_lists_for_programs_have_every_entry(library: StoryLibrary) -> None:
    alice = await library.person()
    await library.have(alice, "one", "two")
    for name in ("one", "two"):
        await library.publish(name, "bridge")

    assert await library.listed(alice, stories_once=False) == ["two: bridge", "one: bridge"]
    assert len(await sync_ids(library.db, alice.id, SyncQuery(unread=True))) == 2


async def test_entries_of_one_feed_are_no_copies_of_each_other(library: StoryLibrary) -> None:
    """They may be episodes with the same words."""
    alice = await library.person()
    await library.have(alice, "one", "two")
    await library.publish("one", "bridge")
    await library.publish("one", "episode 1", "episode 2")
    ids = [library.entries[f"one: episode {number}"] for number in (1, 2)]
    await library.join(*ids)

    assert await library.listed(alice) == ["one: episode 2", "one: episode 1", "one: bridge"]
    assert await copies_of_entries(library.db, alice.id, ids) == {}
    await apply_marks(library.db, alice.id, ids[:1], EntryMarks(read=True, whole_stories=True), NOW)
    assert await library.unread_of(alice) == (2, 2)


# --- only what the user has ---------------------------------------------------------------------------------


async def test_feeds_of_other_users_neither_hide_entries_nor_are_named(library: StoryLibrary) -> None:
    alice, charlie = await library.person(), await library.person("charlie")
    await library.have(alice, "private", "shared")
    await library.have(charlie, "shared", "other")
    for name in ("private", "shared"):
        await library.publish(name, "bridge")

    assert await library.listed(alice) == ["private: bridge"]
    assert await library.listed(charlie) == ["shared: bridge"]
    assert await library.listed(charlie, EntryView.ALL) == ["shared: bridge"]
    assert await copies_of_entries(library.db, charlie.id, list(library.entries.values())) == {}


# --- the next one takes its place ---------------------------------------------------------------------------


async def test_a_story_goes_on_with_the_rest(library: StoryLibrary) -> None:
    alice = await library.person()
    await library.have(alice, "one", "two", "three", "four")
    for name in ("one", "two", "three", "four"):
        await library.publish(name, "bridge")
    assert await library.listed(alice) == ["one: bridge"]

    # A filter that hides an entry makes it read, and nothing else.
    await apply_marks(library.db, alice.id, [library.entries["one: bridge"]], READ, NOW)
    assert await library.listed(alice) == ["two: bridge"]
    assert await library.listed(alice, EntryView.ALL) == ["one: bridge"]

    await unsubscribe(library.db, alice.id, await library.subscription(alice, "two"))
    assert await library.listed(alice) == ["three: bridge"]

    await library.db.batch([Step(entries.delete().where(entries.c.id == library.entries["three: bridge"]))])
    assert await library.listed(alice, EntryView.ALL, scope=await library.scope(alice, "three", "four")) == [
        "four: bridge"
    ]


async def test_a_story_survives_the_merge_of_its_feeds(library: StoryLibrary) -> None:
    alice = await library.person()
    await library.have(alice, "one", "two", "three")
    for name in ("one", "two", "three"):
        await library.publish(name, "bridge", guid=name)
    source, target = library.feeds["one"], library.feeds["two"]
    newest = max(library.entries.values())

    await merge_feeds(library.db, Merge(source, "https://one", target, "https://two", move_up_to=newest), NOW)

    # Both are entries of one feed now, before which the third is a copy.
    assert await library.listed(alice) == ["two: bridge", "one: bridge"]
    await library.db.batch([Step(feeds.delete().where(feeds.c.id == target))])
    assert await library.listed(alice) == ["three: bridge"]


# --- switches ------------------------------------------------------------------------------------------------


async def test_a_feed_that_is_left_out_neither_hides_nor_is_hidden(library: StoryLibrary) -> None:
    alice = await library.person()
    await library.have(alice, "one", "two", "three")
    for name in ("one", "two", "three"):
        await library.publish(name, "bridge")

    await library.leave_out(alice, "one")

    assert await library.listed(alice) == ["two: bridge", "one: bridge"]
    two = library.entries["two: bridge"]
    copies = await copies_of_entries(library.db, alice.id, list(library.entries.values()))
    assert [copy.feed_title for copy in copies[two]] == ["three"]
    assert library.entries["one: bridge"] not in copies


async def test_the_feeds_of_a_folder_that_is_left_out_neither_hide_nor_are_hidden(library: StoryLibrary) -> None:
    alice = await library.person()
    await library.have(alice, "one", "two", "three")
    for name in ("one", "two", "three"):
        await library.publish(name, "bridge")
    await library.folder(alice, "kept", await library.subscription(alice, "two"))

    await library.leave_out_folder(await library.folder(alice, "out", await library.subscription(alice, "two")))

    assert await library.listed(alice) == ["two: bridge", "one: bridge"]


async def test_the_switch_of_another_user_changes_nothing(library: StoryLibrary) -> None:
    alice, bob = await library.person(), await library.person("bob")
    for user in (alice, bob):
        await library.have(user, "one", "two")
    for name in ("one", "two"):
        await library.publish(name, "bridge")

    await library.leave_out(bob, "one")

    assert await library.listed(alice) == ["one: bridge"]
    assert await library.listed(bob) == ["two: bridge", "one: bridge"]


# --- pages ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", EntryOrder)
@pytest.mark.parametrize("view", [EntryView.UNREAD, EntryView.ALL])
async def test_pages_have_each_story_once_whatever_their_size(
    library: StoryLibrary, view: EntryView, order: EntryOrder
) -> None:
    alice = await library.person()
    await library.have(alice, "one", "two", "three")
    titles = [f"story {number}" for number in range(20)]
    for name in ("one", "two", "three"):
        await library.publish(name, *titles)

    for most in (1, 2, 7, 50):
        shown = await library.listed(alice, view, most=most, order=order)
        wanted = [f"one: {title}" for title in titles]
        assert shown == (wanted if order is EntryOrder.OLDEST else wanted[::-1])


async def test_a_page_reads_on_past_many_copies(library: StoryLibrary, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_pages, "LARGEST_PART", 21)
    alice = await library.person()
    await library.have(alice, "one", *(f"copy {number}" for number in range(12)))
    titles = [f"story {number}" for number in range(12)]
    for name in library.feeds:
        await library.publish(name, *titles)

    assert await library.listed(alice, most=5) == [f"one: {title}" for title in titles[::-1]]


async def test_the_neighbours_of_an_article_are_no_copies(library: StoryLibrary) -> None:
    alice = await library.person()
    await library.have(alice, "one", "two")
    await library.publish("one", "before", "bridge", "after")
    await library.publish("two", "before", "bridge")
    here = await find_entry(library.db, alice.id, library.entries["one: after"])
    within = EntryListQuery(EntryView.UNREAD, stories_once=True)

    beside = await neighbours(library.db, alice.id, here, within, NOW)
    every = await neighbours(library.db, alice.id, here, EntryListQuery(EntryView.UNREAD), NOW)

    assert beside == (None, library.entries["one: bridge"])
    assert every[0] == library.entries["two: bridge"]


async def test_a_copy_of_a_story_that_is_shown_is_no_news(library: StoryLibrary) -> None:
    alice = await library.person()
    await library.have(alice, "one", "two")
    await library.publish("one", "bridge")
    seen = library.entries["one: bridge"]
    query = EntryListQuery(EntryView.UNREAD, ALL_ENTRIES, stories_once=True)

    await library.publish("two", "bridge")
    assert await count_news(library.db, alice.id, query, seen) == 0

    await library.publish("two", "tunnel")
    assert await count_news(library.db, alice.id, query, seen) == 1
