"""WebSub from the subscription to the push: the same entries as by fetching, and fewer fetches."""

import asyncio
from datetime import timedelta

import pytest

from feedmill.collect.hub_links import YOUTUBE_TOPIC
from feedmill.library.entries.unread_counts import unread_counts_of_user
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Step
from feedmill.store.feeds.fetch_log import latest_fetches
from feedmill.store.schema import entries, hub_pushes, hub_subscriptions, raw_bodies
from tests.scripted_web import Answer
from tests.websub.hub import ALGORITHMS
from tests.websub.pushed_site import PushedSite

DAY, HOUR = timedelta(days=1), timedelta(hours=1)


async def test_a_feed_that_names_a_hub_is_subscribed_and_what_is_pushed_is_unread(pushed: PushedSite) -> None:
    confirmed = await pushed.subscribe()
    fetches = len(pushed.site.web.seen("/feed"))

    await pushed.publish("new", "old")

    [line, *_] = await latest_fetches(pushed.site.app.db, pushed.feed.id, 5)
    assert len(confirmed.secret) == 43
    assert confirmed.callback.startswith(f"{pushed.origin}/websub/")
    assert await pushed.titles() == ["old", "new"]
    assert (await unread_counts_of_user(pushed.site.app.db, pushed.alice.id)).unread == 2
    assert (line.outcome, line.http_status, line.new_entries) == ("pushed", None, 1)
    assert [row["new_entries"] for row in await pushed.rows(raw_bodies)] == [1, 1]
    assert len(pushed.site.web.seen("/feed")) == fetches


async def test_polling_goes_down_to_once_a_day_only_when_pushes_come(pushed: PushedSite) -> None:
    await pushed.subscribe()
    confirmed = await pushed.stored()

    await pushed.publish("new", "old")
    after_push = await pushed.stored()
    pushed.later(DAY)
    await pushed.fetch()
    after_poll = await pushed.stored()

    assert confirmed.next_fetch_at is not None
    assert confirmed.next_fetch_at - pushed.now < -20 * HOUR
    for feed, at in ((after_push, pushed.now - DAY), (after_poll, pushed.now)):
        assert feed.next_fetch_at is not None
        assert 0.89 * DAY < feed.next_fetch_at - at <= DAY
        assert str(feed.next_fetch_why) == "once a day, because the hub 127.0.0.1 pushes what is new"


async def test_when_a_fetch_finds_what_was_not_pushed_polling_comes_back_and_says_why(pushed: PushedSite) -> None:
    await pushed.subscribe()
    await pushed.publish("new", "old")
    pushed.later(DAY)
    pushed.serve("missed", "new", "old")

    await pushed.fetch()
    polled = await pushed.stored()
    await pushed.publish("newer", "missed", "new", "old")
    pushed_again = await pushed.stored()

    assert polled.next_fetch_at is not None
    assert polled.next_fetch_at - pushed.now <= 3 * HOUR
    assert str(polled.next_fetch_why).endswith("; a hub did not push what was new")
    assert polled.pushed_until is None
    assert pushed_again.pushed_until is not None


async def test_a_push_may_leave_out_what_was_pushed_before_and_changes_nothing_else(pushed: PushedSite) -> None:
    await pushed.subscribe()
    await pushed.change(etag='"e1"', last_modified="Wed, 18 Feb 2026 08:30:00 GMT")
    before = await pushed.stored()

    await pushed.publish("new")

    after = await pushed.stored()
    assert [row["in_feed"] for row in await pushed.rows(entries)] == [1, 1]
    assert (after.etag, after.last_modified, after.body_sha256) == (
        before.etag,
        before.last_modified,
        before.body_sha256,
    )
    assert (after.title, after.site_url, after.usual_gap) == (before.title, before.site_url, before.usual_gap)
    assert after.entry_count == before.entry_count + 1


async def test_a_push_that_is_no_feed_makes_the_feed_be_fetched(pushed: PushedSite) -> None:
    await pushed.subscribe()
    pushed.serve("new", "old")
    fetches = len(pushed.site.web.seen("/feed"))

    await asyncio.to_thread(pushed.hub.publish, pushed.topic, b"<html>news!</html>", "text/html")
    await pushed.until_used()

    assert len(pushed.site.web.seen("/feed")) == fetches + 1
    assert await pushed.titles() == ["old", "new"]
    assert (await pushed.stored()).pushed_until is not None


