"""A hub is a stranger: pushes that are slow, many, huge, deadly or no longer wanted cost little and change nothing."""

import asyncio
import socket
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from structlog.testing import capture_logs

from feedmill.library.hubs.push_turns import PushTurns
from feedmill.library.hubs.use_pushes import MAX_ATTEMPTS
from feedmill.model.timestamps import from_iso, to_iso
from feedmill.store.database import Step
from feedmill.store.schema import hub_pushes, hub_subscriptions
from tests.websub.hub import Subscriber
from tests.websub.pushed_site import PushedSite

HOUR = timedelta(hours=1)


async def test_few_bodies_are_read_at_once_and_one_of_each_subscription() -> None:
    turns, reading, most = PushTurns(at_once=3), [], []

    async def read(subscription_id: int) -> None:
        async with turns.turn(subscription_id):
            reading.append(subscription_id)
            most.append(len(reading))
            assert len(set(reading)) == len(reading)
            # The others go on until they have to wait.
            for _ in range(20):
                await asyncio.sleep(0)
            reading.remove(subscription_id)

    await asyncio.gather(*(read(number // 6) for number in range(30)))

    assert max(most) == 3


async def test_a_turn_ends_with_the_push_that_failed() -> None:
    turns = PushTurns(at_once=1)

    with pytest.raises(ValueError, match="broken"):
        async with turns.turn(1):
            raise ValueError("broken")

    async with asyncio.timeout(60), turns.turn(1):
        pass


async def test_a_push_that_takes_too_long_is_cut_off(pushed: PushedSite, monkeypatch: pytest.MonkeyPatch) -> None:
    subscriber = await pushed.subscribe()
    monkeypatch.setattr("feedmill.serve.http.hub_callbacks.READ_SECONDS", 0.05)

    answer = await asyncio.to_thread(_begin_push, subscriber)

    assert answer.startswith(b"HTTP/1.1 408 ")
    monkeypatch.undo()
    await pushed.publish("new", "old")
    assert await pushed.titles() == ["old", "new"]


async def test_a_hub_that_hangs_up_does_not_stop_later_pushes(pushed: PushedSite) -> None:
    subscriber = await pushed.subscribe()

    for _ in range(8):
        await asyncio.to_thread(_begin_push, subscriber, hangs_up=True)
    await pushed.publish("new", "old")

    assert await pushed.titles() == ["old", "new"]


async def test_pushes_cannot_fill_the_object_store(pushed: PushedSite, monkeypatch: pytest.MonkeyPatch) -> None:
    bodies = [pushed.body(f"new {number}") for number in range(4)]
    monkeypatch.setattr("feedmill.library.hubs.receive_push.MAX_BYTES_PER_DAY", 2 * len(bodies[0]))
    subscriber = await pushed.subscribe()

    today = [await asyncio.to_thread(pushed.hub.push, subscriber, body) for body in bodies[:3]]
    pushed.later(25 * HOUR)
    tomorrow = await asyncio.to_thread(pushed.hub.push, subscriber, bodies[3])

    assert [reply.status for reply in (*today, tomorrow)] == [202, 202, 429, 202]
    await pushed.until_used()


async def test_a_push_does_not_wake_a_feed_at_rest(pushed: PushedSite) -> None:
    """It has no readers, was disabled, or was merged into another feed; the hub has not been told yet."""
    subscriber = await pushed.subscribe()
    await pushed.change(next_fetch_at=None)

    await asyncio.to_thread(pushed.hub.push, subscriber, pushed.body("new", "old"))
    await pushed.until_used()
    feed = await pushed.stored()

    assert (feed.next_fetch_at, feed.claimed_until) == (None, None)
    assert await pushed.titles() == ["old"]


async def test_a_push_with_which_processes_died_is_given_up(pushed: PushedSite) -> None:
    subscriber = await pushed.subscribe()
    await pushed.change(claim_token="other", claimed_until=to_iso(pushed.now + HOUR))
    await asyncio.to_thread(pushed.hub.push, subscriber, pushed.body("deadly"))
    await pushed.until_postponed()
    await pushed.change(claim_token=None, claimed_until=None)
    pushed.later(timedelta(seconds=2))
    # As processes that were killed leave it.
    await pushed.site.app.db.batch([Step(hub_pushes.update().values(attempts=MAX_ATTEMPTS))])

    with capture_logs() as logged:
        await pushed.site.app.push_user.use()

    feed = await pushed.stored()
    assert [line["event"] for line in logged] == ["push_given_up"]
    assert await pushed.titles() == ["old"]
    assert (feed.next_fetch_at, feed.next_fetch_why.code) == (pushed.now, "schedule.push_given_up")
    assert [row["next_attempt_at"] for row in await pushed.rows(hub_pushes)] == [None]


async def test_a_push_that_waits_for_its_feed_is_not_given_up(pushed: PushedSite) -> None:
    subscriber = await pushed.subscribe()
    await pushed.change(claim_token="other", claimed_until=to_iso(pushed.now + HOUR))
    await asyncio.to_thread(pushed.hub.push, subscriber, pushed.body("new", "old"))
    await pushed.until_postponed()
    for _ in range(2 * MAX_ATTEMPTS):
        pushed.later(timedelta(seconds=2))
        await pushed.site.app.push_user.use()

    await pushed.change(claim_token=None, claimed_until=None)
    pushed.later(timedelta(seconds=2))
    await pushed.site.app.push_user.use()

    assert await pushed.titles() == ["old", "new"]


async def test_the_secret_ends_with_the_lease(pushed: PushedSite) -> None:
    """A push that was recorded could otherwise be sent again when its digest is forgotten."""
    subscriber = await pushed.subscribe()
    pushed.hub.verifies = False
    [row] = await pushed.rows(hub_subscriptions)
    pushed.now = from_iso(row["lease_until"]) + timedelta(minutes=1)
    await pushed.ask_hubs()

    reply = await asyncio.to_thread(pushed.hub.push, subscriber, pushed.body("late", "old"))

    assert reply.status == 202
    assert await pushed.rows(hub_pushes) == []


async def test_the_secret_ends_with_a_denial(pushed: PushedSite) -> None:
    subscriber = await pushed.subscribe()
    await asyncio.to_thread(pushed.hub.deny, pushed.hub.requests[0], "spam")

    await asyncio.to_thread(pushed.hub.push, subscriber, pushed.body("late", "old"))

    assert await pushed.rows(hub_pushes) == []


def _begin_push(to: Subscriber, *, hangs_up: bool = False) -> bytes:
    """Sends the beginning of a push; the first line of the answer, if there is one."""
    target = urlsplit(to.callback)
    head = (
        f"POST {target.path} HTTP/1.1\r\nHost: {target.netloc}\r\n"
        f"X-Hub-Signature: sha256=00\r\nContent-Length: 100000\r\n\r\n"
    )
    with socket.create_connection((target.hostname, target.port), timeout=60) as connection:
        connection.sendall(head.encode() + b"<rss>")
        return b"" if hangs_up else connection.recv(1000)
