"""What subscribers want done with new entries, in the refresh's own batch, on every database."""

from feedmill.library.entries.labels import ensure_label
from feedmill.model.feed_settings import FeedSettings
from feedmill.store.schema import entries, entry_labels, full_text_tasks
from tests.flows.world import HOUR, World, answer, item
from tests.library.readers import Readers


async def test_a_blocked_entry_is_kept_and_is_unread_for_everybody_else(any_world: World) -> None:
    readers = Readers(any_world).tailored()
    alice, bob = await readers.person("alice"), await readers.person("bob")
    url = any_world.web.serve("/feed", answer(item("first")))
    mine = (await readers.subscribe(alice, url, settings=FeedSettings(block_rules="ads"))).subscription
    await readers.subscribe(bob, url)

    await any_world.later(HOUR, await readers.feed(mine), answer(item("ads one"), item("news"), item("ads two")))

    assert await readers.unread_and_counted(alice) == (2, 2)
    assert await readers.unread_and_counted(bob) == (4, 4)
    assert sorted(await any_world.titles()) == ["ads one", "ads two", "first", "news"]


async def test_new_entries_get_labels_unless_they_are_blocked(any_world: World) -> None:
    readers = Readers(any_world).tailored()
    alice, bob = await readers.person("alice"), await readers.person("bob")
    label = await ensure_label(any_world.db, alice.id, "work")
    url = any_world.web.serve("/feed", answer(item("news"), item("ads")))
    await readers.subscribe(bob, url)

    mine = (await readers.subscribe(alice, url)).subscription
    await readers.settle(alice, mine, label_ids=(label,), block_rules="ads")
    await any_world.later(HOUR, await readers.feed(mine), answer(item("late news"), item("late ads")))

    titles = {row["id"]: row["title"] for row in await any_world.rows(entries)}
    assert [titles[row["entry_id"]] for row in await any_world.rows(entry_labels)] == ["late news"]


async def test_whole_articles_are_wanted_of_new_entries_that_somebody_does_not_block(any_world: World) -> None:
    readers = Readers(any_world).tailored()
    alice = await readers.person("alice")
    url = any_world.web.serve("/feed", answer(item("ads"), item("news"), item("nowhere", link=None)))

    await readers.subscribe(alice, url, settings=FeedSettings(full_text=True, block_rules="ads"))

    titles = {row["id"]: row["title"] for row in await any_world.rows(entries)}
    assert [titles[row["entry_id"]] for row in await any_world.rows(full_text_tasks)] == ["news"]