async def test_pushes_of_youtube_only_tell_that_there_is_news(pushed: PushedSite) -> None:
    """They have another title, no texts and only what changed."""
    topic = f"{YOUTUBE_TOPIC}UC123"
    await pushed.change(topic_url=topic, url=pushed.topic)
    await pushed.ask_hubs()
    subscriber = await asyncio.to_thread(pushed.hub.subscriber, topic)
    pushed.serve("new", "old")

    await asyncio.to_thread(pushed.hub.push, subscriber, pushed.body("thin"))
    await pushed.until_used()

    assert await pushed.titles() == ["old", "new"]
    await pushed.until_polled_daily()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
async def test_every_algorithm_of_the_recommendation_is_understood(pushed: PushedSite, algorithm: str) -> None:
    subscriber = await pushed.subscribe()

    await asyncio.to_thread(pushed.hub.push, subscriber, pushed.body("new"), algorithm=algorithm)
    await pushed.until_used()

    assert await pushed.titles() == ["old", "new"]


async def test_a_push_waits_while_the_feed_is_being_refreshed(pushed: PushedSite) -> None:
    subscriber = await pushed.subscribe()
    await pushed.change(claim_token="other", claimed_until=to_iso(pushed.now + HOUR))

    await asyncio.to_thread(pushed.hub.push, subscriber, pushed.body("new", "old"))
    await pushed.until_postponed()
    await pushed.change(claim_token=None, claimed_until=None)
    pushed.later(timedelta(seconds=2))
    used = await pushed.site.app.push_user.use()

    assert used == 1
    assert await pushed.titles() == ["old", "new"]


async def test_a_push_whose_process_died_is_used_when_its_lease_ends_and_once_only(pushed: PushedSite) -> None:
    subscriber = await pushed.subscribe()
    await pushed.change(claim_token="other", claimed_until=to_iso(pushed.now + HOUR))
    await asyncio.to_thread(pushed.hub.push, subscriber, pushed.body("new", "old"))
    await pushed.until_postponed()
    # As a process that was killed leaves it: the push is leased, the feed is claimed.
    lease = {"claim_token": "dead", "next_attempt_at": to_iso(pushed.now + timedelta(minutes=3))}
    await pushed.site.app.db.batch([Step(hub_pushes.update().values(lease))])
    too_early = await pushed.site.app.push_user.use()
    pushed.later(2 * HOUR)

    used = [await pushed.site.app.push_user.use() for _ in range(3)]

    assert (too_early, used) == (0, [1, 0, 0])
    assert await pushed.titles() == ["old", "new"]
    assert [line.outcome for line in await latest_fetches(pushed.site.app.db, pushed.feed.id, 5)] == [
        "pushed",
        "updated",
    ]


async def test_a_body_that_the_object_store_lost_makes_the_feed_be_fetched(pushed: PushedSite) -> None:
    subscriber = await pushed.subscribe()
    await pushed.change(claim_token="other", claimed_until=to_iso(pushed.now + HOUR))
    await asyncio.to_thread(pushed.hub.push, subscriber, pushed.body("pushed"))
    await pushed.until_postponed()
    [push] = await pushed.rows(hub_pushes)
    await pushed.site.app.blobs.delete_many([push["object_key"]])
    pushed.serve("fetched", "old")
    pushed.later(2 * HOUR)

    await pushed.site.app.push_user.use()

    assert await pushed.titles() == ["old", "fetched"]


async def test_hubs_in_headers_count_before_those_of_the_document(pushed: PushedSite) -> None:
    other = pushed.site.web.url("/feed?canonical")
    link = f'<{pushed.hub.url}?by=header>; rel="hub", <{other}>; rel="self"'
    pushed.site.web.serve("/feed", Answer(pushed.body("new", "old"), headers={"Link": link}))

    await pushed.fetch()

    feed = await pushed.stored()
    assert (feed.hub_url, feed.topic_url) == (f"{pushed.hub.url}?by=header", other)


async def test_nothing_is_asked_of_hubs_twice_at_once(pushed: PushedSite) -> None:
    pushed.hub.verifies = False

    asked = [await pushed.ask_hubs() for _ in range(3)]

    assert asked == [1, 0, 0]
    assert len(await pushed.rows(hub_subscriptions)) == 1
