"""Filters of subscribers are applied in the atomic write of a refresh, on every database."""

from feedmill.library.entries.labels import ensure_label
from feedmill.model.feed_settings import FeedSettings
from feedmill.store.schema import entries, entry_labels, full_text_tasks
from tests.flows.refresh_environment import HOUR, RefreshEnvironment, answer, item
from tests.library.subscribers import Subscribers


async def test_a_blocked_entry_is_stored_and_unread_for_other_subscribers(any_env: RefreshEnvironment) -> None:
    subscribers = Subscribers(any_env).with_filters()
    alice, bob = await subscribers.person("alice"), await subscribers.person("bob")
    url = any_env.web.serve("/feed", answer(item("first")))
    mine = (await subscribers.subscribe(alice, url, settings=FeedSettings(block_rules="ads"))).subscription
    await subscribers.subscribe(bob, url)

    await any_env.later(HOUR, await subscribers.feed(mine), answer(item("ads one"), item("news"), item("ads two")))

    assert await subscribers.unread_and_counted(alice) == (2, 2)
    assert await subscribers.unread_and_counted(bob) == (4, 4)
    assert sorted(await any_env.titles()) == ["ads one", "ads two", "first", "news"]


async def test_new_entries_get_labels_unless_they_are_blocked(any_env: RefreshEnvironment) -> None:
    subscribers = Subscribers(any_env).with_filters()
    alice, bob = await subscribers.person("alice"), await subscribers.person("bob")
    label = await ensure_label(any_env.db, alice.id, "work")
    url = any_env.web.serve("/feed", answer(item("news"), item("ads")))
    await subscribers.subscribe(bob, url)

    mine = (await subscribers.subscribe(alice, url)).subscription
    await subscribers.settle(alice, mine, label_ids=(label,), block_rules="ads")
    await any_env.later(HOUR, await subscribers.feed(mine), answer(item("late news"), item("late ads")))

    titles = {row["id"]: row["title"] for row in await any_env.rows(entries)}
    assert [titles[row["entry_id"]] for row in await any_env.rows(entry_labels)] == ["late news"]


async def test_full_texts_are_fetched_for_new_entries_that_a_subscriber_does_not_block(
    any_env: RefreshEnvironment,
) -> None:
    subscribers = Subscribers(any_env).with_filters()
    alice = await subscribers.person("alice")
    url = any_env.web.serve("/feed", answer(item("ads"), item("news"), item("nowhere", link=None)))

    await subscribers.subscribe(alice, url, settings=FeedSettings(full_text=True, block_rules="ads"))

    titles = {row["id"]: row["title"] for row in await any_env.rows(entries)}
    assert [titles[row["entry_id"]] for row in await any_env.rows(full_text_tasks)] == ["news"]
