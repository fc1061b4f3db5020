"""Failed fetches: retries, back-off, the error status, and failures that are not the feed's fault."""

import asyncio
from datetime import datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from feedmill.collect.refresh import refresh_feed
from feedmill.errors import BlobMissing, BlobUnavailable, DatabaseUnavailable
from feedmill.model.feed import FeedStatus
from feedmill.model.refresh import Failed, Unchanged, Updated
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Step
from feedmill.store.feeds.claims import LEASE, claim_feeds
from feedmill.store.feeds.record_refresh import ClaimLost
from feedmill.store.schema import entries, feeds, fetch_log, raw_bodies
from tests.flows.refresh_environment import DAY, HOUR, MINUTE, NOW, RefreshEnvironment, answer, item
from tests.scripted_web import Answer, ClientConnection, ReceivedRequest
from tests.virtual_time import jump
from tests.waiting import slow_pace


async def hang_up(seen: ReceivedRequest, wire: ClientConnection) -> None:
    wire.reset()


@pytest.mark.parametrize("served", [Answer(status=500), Answer(status=502), hang_up])
async def test_what_may_pass_is_tried_three_times_more_after_2_4_and_8_seconds(
    env: RefreshEnvironment, served: Any
) -> None:
    feed = await env.add("/feed", served)

    decision = await env.refresh(feed)

    assert isinstance(decision, Failed)
    assert env.sleeps == [2.0, 4.0, 8.0]
    assert len(env.web.requests) == 4
    assert (await env.feed(feed)).consecutive_failures == 1


async def test_a_quick_try_that_works_is_a_success(env: RefreshEnvironment) -> None:
    answers = [Answer(status=500), answer(item("a"))]
    feed = await env.add("/feed", lambda seen: answers.pop(0))

    decision = await env.refresh(feed)

    assert isinstance(decision, Updated)
    assert env.sleeps == [2.0]
    assert (await env.feed(feed)).consecutive_failures == 0


@pytest.mark.parametrize(
    "served",
    [*(Answer(status=status) for status in (400, 401, 403, 404, 410, 429, 451, 503)), Answer(b"no feed"), Answer(b"")],
)
async def test_what_will_not_pass_by_itself_is_not_tried_again_at_once(env: RefreshEnvironment, served: Any) -> None:
    feed = await env.add("/feed", served)

    decision = await env.refresh(feed)

    assert isinstance(decision, Failed)
    assert env.sleeps == []
    assert len(env.web.requests) == 1


async def test_the_back_off_doubles_from_half_an_hour_to_a_day_and_success_resets_it(env: RefreshEnvironment) -> None:
    env.jitter = 0.5
    feed = await env.add("/feed", Answer(status=404))

    waits = [await _wait(env, feed) for _ in range(9)]
    env.web.serve("/feed", answer(item("a")))
    await env.refresh(feed)
    env.web.serve("/feed", Answer(status=404))
    again = await _wait(env, feed)

    assert [wait / MINUTE for wait in waits] == [30, 60, 120, 240, 480, 960, 1440, 1440, 1440]
    assert again == 30 * MINUTE


async def test_a_failure_moves_the_time_of_the_fetch_and_leaves_that_of_the_last_success(
    env: RefreshEnvironment,
) -> None:
    feed = await env.add("/feed", answer(item("a")))
    await env.refresh(feed)

    await env.later(HOUR, feed, Answer(status=404))

    after = await env.feed(feed)
    assert (after.last_fetched_at, after.last_success_at) == (NOW + HOUR, NOW)
    assert (str(after.last_error), after.consecutive_failures) == ("HTTP 404", 1)


async def test_trying_again_by_hand_does_not_lengthen_the_back_off(env: RefreshEnvironment) -> None:
    env.jitter = 0.5
    feed = await env.add("/feed", Answer(status=404))
    await env.refresh(feed)

    for answered in (404, 500, 429, 404, 404):
        await env.later(MINUTE, feed, Answer(status=answered))

    tried = await env.feed(feed)
    assert (tried.consecutive_failures, tried.next_fetch_at) == (1, NOW + 30 * MINUTE)
    assert tried.last_fetched_at == NOW + 5 * MINUTE
    await env.later(25 * MINUTE, feed)
    assert (await env.feed(feed)).next_fetch_at == NOW + 90 * MINUTE


