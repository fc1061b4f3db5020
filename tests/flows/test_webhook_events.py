"""Webhook events that a refresh queues in its own batch: new entries, a failing feed, a recovered feed."""

from dataclasses import replace

import pytest
from sqlalchemy import select

from feedmill.collect.refresh import RefreshWriters, refresh_feed
from feedmill.library.outbound_tools import OutboundTools
from feedmill.library.webhooks.service import Webhooks
from feedmill.model.feed import ERROR_AFTER, Feed
from feedmill.model.webhook import WebhookEvent
from feedmill.store.feeds.record_refresh import ClaimLost
from feedmill.store.schema import deliveries
from tests.flows.refresh_environment import DAY, HOUR, RefreshEnvironment, answer, item
from tests.scripted_web import Answer

EVENTS = select(deliveries.c.event).order_by(deliveries.c.id)
BROKEN = Answer(status=404)


async def _listening(env: RefreshEnvironment) -> Feed:
    """A feed of Alice's, who has a webhook for everything."""
    told = Webhooks(OutboundTools(env.db, env.client, lambda: env.now))
    env.tools = replace(env.tools, writers=RefreshWriters(webhooks=told.webhook_writes))
    feed = await env.add(served=answer(item("1")))
    alice = await env.user("alice", 1)
    await env.subscribe(alice, feed)
    await told.create(
        alice,
        "https://alice.example/hook",
        [WebhookEvent.NEW_ENTRIES, WebhookEvent.FEED_FAILING, WebhookEvent.FEED_HEALED],
    )
    return feed


async def _events(env: RefreshEnvironment) -> list[str]:
    return [row["event"] for row in await env.db.query(EVENTS)]


async def test_new_entries_queue_one_event_and_known_ones_none(env: RefreshEnvironment) -> None:
    feed = await _listening(env)

    await env.refresh(feed)
    await env.later(HOUR, feed)
    await env.later(HOUR, feed, answer(item("1"), item("2")))

    assert await _events(env) == ["entries.new", "entries.new"]


async def test_a_feed_that_fails_and_recovers_queues_one_event_each(env: RefreshEnvironment) -> None:
    feed = await _listening(env)
    for _ in range(ERROR_AFTER + 2):
        await env.later(DAY, feed, BROKEN)
    broken = await _events(env)

    await env.later(DAY, feed, answer(item("1")))
    await env.later(DAY, feed)

    assert broken == ["feed.failing"]
    assert await _events(env) == ["feed.failing", "feed.healed", "entries.new"]


async def test_a_feed_that_is_gone_for_good_queues_an_event(env: RefreshEnvironment) -> None:
    feed = await _listening(env)
    for _ in range(3):
        await env.later(DAY, feed, Answer(status=410))

    assert await _events(env) == ["feed.failing"]


async def test_a_worker_that_lost_its_claim_queues_no_event(env: RefreshEnvironment) -> None:
    feed = await _listening(env)
    lost = await env.claim(feed)
    env.now += HOUR
    await env.claim(feed)

    with pytest.raises(ClaimLost):
        await refresh_feed(env.tools, lost)

    assert await _events(env) == []
