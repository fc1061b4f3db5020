"""What a refresh tells, in its own batch: new entries, a feed that breaks, a feed that heals."""

from dataclasses import replace

import pytest
from sqlalchemy import select

from feedmill.collect.refresh import RefreshWriters, refresh_feed
from feedmill.library.webhooks.delivery import WebhookSender
from feedmill.library.webhooks.service import Webhooks
from feedmill.model.feed import ERROR_AFTER, Feed
from feedmill.model.webhook import WebhookEvent
from feedmill.store.feeds.record_refresh import ClaimLost
from feedmill.store.schema import deliveries
from tests.flows.world import DAY, HOUR, World, answer, item
from tests.www import Answer

EVENTS = select(deliveries.c.event).order_by(deliveries.c.id)
BROKEN = Answer(status=404)


async def _listening(world: World) -> Feed:
    """A feed of Alice's, who has a webhook for everything."""
    told = Webhooks(WebhookSender(world.db, world.client, lambda: world.now))
    world.tools = replace(world.tools, writers=RefreshWriters(webhooks=told.webhook_writes))
    feed = await world.add(served=answer(item("1")))
    alice = await world.user("alice", 1)
    await world.subscribe(alice, feed)
    await told.create(
        alice,
        "https://alice.example/hook",
        [WebhookEvent.NEW_ENTRIES, WebhookEvent.FEED_FAILING, WebhookEvent.FEED_HEALED],
    )
    return feed


async def _events(world: World) -> list[str]:
    return [row["event"] for row in await world.db.query(EVENTS)]


async def test_new_entries_are_told_once_and_old_ones_not_at_all(world: World) -> None:
    feed = await _listening(world)

    await world.refresh(feed)
    await world.later(HOUR, feed)
    await world.later(HOUR, feed, answer(item("1"), item("2")))

    assert await _events(world) == ["entries.new", "entries.new"]


async def test_a_feed_that_breaks_is_told_once_and_so_is_that_it_healed(world: World) -> None:
    feed = await _listening(world)
    for _ in range(ERROR_AFTER + 2):
        await world.later(DAY, feed, BROKEN)
    broken = await _events(world)

    await world.later(DAY, feed, answer(item("1")))
    await world.later(DAY, feed)

    assert broken == ["feed.failing"]
    assert await _events(world) == ["feed.failing", "feed.healed", "entries.new"]


async def test_a_feed_that_is_gone_for_good_is_told(world: World) -> None:
    feed = await _listening(world)
    for _ in range(3):
        await world.later(DAY, feed, Answer(status=410))

    assert await _events(world) == ["feed.failing"]


async def test_a_worker_that_lost_its_claim_tells_nobody(world: World) -> None:
    feed = await _listening(world)
    lost = await world.claim(feed)
    world.now += HOUR
    await world.claim(feed)

    with pytest.raises(ClaimLost):
        await refresh_feed(world.tools, lost)

    assert await _events(world) == []