async def test_a_server_that_asks_to_wait_is_heard_in_a_try_by_hand_too(env: RefreshEnvironment) -> None:
    feed = await env.add("/feed", Answer(status=404))
    await env.refresh(feed)

    await env.later(MINUTE, feed, Answer(status=429, headers={"Retry-After": "7200"}))

    asked = (await env.feed(feed)).next_fetch_at
    assert asked is not None
    assert asked - NOW >= 2 * HOUR


async def test_a_feed_that_is_gone_is_probed_when_planned_whoever_tries_in_between(env: RefreshEnvironment) -> None:
    feed = await env.add("/feed", Answer(status=410))
    await env.refresh(feed)

    await env.later(10 * HOUR, feed)

    assert (await env.feed(feed)).next_fetch_at == NOW + DAY


async def test_ten_failures_are_an_error_that_is_logged_once_and_ends_with_a_success(
    env: RefreshEnvironment, logged: list[Any]
) -> None:
    env.jitter = 0.5
    feed = await env.add("/feed", Answer(status=404))

    for _ in range(9):
        await _wait(env, feed)
    assert (await env.feed(feed)).status is FeedStatus.ACTIVE
    tenth = await _wait(env, feed)
    failing = await env.feed(feed)
    await _wait(env, feed)

    loud = [line for line in logged if line["log_level"] == "error"]
    assert [(line["event"], line["feed_url"], line["failures"], line["reason"]) for line in loud] == [
        ("feed_failing", feed.url, 10, "HTTP 404")
    ]
    assert (failing.status, tenth) == (FeedStatus.ERROR, DAY)
    assert str(failing.next_fetch_why).startswith("retried once a day, because it failed 10 times in a row")

    await env.later(DAY, feed, answer(item("a")))
    healed = await env.feed(feed)
    assert (healed.status, healed.consecutive_failures, healed.last_error) == (FeedStatus.ACTIVE, 0, None)


async def test_410_once_is_a_failure_and_again_a_day_later_disables(env: RefreshEnvironment, logged: list[Any]) -> None:
    feed = await env.add("/feed", Answer(status=410))

    await env.refresh(feed)
    once = await env.feed(feed)
    await env.later(HOUR, feed)
    soon = await env.feed(feed)
    await env.later(DAY, feed)
    twice = await env.feed(feed)

    assert (once.status, once.next_fetch_at, once.gone_since) == (FeedStatus.ACTIVE, NOW + DAY, NOW)
    assert soon.status is FeedStatus.ACTIVE
    assert (twice.status, twice.next_fetch_at) == (FeedStatus.DISABLED, None)
    loud = [(line["event"], line["feed_url"]) for line in logged if line["log_level"] == "error"]
    assert loud == [("feed_disabled", feed.url)]


async def test_410_that_was_a_mistake_does_not_count_later(env: RefreshEnvironment) -> None:
    feed = await env.add("/feed", Answer(status=410))
    await env.refresh(feed)
    await env.later(DAY, feed, answer(item("a")))

    await env.later(DAY, feed, Answer(status=410))

    assert (await env.feed(feed)).status is FeedStatus.ACTIVE


async def test_a_feed_that_was_gone_and_is_back_heals_when_a_person_asks(env: RefreshEnvironment) -> None:
    feed = await env.add("/feed", Answer(status=410))
    for length in (MINUTE, DAY, DAY):
        await env.later(length, feed)
    await env.later(DAY, feed, Answer(status=404))
    assert (await env.feed(feed)).next_fetch_at is None

    await env.later(DAY, feed, answer(item("a")))

    after = await env.feed(feed)
    assert after.status is FeedStatus.ACTIVE
    assert after.next_fetch_at is not None


@pytest.mark.parametrize("served", [answer(item("a")), Answer(status=404), Answer(status=304)])
async def test_what_a_person_switched_off_stays_off_whatever_a_refresh_brings(
    env: RefreshEnvironment, served: Answer
) -> None:
    feed = await env.add("/feed", served)
    claim = await env.claim(feed)
    off = {"status": "disabled", "next_fetch_at": None, "next_fetch_why": "Alice switched it off"}
    await env.change(feed, consecutive_failures=12, **off)

    await _refresh_with(env, claim)

    after = await env.feed(feed)
    assert (after.status, after.next_fetch_at) == (FeedStatus.DISABLED, None)
    assert str(after.next_fetch_why) == "Alice switched it off"


