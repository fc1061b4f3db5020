"""Filters of subscribers for new entries: block, label, keep; each for themselves."""

import pytest

from feedmill.errors import BadInput, NotFound
from feedmill.library.entries.labels import ensure_label
from feedmill.library.filters.filter_new_entries import preview_filter_rules
from feedmill.library.filters.rules import BadRule
from feedmill.library.subscriptions import change_subscription as own
from feedmill.model.feed_settings import DEFAULT_FEED_SETTINGS, FeedSettings
from feedmill.model.user import User
from feedmill.store.feeds.merge_feeds import Merge, merge_feeds
from feedmill.store.subscriptions.feed_settings import subscription_settings
from tests.flows.refresh_environment import DAY, HOUR, NOW, RefreshEnvironment, answer, encrypted, item
from tests.library.subscribers import Subscribers


@pytest.fixture
def subscribers(env: RefreshEnvironment) -> Subscribers:
    return Subscribers(env).with_filters()


async def test_rules_given_with_a_new_feed_apply_to_its_first_entries(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User
) -> None:
    url = env.web.serve("/feed", answer(item("ads"), item("news")))

    await subscribers.subscribe(alice, url, settings=FeedSettings(keep_rules="news"))

    assert await subscribers.unread_and_counted(alice) == (1, 1)


async def test_rules_of_a_new_subscriber_apply_to_the_existing_entries(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User, bob: User
) -> None:
    url = env.web.serve("/feed", answer(item("ads"), item("news")))
    await subscribers.subscribe(alice, url)

    await subscribers.subscribe(bob, url, settings=FeedSettings(block_rules="ads"))

    assert await subscribers.unread_and_counted(bob) == (1, 1)
    assert await subscribers.unread_and_counted(alice) == (2, 2)


async def test_a_blocked_entry_does_not_change_the_count_of_a_paused_subscription(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User
) -> None:
    url = env.web.serve("/feed", answer(item("first")))
    mine = (await subscribers.subscribe(alice, url, settings=FeedSettings(block_rules="ads"))).subscription
    await subscribers.change(alice, mine, paused=True)

    await env.later(HOUR, await subscribers.feed(mine), answer(item("ads")))

    assert await subscribers.unread_and_counted(alice) == (1, 1)


async def test_changed_rules_apply_from_the_next_fetch(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User
) -> None:
    mine = (await subscribers.subscribe(alice, env.web.serve("/feed", answer(item("ads"))))).subscription
    await subscribers.settle(alice, mine, block_rules="ads")
    await env.later(HOUR, await subscribers.feed(mine), answer(item("ads again")))
    blocked = await subscribers.unread_and_counted(alice)

    await subscribers.settle(alice, mine, block_rules="")
    await env.later(HOUR, await subscribers.feed(mine), answer(item("ads once more")))

    assert (blocked, await subscribers.unread_and_counted(alice)) == ((1, 1), (2, 2))
    assert not (await subscribers.feed(mine)).has_entry_settings


async def test_another_users_label_cannot_be_used(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User, bob: User
) -> None:
    hers = await ensure_label(env.db, alice.id, "hers")
    mine = (await subscribers.subscribe(bob, env.web.serve("/feed", answer(item("a"))))).subscription

    with pytest.raises(NotFound):
        await subscribers.settle(bob, mine, label_ids=(hers,))
    with pytest.raises(NotFound):
        await subscribers.subscribe(bob, env.web.serve("/b", answer()), settings=FeedSettings(label_ids=(hers,)))

    assert await subscription_settings(env.db, bob.id, mine.id) == DEFAULT_FEED_SETTINGS
    assert await subscription_settings(env.db, alice.id, mine.id) == DEFAULT_FEED_SETTINGS


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"retention_days": 0}, "retention_days"),
        ({"retention_days": 36_501}, "retention_days"),
        ({"keep_selector": "p:hover"}, "keep_selector"),
        ({"drop_selector": ","}, "drop_selector"),
        ({"block_rules": "is:unread"}, "block_rules"),
        ({"keep_rules": "("}, "keep_rules"),
        ({"label_ids": tuple(range(1, 22))}, "label_ids"),
    ],
)
async def test_an_invalid_setting_is_refused_with_its_field(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User, settings: dict[str, object], field: str
) -> None:
    mine = (await subscribers.subscribe(alice, env.web.serve("/feed", answer(item("a"))))).subscription

    with pytest.raises(BadInput) as refused:
        await subscribers.settle(alice, mine, **settings)

    assert refused.value.field == field


async def test_a_preview_reports_what_each_rule_would_have_done(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User
) -> None:
    feed = answer(item("ads", date=NOW - DAY), item("news", date=NOW - HOUR))
    mine = (await subscribers.subscribe(alice, env.web.serve("/feed", feed))).subscription

    found = await preview_filter_rules(env.db, mine, "glaze\nads", "")

    assert [(each.entry.title, each.verdict.is_blocked, each.verdict.line) for each in found] == [
        ("news", False, ""),
        ("ads", True, "ads"),
    ]
    with pytest.raises(BadRule):
        await preview_filter_rules(env.db, mine, "(", "")


async def test_a_preview_covers_the_last_fifty_entries(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User
) -> None:
    many = [item(f"n{number}") for number in range(60)]
    mine = (await subscribers.subscribe(alice, env.web.serve("/feed", answer(*many)))).subscription

    assert len(await preview_filter_rules(env.db, mine, "", "")) == 50


async def test_settings_move_with_the_subscription(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User
) -> None:
    wish = FeedSettings(block_rules="ads")
    mine = (await subscribers.subscribe(alice, env.web.serve("/a", answer(item("a"))), settings=wish)).subscription
    old = await subscribers.feed(mine)

    moved = await own.change_login(env.db, alice.id, mine.id, encrypted('{"cookie":"x"}'), env.now)

    assert (await env.feed(old)).has_entry_settings is False
    assert (await subscribers.feed(moved)).has_entry_settings is True


async def test_settings_move_with_the_subscriber_to_the_merged_feed(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User, bob: User
) -> None:
    wish = FeedSettings(block_rules="ads")
    mine = (await subscribers.subscribe(alice, env.web.serve("/a", answer(item("a"))), settings=wish)).subscription
    other = (await subscribers.subscribe(bob, env.web.serve("/b", answer(item("b"))))).subscription

    await merge_feeds(env.db, Merge(mine.feed_id, mine.url, other.feed_id, other.url), env.now)

    assert (await subscribers.feed(other)).has_entry_settings is True


async def test_unsubscribing_removes_the_settings(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User, bob: User
) -> None:
    url = env.web.serve("/feed", answer(item("a")))
    mine = (await subscribers.subscribe(alice, url, settings=FeedSettings(retention_days=3))).subscription
    await subscribers.subscribe(bob, url)

    await subscribers.leave(alice, mine)

    assert (await subscribers.feed(mine)).has_entry_settings is False
