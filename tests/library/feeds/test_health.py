"""The health of a feed, and which feeds need attention."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from feedmill.errors import NotFound
from feedmill.library.feeds.health import (
    FeedHealth,
    fetch_log_page,
    force_full_fetch,
    health_report,
    read_feed_health,
)
from feedmill.library.feeds.health_overview import HealthOverview, duplicates, health_overview
from feedmill.model.subscription import Subscription
from feedmill.model.timestamps import to_iso
from feedmill.model.user import User
from feedmill.store.schema import feeds, fetch_log
from tests.flows.refresh_environment import DAY, HOUR, NOW, RefreshEnvironment, answer, item
from tests.library.subscribers import Subscribers
from tests.scripted_web import Answer

LOGIN = msgspec.json.encode({"basic_auth": ("alice", "open sesame")}).decode()


async def subscribed(subscribers: Subscribers, user: User, path: str = "/feed", **more: Any) -> Subscription:
    """Subscribes to a feed with two items, fetched once."""
    dated = [item(f"{path}-{age}", date=subscribers.env.now - age * HOUR) for age in (1, 49)]
    url = subscribers.env.web.serve(path, answer(*dated, headers={"ETag": '"1"'}, title=path))
    return (await subscribers.subscribe(user, url, **more)).subscription


async def health_of(subscribers: Subscribers, user: User, mine: Subscription) -> FeedHealth:
    return await read_feed_health(subscribers.env.db, user.id, mine.id, subscribers.env.now)


async def look(subscribers: Subscribers, user: User) -> HealthOverview:
    return await health_overview(subscribers.env.db, user.id, subscribers.env.now)


async def log(env: RefreshEnvironment, feed_id: int, age: timedelta, **values: Any) -> None:
    line = {"outcome": "updated", "bytes": 1000, "ms": 100, "new_entries": 0, "revised_entries": 0} | values
    await env.put(fetch_log, feed_id=feed_id, at=to_iso(env.now - age), **line)


# --- one feed ---------------------------------------------------------------------------------------------


async def test_the_fetch_log_is_read_page_by_page_on_every_database(any_env: RefreshEnvironment) -> None:
    subscribers = Subscribers(any_env)
    alice, bob = await subscribers.person("alice"), await subscribers.person("bob")
    mine = await subscribed(subscribers, alice)
    for status in (500, 404, 410):
        await log(any_env, mine.feed_id, HOUR, outcome="http", http_status=status)

    first = await fetch_log_page(any_env.db, alice.id, mine.id, None, 2)
    rest = await fetch_log_page(any_env.db, alice.id, mine.id, first[-1][0], 9)

    assert [line.http_status for _, line in [*first, *rest]] == [200, 410, 404, 500]
    with pytest.raises(NotFound):
        await fetch_log_page(any_env.db, bob.id, mine.id, None, 9)


async def test_fetches_raw_bodies_and_entries_are_reported_on_every_database(any_env: RefreshEnvironment) -> None:
    subscribers = Subscribers(any_env)
    alice = await subscribers.person("alice")
    mine = await subscribed(subscribers, alice)
    any_env.web.serve("/feed", Answer(b"", 304))
    any_env.now += HOUR
    await subscribers.refresh(mine)
    any_env.web.serve("/feed", Answer(b"<html>sorry</html>"))
    any_env.now += HOUR
    await subscribers.refresh(mine)

    health = await health_of(subscribers, alice, mine)

    assert [fetch.outcome for fetch in health.fetches] == ["not_a_feed", "not_modified", "updated"]
    assert health.share_not_modified == 0.5
    assert (health.fetched, health.bytes) == (3, sum(fetch.bytes for fetch in health.fetches))
    assert health.hours == {
        NOW.replace(minute=0) - HOUR: 1,
        NOW.replace(minute=0) - 49 * HOUR: 1,
    }
    assert [(kept.entry_count, kept.is_feed) for kept in health.raw_bodies] == [(0, False), (2, True)]
    [error] = health.errors
    assert (error.kind, error.count, error.by_day) == ("not_a_feed", 1, {"2026-02-18": 1})
    assert any("failed" in str(sentence) for sentence in health.sentences)


async def test_old_events_do_not_count_any_more(subscribers: Subscribers, alice: User) -> None:
    mine = await subscribed(subscribers, alice)
    await log(subscribers.env, mine.feed_id, 31 * DAY, outcome="dns", message="the host name was not found")
    await log(subscribers.env, mine.feed_id, 29 * DAY, outcome="timeout", message="the server took too long")

    health = await health_of(subscribers, alice, mine)

    assert [error.kind for error in health.errors] == ["timeout"]
    assert health.fetched == 2


async def test_a_feed_that_never_responded_has_a_health_page_too(subscribers: Subscribers, alice: User) -> None:
    url = subscribers.env.web.serve("/feed", Answer(b"no", 404))
    subscribers.env.web.serve("/down", Answer(b"", 500))
    mine = (await subscribers.subscribe(alice, url.replace("/feed", "/down"), anyway=True)).subscription

    health = await health_of(subscribers, alice, mine)

    assert (health.fetches, health.errors, health.raw_bodies, health.published) == ([], [], [], 0)
    assert health.share_not_modified is None


async def test_after_a_full_refetch_the_next_request_has_no_validators(subscribers: Subscribers, alice: User) -> None:
    mine = await subscribed(subscribers, alice)

    await force_full_fetch(subscribers.env.db, alice.id, mine.id)
    subscribers.env.now += HOUR
    await subscribers.refresh(mine)

    asked = [seen.headers.get("if-none-match") for seen in subscribers.env.web.seen("/feed")]
    assert asked[-1] is None
    [feed] = await subscribers.env.rows(feeds)
    assert feed["etag"] == '"1"'


async def test_the_health_of_another_users_feed_is_not_found(subscribers: Subscribers, alice: User, bob: User) -> None:
    mine = await subscribed(subscribers, alice)

    with pytest.raises(NotFound):
        await health_of(subscribers, bob, mine)
    with pytest.raises(NotFound):
        await force_full_fetch(subscribers.env.db, bob.id, mine.id)


async def test_a_report_has_the_facts_and_no_login(subscribers: Subscribers, alice: User) -> None:
    mine = await subscribed(subscribers, alice, http_options=LOGIN)

    text = health_report(await health_of(subscribers, alice, mine), subscribers.env.now)

    assert f"Feed: {mine.url}\n" in text
    assert "updated  HTTP 200" in text
    assert "2 entries  ok" in text
    assert "sesame" not in text
    assert "#user=" not in text


# --- all feeds --------------------------------------------------------------------------------------------


async def test_healthy_feeds_are_not_listed_on_any_database(any_env: RefreshEnvironment) -> None:
    subscribers = Subscribers(any_env)
    alice, bob = await subscribers.person("alice"), await subscribers.person("bob")
    mine = await subscribed(subscribers, alice)
    await subscribers.env.change(await subscribers.feed(await subscribed(subscribers, bob, "/bobs")), status="error")
    await log(any_env, mine.feed_id, HOUR)

    found = await look(subscribers, alice)

    assert (found.total, found.is_well) == (1, True)


async def test_broken_feeds_are_listed_worst_first(subscribers: Subscribers, alice: User) -> None:
    names = {"/failing": 2, "/worse": 5, "/broken": 10}
    for path, failures in names.items():
        feed = await subscribers.feed(await subscribed(subscribers, alice, path))
        await subscribers.env.change(feed, consecutive_failures=failures, status="error" if failures > 9 else "active")

    assert [feed.title for feed in (await look(subscribers, alice)).broken] == ["/broken", "/worse", "/failing"]


@pytest.mark.parametrize(
    ("rhythm", "silent", "is_idle"),
    [
        (DAY, 6 * DAY, False),
        (DAY, 8 * DAY, True),
        (HOUR, 5 * HOUR, False),
        (10 * DAY, 29 * DAY, False),
        (10 * DAY, 31 * DAY, True),
        (None, 80 * DAY, False),
        (None, 91 * DAY, True),
    ],
)
async def test_a_feed_is_idle_after_three_times_its_usual_gap(
    subscribers: Subscribers, alice: User, rhythm: timedelta | None, silent: timedelta, is_idle: bool
) -> None:
    feed = await subscribers.feed(await subscribed(subscribers, alice))
    seconds = int(rhythm.total_seconds()) if rhythm else None
    last = to_iso(subscribers.env.now - silent)
    await subscribers.env.change(feed, usual_gap_seconds=seconds, last_entry_at=last)

    idle = (await look(subscribers, alice)).idle

    assert [noted.figure for noted in idle] == ([silent / DAY] if is_idle else [])


async def test_slow_and_heavy_feeds_are_listed_by_their_recent_fetches(
    subscribers: Subscribers, alice: User, bob: User
) -> None:
    slow, heavy, once = [await subscribed(subscribers, alice, path) for path in ("/slow", "/heavy", "/once")]
    await subscribers.subscribe(bob, heavy.url)
    for hours in range(1, 5):
        await log(subscribers.env, slow.feed_id, hours * HOUR, ms=9000)
        await log(subscribers.env, heavy.feed_id, hours * HOUR, bytes=2_000_000)
    await log(subscribers.env, once.feed_id, 3 * DAY, ms=60_000, bytes=15_000_000)

    found = await look(subscribers, alice)

    assert [noted.feed.title for noted in found.slow] == ["/slow"]
    assert [noted.feed.title for noted in found.heavy] == ["/heavy"]
    assert found.heavy[0].figure == pytest.approx(8_000_000 * 15, rel=0.01)


async def test_duplicate_feeds_are_listed_together(subscribers: Subscribers, alice: User) -> None:
    mine = await subscribed(subscribers, alice)
    fields = msgspec.structs.asdict(mine)

    def other(id: int, **changes: Any) -> Subscription:
        return Subscription(**fields | {"id": id, "site_url": None} | changes)

    first = other(1, url="https://www.example.org/feed/")
    second = other(2, url="http://example.org/feed")
    apart = other(3, url="https://example.org/feed?page=2")
    one = other(4, url="https://a.org/rss", site_url="https://a.org", feed_title="News")
    two = other(5, url="https://a.org/atom", site_url="http://www.a.org/", feed_title="news")

    assert duplicates([first, second, apart, one, two]) == [[first, second], [one, two]]
