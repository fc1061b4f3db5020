"""Events that a refresh queues for notification targets in its own batch."""

from dataclasses import replace

from sqlalchemy import select

from feedmill.collect.refresh import RefreshWriters
from feedmill.library.notifications.service import make_notifications
from feedmill.library.outbound_tools import OutboundTools
from feedmill.model.feed import ERROR_AFTER, Feed
from feedmill.model.notifications.notification_target import CHOSEN_EVENTS, TargetSettings
from feedmill.outbound.apprise_messages import AppriseSender
from feedmill.store.schema import notifications
from tests.flows.refresh_environment import DAY, RefreshEnvironment, answer, item
from tests.library.services.service_setup import with_key
from tests.scripted_web import Answer

EVENTS = select(notifications.c.event).order_by(notifications.c.id)


async def _notified(env: RefreshEnvironment) -> Feed:
    """A feed of Alice's, who has a target for everything, and of Bob's, who wants nothing."""
    tools = OutboundTools(env.db, env.client, lambda: env.now)
    told = make_notifications(tools, with_key(), AppriseSender())
    env.tools = replace(env.tools, writers=RefreshWriters(notifications=told.notification_writes))
    feed = await env.add(served=answer(item("1")))
    for number, (name, events) in enumerate((("alice", CHOSEN_EVENTS), ("bob", ())), 1):
        user = await env.user(name, number)
        await env.subscribe(user, feed)
        await told.create(user, "ntfys://ntfy.sh/topic", TargetSettings("phone", events))
    return feed


async def test_a_feed_that_breaks_and_heals_queues_one_event_each(env: RefreshEnvironment) -> None:
    feed = await _notified(env)
    for _ in range(ERROR_AFTER + 2):
        await env.later(DAY, feed, Answer(status=404))

    await env.later(DAY, feed, answer(item("1")))
    await env.later(DAY, feed)

    assert [row["event"] for row in await env.db.query(EVENTS)] == ["feed.failing", "feed.healed"]
