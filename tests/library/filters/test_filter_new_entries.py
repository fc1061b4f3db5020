"""What subscribers want done with new entries: blocked, labelled, kept; each for themselves."""

import pytest

from feedmill.errors import BadInput, NotFound
from feedmill.library.entries.labels import ensure_label
from feedmill.library.filters.filter_new_entries import preview_filter_rules
from feedmill.library.filters.rules import BadRule
from feedmill.library.subscriptions import edit as own
from feedmill.model.feed_settings import DEFAULT_FEED_SETTINGS, FeedSettings
from feedmill.model.user import User
from feedmill.store.feeds.merge_feeds import Merge, merge_feeds
from feedmill.store.subscriptions.feed_settings import subscription_settings
from tests.flows.world import DAY, HOUR, NOW, World, answer, encrypted, item
from tests.library.readers import Readers


@pytest.fixture
def readers(world: World) -> Readers:
    return Readers(world).tailored()


async def test_rules_given_with_a_new_feed_hold_for_its_first_entries(
    world: World, readers: Readers, alice: User
) -> None:
    url = world.web.serve("/feed", answer(item("ads"), item("news")))

    await readers.subscribe(alice, url, settings=FeedSettings(keep_rules="news"))

    assert await readers.unread_and_counted(alice) == (1, 1)


async def test_rules_hold_for_what_a_feed_had_before_one_came(
    world: World, readers: Readers, alice: User, bob: User
) -> None:
    url = world.web.serve("/feed", answer(item("ads"), item("news")))
    await readers.subscribe(alice, url)

    await readers.subscribe(bob, url, settings=FeedSettings(block_rules="ads"))

    assert await readers.unread_and_counted(bob) == (1, 1)
    assert await readers.unread_and_counted(alice) == (2, 2)


async def test_who_has_paused_a_feed_is_not_counted_down(world: World, readers: Readers, alice: User) -> None:
    url = world.web.serve("/feed", answer(item("first")))
    mine = (await readers.subscribe(alice, url, settings=FeedSettings(block_rules="ads"))).subscription
    await readers.change(alice, mine, paused=True)

    await world.later(HOUR, await readers.feed(mine), answer(item("ads")))

    assert await readers.unread_and_counted(alice) == (1, 1)


async def test_what_is_changed_holds_from_the_next_fetch_on(world: World, readers: Readers, alice: User) -> None:
    mine = (await readers.subscribe(alice, world.web.serve("/feed", answer(item("ads"))))).subscription
    await readers.settle(alice, mine, block_rules="ads")
    await world.later(HOUR, await readers.feed(mine), answer(item("ads again")))
    blocked = await readers.unread_and_counted(alice)

    await readers.settle(alice, mine, block_rules="")
    await world.later(HOUR, await readers.feed(mine), answer(item("ads once more")))

    assert (blocked, await readers.unread_and_counted(alice)) == ((1, 1), (2, 2))
    assert not (await readers.feed(mine)).tailored


async def test_somebody_elses_label_can_t_be_used(world: World, readers: Readers, alice: User, bob: User) -> None:
    hers = await ensure_label(world.db, alice.id, "hers")
    mine = (await readers.subscribe(bob, world.web.serve("/feed", answer(item("a"))))).subscription

    with pytest.raises(NotFound):
        await readers.settle(bob, mine, label_ids=(hers,))
    with pytest.raises(NotFound):
        await readers.subscribe(bob, world.web.serve("/b", answer()), settings=FeedSettings(label_ids=(hers,)))

    assert await subscription_settings(world.db, bob.id, mine.id) == DEFAULT_FEED_SETTINGS
    assert await subscription_settings(world.db, alice.id, mine.id) == DEFAULT_FEED_SETTINGS


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
async def test_what_makes_no_sense_is_refused_by_its_field(
    world: World, readers: Readers, alice: User, settings: dict[str, object], field: str
) -> None:
    mine = (await readers.subscribe(alice, world.web.serve("/feed", answer(item("a"))))).subscription

    with pytest.raises(BadInput) as refused:
        await readers.settle(alice, mine, **settings)

    assert refused.value.field == field


async def test_a_preview_says_what_each_rule_would_have_done(world: World, readers: Readers, alice: User) -> None:
    feed = answer(item("ads", date=NOW - DAY), item("news", date=NOW - HOUR))
    mine = (await readers.subscribe(alice, world.web.serve("/feed", feed))).subscription

    found = await preview_filter_rules(world.db, mine.feed_id, "glaze\nads", "")

    assert [(each.entry.title, each.verdict.is_blocked, each.verdict.line) for each in found] == [
        ("news", False, ""),
        ("ads", True, "ads"),
    ]
    with pytest.raises(BadRule):
        await preview_filter_rules(world.db, mine.feed_id, "(", "")


async def test_a_preview_ends_after_the_last_fifty(world: World, readers: Readers, alice: User) -> None:
    many = [item(f"n{number}") for number in range(60)]
    mine = (await readers.subscribe(alice, world.web.serve("/feed", answer(*many)))).subscription

    assert len(await preview_filter_rules(world.db, mine.feed_id, "", "")) == 50


async def test_wishes_move_with_the_subscription(world: World, readers: Readers, alice: User) -> None:
    wish = FeedSettings(block_rules="ads")
    mine = (await readers.subscribe(alice, world.web.serve("/a", answer(item("a"))), settings=wish)).subscription
    old = await readers.feed(mine)

    moved = await own.change_login(world.db, alice.id, mine.id, encrypted('{"cookie":"x"}'), world.now)

    assert (await world.feed(old)).tailored is False
    assert (await readers.feed(moved)).tailored is True


async def test_wishes_go_with_the_subscriber_to_the_feed_that_theirs_became(
    world: World, readers: Readers, alice: User, bob: User
) -> None:
    wish = FeedSettings(block_rules="ads")
    mine = (await readers.subscribe(alice, world.web.serve("/a", answer(item("a"))), settings=wish)).subscription
    other = (await readers.subscribe(bob, world.web.serve("/b", answer(item("b"))))).subscription

    await merge_feeds(world.db, Merge(mine.feed_id, mine.url, other.feed_id, other.url), world.now)

    assert (await readers.feed(other)).tailored is True


async def test_who_leaves_takes_their_wishes_along(world: World, readers: Readers, alice: User, bob: User) -> None:
    url = world.web.serve("/feed", answer(item("a")))
    mine = (await readers.subscribe(alice, url, settings=FeedSettings(retention_days=3))).subscription
    await readers.subscribe(bob, url)

    await readers.leave(alice, mine)

    assert (await readers.feed(mine)).tailored is False