@pytest.mark.parametrize(
    ("retry_after", "wait"),
    [
        ("120", timedelta(seconds=120)),
        ("7200", 2 * HOUR),
        ("99999999999999999999", timedelta(days=7)),
        ("-5", None),
        ("soon", None),
        ("", None),
    ],
)
@pytest.mark.parametrize("status", [429, 503])
async def test_retry_after_decides_the_next_fetch(
    env: RefreshEnvironment, status: int, retry_after: str, wait: timedelta | None
) -> None:
    env.jitter = 0.5 if wait is None else 0.0
    feed = await env.add("/feed", Answer(status=status, headers={"Retry-After": retry_after}))

    await env.refresh(feed)

    after = await env.feed(feed)
    assert after.next_fetch_at == NOW + (wait or 30 * MINUTE)
    assert str(status) in str(after.next_fetch_why)
    assert after.last_error_kind == "throttled"


async def test_retry_after_may_be_a_date(env: RefreshEnvironment) -> None:
    until = datetime.now(NOW.tzinfo) + 2 * HOUR
    headers = {"Retry-After": format_datetime(until, usegmt=True)}
    feed = await env.add("/feed", Answer(status=429, headers=headers))

    await env.refresh(feed)

    after = await env.feed(feed)
    assert after.next_fetch_at is not None
    assert abs(after.next_fetch_at - NOW - 2 * HOUR) < 5 * MINUTE


async def test_a_server_that_asks_for_seconds_again_and_again_gets_our_own_patience(env: RefreshEnvironment) -> None:
    env.jitter = 0.5
    feed = await env.add("/feed", Answer(status=503, headers={"Retry-After": "1"}))

    waits = [await _wait(env, feed) for _ in range(4)]

    assert waits[0] < timedelta(seconds=2)
    assert [wait / MINUTE for wait in waits[1:]] == [30, 60, 120]


async def test_a_redirect_that_is_not_followed_is_the_feeds_failure(env: RefreshEnvironment) -> None:
    feed = await env.add("/feed", Answer(status=302, headers={"Location": "http://10.0.0.1/secret"}))

    decision = await env.refresh(feed)

    assert isinstance(decision, Failed)
    assert decision.kind == "refused"
    assert env.sleeps == []


async def test_when_our_own_network_is_down_nothing_is_counted(env: RefreshEnvironment) -> None:
    env.web.serve("/feed", hang_up)
    many = [await env.add("/feed", host=f"127.0.1.{number}") for number in range(1, 9)]
    for feed in many:
        await env.change(feed, url=feed.url.replace(str(env.web.port), "9"))

    decisions = [await env.refresh(feed) for feed in many]

    failed = [decision for decision in decisions if isinstance(decision, Failed)]
    assert [decision.counted for decision in failed] == [True] * 4 + [False] * 4
    last = await env.feed(many[-1])
    assert (last.consecutive_failures, last.status) == (0, FeedStatus.ACTIVE)
    assert last.next_fetch_at is not None
    assert last.next_fetch_at - NOW <= 10 * MINUTE
    assert "our own network" in str(last.next_fetch_why)


async def test_a_server_that_never_ends_is_given_up_at_the_soft_limit(env: RefreshEnvironment) -> None:
    async def drip(seen: ReceivedRequest, wire: ClientConnection) -> None:
        await wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
        while True:
            await wire.send(b" ")
            await slow_pace()

    env.soft_limit = timedelta(milliseconds=200)
    env.build_tools()
    feed = await env.add("/feed", drip)

    decision = await env.refresh(feed)

    assert isinstance(decision, Failed)
    assert (decision.kind, decision.counted) == ("timeout", True)
    assert (await env.feed(feed)).last_error_kind == "timeout"


class SlowBlobs:
    """An object store that takes hours."""

    async def put(self, key: str, data: bytes, content_type: str) -> None:
        await self._take_hours()

    async def get(self, key: str) -> bytes:
        await self._take_hours()
        raise BlobMissing(key)

    async def _take_hours(self) -> None:
        jump(HOUR.total_seconds())
        # A limit that is over by now cancels us in one of these rounds.
        for _ in range(5):
            await asyncio.sleep(0)


async def test_a_feed_is_not_blamed_for_our_own_slow_storage(env: RefreshEnvironment) -> None:
    env.blobs = SlowBlobs()  # type: ignore[assignment]
    env.build_tools()
    feed = await env.add("/feed", answer(item("a")))

    assert isinstance(await env.refresh(feed), Updated)


class FailingCall:
    """A store of which one call fails."""

    def __init__(self, real: Any, call: str, error: Exception) -> None:
        self._real, self._call, self._error = real, call, error

    def __getattr__(self, name: str) -> Any:
        return self._fail if name == self._call else getattr(self._real, name)

    async def _fail(self, *args: object, **kw: object) -> None:
        raise self._error


@pytest.mark.parametrize("part", ["blobs", "query", "batch"])
async def test_a_storage_failure_changes_no_row_and_the_next_refresh_stores_every_entry(
    env: RefreshEnvironment, part: str
) -> None:
    feed = await env.add("/feed", answer(item("old")))
    await env.refresh(feed)
    before, log = await env.feed(feed), await env.rows(fetch_log)
    env.web.serve("/feed", answer(item("new"), item("old"), headers={"ETag": '"2"'}))
    env.now += HOUR
    claim = await env.claim(feed)
    real = env.db, env.blobs
    if part == "blobs":
        env.blobs = FailingCall(env.blobs, "put", BlobUnavailable("the disk is full"))  # type: ignore[assignment]
    else:
        env.db = FailingCall(env.db, part, DatabaseUnavailable("the database is away"))  # type: ignore[assignment]
    env.build_tools()

    with pytest.raises((BlobUnavailable, DatabaseUnavailable)):
        await _refresh_with(env, claim)

    env.db, env.blobs = real
    env.build_tools()
    after = await env.feed(feed)
    assert (after.last_fetched_at, after.next_fetch_at) == (before.last_fetched_at, before.next_fetch_at)
    assert (after.etag, after.consecutive_failures, after.last_error) == (before.etag, 0, None)
    assert await env.titles() == ["old"]
    assert await env.rows(fetch_log) == log
    assert len(await env.rows(raw_bodies)) == 1
    await env.later(LEASE, feed)
    assert await env.titles() == ["old", "new"]


async def test_a_worker_that_lost_its_claim_writes_nothing(any_env: RefreshEnvironment) -> None:
    env = any_env
    feed = await env.add("/feed", answer(item("a")))
    lost = await env.claim(feed)
    await claim_feeds(env.db, [feed.id], NOW + LEASE)

    with pytest.raises(ClaimLost):
        await _refresh_with(env, lost)

    assert await env.rows(entries) == []
    assert await env.rows(fetch_log) == []
    assert (await env.feed(feed)).claimed_until == NOW + 2 * LEASE
    assert env.announced == []


async def test_a_feed_that_was_deleted_meanwhile_brings_nothing_back(any_env: RefreshEnvironment) -> None:
    env = any_env
    feed = await env.add("/feed", answer(item("a")))
    claim = await env.claim(feed)
    await env.db.batch([_delete(feed.id)])

    with pytest.raises(ClaimLost):
        await _refresh_with(env, claim)

    assert await env.rows(entries) == []


async def test_a_success_without_news_keeps_the_last_failures_out_of_the_row(env: RefreshEnvironment) -> None:
    feed = await env.add("/feed", answer(item("a")))
    await env.refresh(feed)
    await env.later(HOUR, feed, Answer(status=500))

    decision = await env.later(HOUR, feed, answer(item("a")))

    assert isinstance(decision, Updated | Unchanged)
    after = await env.feed(feed)
    assert (after.last_error, after.last_error_kind, after.gone_since) == (None, None, None)
    assert to_iso(env.now) == to_iso(after.last_success_at or NOW)


async def _wait(env: RefreshEnvironment, feed: Any) -> timedelta:
    """Refreshes; how long until the next time, to which the clock then moves."""
    await env.refresh(feed)
    next_at = (await env.feed(feed)).next_fetch_at
    assert next_at is not None
    wait, env.now = next_at - env.now, next_at
    return wait


async def _refresh_with(env: RefreshEnvironment, claim: Any) -> None:
    await refresh_feed(env.tools, claim)


def _delete(feed_id: int) -> Step:
    return Step(feeds.delete().where(feeds.c.id == feed_id))
