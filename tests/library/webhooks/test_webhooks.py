"""Webhooks: delivered at least once, signed, retried, and paused when the receiver is gone."""

import asyncio
import hmac
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from feedmill.errors import BadInput, DatabaseUnavailable, LimitExceeded, NotFound
from feedmill.library.users.limits import MAX_COUNTS
from feedmill.library.webhooks.delivery import delivery_failure
from feedmill.library.webhooks.service import StillPending
from feedmill.model.feed_settings import DEFAULT_FEED_SETTINGS, FeedSettings
from feedmill.model.fetch_outcome import HttpError
from feedmill.model.user import User
from feedmill.model.webhook import MAX_ATTEMPTS, PAUSE_AFTER, DeliveryStatus, WebhookEvent
from feedmill.outbound.address_policy import AddressPolicy
from feedmill.store.database import Database, Step
from feedmill.store.feeds.merge_feeds import Merge, merge_feeds
from feedmill.store.leases import LEASE
from feedmill.store.schema import subscriptions, webhooks
from feedmill.store.subscriptions.feed_settings import steps_to_change_settings
from feedmill.store.webhooks.delivery_queue import WEBHOOK_SUCCEEDED
from tests.library.webhooks.webhook_setup import ALL_EVENTS, MINUTE, NOW, WebhookSetup, open_client
from tests.scripted_web import Answer, ClientConnection, ReceivedRequest, Web
from tests.scripted_web.server import Script
from tests.waiting import slow_pace

OK, BROKEN = Answer(status=200), Answer(status=500)


def silent() -> tuple[Script, asyncio.Event]:
    """A receiver that never responds, and reports when a request waits for it."""
    begun = asyncio.Event()

    async def answer(seen: ReceivedRequest, wire: ClientConnection) -> None:
        begun.set()
        await asyncio.Event().wait()

    return answer, begun


class FailsToRecordSuccess:
    """A database that fails to record the outcome of one webhook."""

    def __init__(self, db: Database, webhook_id: int) -> None:
        self._db, self._webhook_id = db, webhook_id
        self.dialect_name, self.query, self.exec, self.close = db.dialect_name, db.query, db.exec, db.close

    async def batch(self, steps: Sequence[Step]) -> list[int]:
        if steps[0].statement is WEBHOOK_SUCCEEDED and dict(steps[0].params)["webhook"] == self._webhook_id:  # type: ignore[arg-type]
            raise DatabaseUnavailable("away")
        return await self._db.batch(steps)


@pytest.fixture
async def webhook_setup(db: Database) -> AsyncIterator[WebhookSetup]:
    async with Web() as web, open_client() as client:
        yield WebhookSetup(db, client, web)


async def _outcome(webhook_setup: WebhookSetup) -> list[DeliveryStatus]:
    return [delivery.status for delivery in await webhook_setup.outbox()]


async def test_new_entries_are_delivered_with_a_signature_made_with_the_secret(webhook_setup: WebhookSetup) -> None:
    feed = await webhook_setup.feed()
    hook = await webhook_setup.hook(await webhook_setup.reader("alice", feed, title="My feed"), OK)
    await webhook_setup.queue_event(feed, titles=("one", "two"))

    assert await webhook_setup.deliver() == 1

    [told], [seen] = webhook_setup.received(), webhook_setup.web.requests
    assert (told["event"], told["webhook_id"], told["entry_count"]) == ("entries.new", hook.id, 2)
    assert (told["feed"]["title"], {entry["title"] for entry in told["entries"]}) == ("My feed", {"one", "two"})
    assert told["entries"][0]["summary"] == "x"
    signed = seen.headers["x-feedmill-timestamp"].encode() + b"." + seen.body
    proof = hmac.digest(hook.secret.encode(), signed, "sha256").hex()
    assert seen.headers["x-feedmill-signature"] == f"sha256={proof}"
    assert seen.headers["x-feedmill-delivery"] == str(told["delivery_id"])


async def settle(webhook_setup: WebhookSetup, user: User, **settings: object) -> None:
    [row] = await webhook_setup.db.query(subscriptions.select().where(subscriptions.c.user_id == user.id))
    chosen = FeedSettings(**settings)  # type: ignore[arg-type]
    await webhook_setup.db.batch(steps_to_change_settings(user.id, row["id"], DEFAULT_FEED_SETTINGS, chosen))


async def test_blocked_entries_are_not_delivered(webhook_setup: WebhookSetup) -> None:
    feed = await webhook_setup.feed()
    alice = await webhook_setup.reader("alice", feed)
    await webhook_setup.hook(alice, OK)
    await settle(webhook_setup, alice, block_rules="ads")

    await webhook_setup.queue_event(feed, titles=("ads", "news"))
    await webhook_setup.queue_event(feed, titles=("more ads",))
    await webhook_setup.deliver()

    [told] = webhook_setup.received()
    assert (told["entry_count"], [entry["title"] for entry in told["entries"]]) == (1, ["news"])
    assert "settings" not in told["feed"]
    assert await _outcome(webhook_setup) == [DeliveryStatus.DELIVERED, DeliveryStatus.DROPPED]


async def test_a_subscriber_who_turned_webhooks_off_for_a_feed_gets_none_and_others_do(
    webhook_setup: WebhookSetup,
) -> None:
    feed = await webhook_setup.feed()
    alice, bob = await webhook_setup.reader("alice", feed), await webhook_setup.reader("bob", feed)
    await webhook_setup.hook(alice, OK, "/alice")
    await webhook_setup.hook(bob, OK, "/bob")
    await settle(webhook_setup, alice, notify=False, block_rules='"notify":true')
    await settle(webhook_setup, bob, block_rules='"notify":false')

    await webhook_setup.queue_event(feed)
    await webhook_setup.deliver()

    assert [seen.path for seen in webhook_setup.web.requests] == ["/bob"]


async def test_a_delivered_event_is_not_sent_again(webhook_setup: WebhookSetup) -> None:
    feed = await webhook_setup.feed()
    await webhook_setup.hook(await webhook_setup.reader("alice", feed), OK)
    await webhook_setup.queue_event(feed)

    await webhook_setup.deliver()
    webhook_setup.now += LEASE

    assert await webhook_setup.deliver() == 0
    assert await _outcome(webhook_setup) == [DeliveryStatus.DELIVERED]


async def test_only_subscribers_who_want_the_event_get_a_delivery(webhook_setup: WebhookSetup) -> None:
    feed, other = await webhook_setup.feed(), await webhook_setup.feed("https://example.org/other")
    alice = await webhook_setup.reader("alice", feed)
    charlie, dora = await webhook_setup.reader("charlie", other), await webhook_setup.reader("dora", feed, paused=True)
    await webhook_setup.hook(alice, OK, "/alice")
    await webhook_setup.webhooks.create(alice.id, webhook_setup.web.serve("/broken", OK), [WebhookEvent.FEED_FAILING])
    await webhook_setup.hook(charlie, OK, "/charlie")
    await webhook_setup.hook(dora, OK, "/dora")

    await webhook_setup.queue_event(feed)
    await webhook_setup.deliver()

    assert [seen.path for seen in webhook_setup.web.requests] == ["/alice"]


async def test_a_failing_feed_event_has_its_reason(webhook_setup: WebhookSetup) -> None:
    feed = await webhook_setup.feed()
    await webhook_setup.hook(await webhook_setup.reader("alice", feed), OK)
    await webhook_setup.queue_event(feed, WebhookEvent.FEED_FAILING)

    await webhook_setup.deliver()

    [told] = webhook_setup.received()
    assert (told["event"], told["feed"]["id"], "entries" in told) == ("feed.failing", feed.id, False)


async def test_a_delivery_is_retried_after_a_minute_and_then_with_doubling_delays(webhook_setup: WebhookSetup) -> None:
    feed = await webhook_setup.feed()
    await webhook_setup.hook(await webhook_setup.reader("alice", feed), BROKEN)
    await webhook_setup.queue_event(feed)
    pauses = []

    for _ in range(4):
        await webhook_setup.deliver()
        [delivery] = await webhook_setup.outbox()
        assert delivery.next_attempt_at is not None
        pauses.append(delivery.next_attempt_at - webhook_setup.now)
        webhook_setup.now = delivery.next_attempt_at

    assert pauses == [MINUTE, 2 * MINUTE, 4 * MINUTE, 8 * MINUTE]
    assert (delivery.attempts, delivery.http_status) == (4, 500)


def test_the_delay_grows_to_six_hours_and_the_tenth_attempt_is_the_last() -> None:
    answer = HttpError("https://e.org", "https://e.org", 404)

    pauses = [delivery_failure(answer, tries, NOW).again_at for tries in range(1, MAX_ATTEMPTS + 1)]

    assert pauses[8] == NOW + timedelta(minutes=256)
    assert pauses[9] is None


async def test_after_its_last_attempt_a_delivery_is_dead_and_can_be_sent_again_with_its_id(
    webhook_setup: WebhookSetup,
) -> None:
    feed = await webhook_setup.feed()
    alice = await webhook_setup.reader("alice", feed)
    hook = await webhook_setup.hook(alice, BROKEN)
    await webhook_setup.queue_event(feed)
    for _ in range(MAX_ATTEMPTS):
        await webhook_setup.deliver()
        webhook_setup.now += timedelta(hours=6)
    [dead] = await webhook_setup.outbox()

    webhook_setup.web.serve("/hook", OK)
    await webhook_setup.webhooks.redeliver(alice.id, hook.id, dead.id)
    await webhook_setup.deliver()

    assert dead.status is DeliveryStatus.DEAD
    assert webhook_setup.received()[-1]["delivery_id"] == dead.id
    assert await _outcome(webhook_setup) == [DeliveryStatus.DELIVERED]


async def test_a_pending_delivery_cannot_be_sent_again_by_hand(webhook_setup: WebhookSetup) -> None:
    feed = await webhook_setup.feed()
    alice = await webhook_setup.reader("alice", feed)
    hook = await webhook_setup.hook(alice, OK)
    await webhook_setup.queue_event(feed)
    [delivery] = await webhook_setup.outbox()

    with pytest.raises(StillPending):
        await webhook_setup.webhooks.redeliver(alice.id, hook.id, delivery.id)


async def test_two_workers_never_send_the_same_delivery_at_once(webhook_setup: WebhookSetup) -> None:
    feed = await webhook_setup.feed()
    alice = await webhook_setup.reader("alice", feed)
    for number in range(5):
        await webhook_setup.hook(alice, OK, f"/{number}")
    for _ in range(4):
        await webhook_setup.queue_event(feed)

    while sum(await asyncio.gather(*(webhook_setup.deliver() for _ in range(4)))):
        pass

    ids = [seen.headers["x-feedmill-delivery"] for seen in webhook_setup.web.requests]
    assert len(ids) == len(set(ids)) == 20


async def test_two_workers_never_send_to_one_url_at_once(webhook_setup: WebhookSetup) -> None:
    feed = await webhook_setup.feed()
    bob = await webhook_setup.reader("bob", feed)
    at_work, most_at_work = 0, 0

    async def answer(seen: ReceivedRequest, wire: ClientConnection) -> None:
        nonlocal at_work, most_at_work
        at_work += 1
        most_at_work = max(most_at_work, at_work)
        # Long enough for the other workers to send, if they did.
        await slow_pace(0.01)
        at_work -= 1
        await wire.send(OK.encode())

    for _ in range(2):
        await webhook_setup.hook(bob, answer)
    for _ in range(15):
        await webhook_setup.queue_event(feed)

    while sum(await asyncio.gather(*(webhook_setup.deliver() for _ in range(4)))):
        pass

    assert (most_at_work, len(webhook_setup.received())) == (1, 30)


async def test_deliveries_of_a_dead_worker_are_sent_when_its_lease_ends(webhook_setup: WebhookSetup) -> None:
    feed = await webhook_setup.feed()
    await webhook_setup.hook(await webhook_setup.reader("alice", feed), OK)
    await webhook_setup.queue_event(feed)
    silence, asked = silent()
    webhook_setup.web.serve("/hook", silence)
    sending = asyncio.create_task(
        WebhookSetup(webhook_setup.db, webhook_setup.client, webhook_setup.web, webhook_setup.now).deliver()
    )
    await asked.wait()

    assert await webhook_setup.deliver() == 0
    webhook_setup.now += LEASE
    webhook_setup.web.serve("/hook", OK)
    assert await webhook_setup.deliver() == 1

    first, second = webhook_setup.received()
    assert first["delivery_id"] == second["delivery_id"]
    sending.cancel()
    await asyncio.gather(sending, return_exceptions=True)
    assert await _outcome(webhook_setup) == [DeliveryStatus.DELIVERED]


async def test_a_stopped_worker_releases_unsent_deliveries(webhook_setup: WebhookSetup) -> None:
    feed = await webhook_setup.feed()
    silence, asked = silent()
    await webhook_setup.hook(await webhook_setup.reader("alice", feed), silence)
    await webhook_setup.queue_event(feed)
    sending = asyncio.create_task(webhook_setup.deliver())
    await asked.wait()

    sending.cancel()
    await asyncio.gather(sending, return_exceptions=True)
    webhook_setup.web.serve("/hook", OK)

    assert await webhook_setup.deliver() == 1


async def test_a_failing_database_does_not_interrupt_other_deliveries(webhook_setup: WebhookSetup) -> None:
    feed = await webhook_setup.feed()
    alice = await webhook_setup.reader("alice", feed)
    answered = asyncio.Event()

    async def slow(seen: ReceivedRequest, wire: ClientConnection) -> None:
        await answered.wait()
        await wire.send(OK.encode())

    def quick(seen: ReceivedRequest) -> Answer:
        asyncio.get_running_loop().call_later(0.05, answered.set)
        return OK

    first, second = await webhook_setup.hook(alice, quick, "/quick"), await webhook_setup.hook(alice, slow, "/slow")
    await webhook_setup.queue_event(feed)
    webhook_setup.webhooks.tools = replace(
        webhook_setup.webhooks.tools, db=FailsToRecordSuccess(webhook_setup.db, first.id)
    )

    with pytest.raises(DatabaseUnavailable):
        await webhook_setup.deliver()

    assert (await webhook_setup.webhooks.one(alice.id, second.id)).last_success_at == webhook_setup.now
    statuses = {delivery.webhook_id: delivery.status for delivery in await webhook_setup.outbox()}
    assert statuses == {first.id: DeliveryStatus.PENDING, second.id: DeliveryStatus.DELIVERED}


async def test_a_webhook_that_fails_fifty_times_in_a_row_is_paused_with_its_reason(webhook_setup: WebhookSetup) -> None:
    feed = await webhook_setup.feed()
    alice = await webhook_setup.reader("alice", feed)
    hook = await webhook_setup.hook(alice, BROKEN)
    for _ in range(PAUSE_AFTER + 10):
        await webhook_setup.queue_event(feed)

    while await webhook_setup.deliver():
        pass

    paused = await webhook_setup.webhooks.one(alice.id, hook.id)
    assert paused.paused
    assert "paused" in str(paused.last_error)
    assert PAUSE_AFTER <= len(webhook_setup.web.requests) <= PAUSE_AFTER + 10


async def test_a_resumed_webhook_gets_the_waiting_deliveries(webhook_setup: WebhookSetup) -> None:
    feed = await webhook_setup.feed()
    alice = await webhook_setup.reader("alice", feed)
    hook = await webhook_setup.hook(alice, OK)
    await webhook_setup.queue_event(feed)
    await webhook_setup.webhooks.change(alice.id, hook.id, paused=True)
    assert await webhook_setup.deliver() == 0

    again = await webhook_setup.webhooks.change(alice.id, hook.id, paused=False)

    assert await webhook_setup.deliver() == 1
    assert (again.paused, again.consecutive_failures) == (False, 0)


async def test_a_receiver_that_is_down_gets_one_request_and_the_other_deliveries_wait(
    webhook_setup: WebhookSetup,
) -> None:
    feed = await webhook_setup.feed()
    alice = await webhook_setup.reader("alice", feed)
    hook = await webhook_setup.webhooks.create(alice.id, "http://127.0.0.1:9/hook", ALL_EVENTS)
    for _ in range(30):
        await webhook_setup.queue_event(feed)

    await webhook_setup.deliver()

    assert (await webhook_setup.webhooks.one(alice.id, hook.id)).consecutive_failures == 1
    assert await webhook_setup.deliver() == 0
    assert all(delivery.next_attempt_at == webhook_setup.now + MINUTE for delivery in await webhook_setup.outbox())


async def test_a_receiver_that_asked_us_to_wait_is_left_alone(webhook_setup: WebhookSetup) -> None:
    feed = await webhook_setup.feed()
    await webhook_setup.hook(
        await webhook_setup.reader("alice", feed), Answer(status=503, headers={"Retry-After": "3600"})
    )
    await webhook_setup.queue_event(feed)

    await webhook_setup.deliver()

    [delivery] = await webhook_setup.outbox()
    assert delivery.next_attempt_at is not None
    assert delivery.next_attempt_at > webhook_setup.now + timedelta(minutes=30)


async def test_a_receiver_that_answers_410_is_not_called_any_more(webhook_setup: WebhookSetup) -> None:
    feed = await webhook_setup.feed()
    alice = await webhook_setup.reader("alice", feed)
    hook = await webhook_setup.hook(alice, Answer(status=410))
    await webhook_setup.queue_event(feed)

    await webhook_setup.deliver()

    assert (await webhook_setup.webhooks.one(alice.id, hook.id)).paused
    assert await _outcome(webhook_setup) == [DeliveryStatus.DEAD]


async def test_a_success_resets_the_failure_count(webhook_setup: WebhookSetup) -> None:
    feed = await webhook_setup.feed()
    alice = await webhook_setup.reader("alice", feed)
    hook = await webhook_setup.hook(alice, BROKEN)
    await webhook_setup.queue_event(feed)
    await webhook_setup.deliver()
    webhook_setup.now += MINUTE
    webhook_setup.web.serve("/hook", OK)

    await webhook_setup.deliver()

    mended = await webhook_setup.webhooks.one(alice.id, hook.id)
    assert (mended.consecutive_failures, mended.last_error, mended.last_success_at) == (0, None, webhook_setup.now)


async def test_a_forbidden_address_is_never_called(db: Database) -> None:
    async with Web() as web, open_client(AddressPolicy()) as client:
        webhook_setup = WebhookSetup(db, client, web)
        feed = await webhook_setup.feed()
        await webhook_setup.hook(await webhook_setup.reader("alice", feed), OK)
        await webhook_setup.queue_event(feed)

        await webhook_setup.deliver()

        assert web.requests == []
        assert await _outcome(webhook_setup) == [DeliveryStatus.DEAD]


async def test_events_of_a_feed_are_not_delivered_after_unsubscribing(webhook_setup: WebhookSetup) -> None:
    feed = await webhook_setup.feed()
    alice = await webhook_setup.reader("alice", feed)
    await webhook_setup.hook(alice, OK)
    await webhook_setup.queue_event(feed)
    await webhook_setup.db.batch([Step(subscriptions.delete().where(subscriptions.c.user_id == alice.id))])

    await webhook_setup.deliver()

    assert webhook_setup.web.requests == []
    assert await _outcome(webhook_setup) == [DeliveryStatus.DROPPED]


async def test_waiting_deliveries_survive_the_merge_of_their_feed(webhook_setup: WebhookSetup) -> None:
    feed, target = await webhook_setup.feed(), await webhook_setup.feed("https://example.org/new")
    await webhook_setup.hook(await webhook_setup.reader("alice", feed), OK)
    await webhook_setup.queue_event(feed)

    await merge_feeds(webhook_setup.db, Merge(feed.id, feed.url, target.id, target.url), webhook_setup.now)
    await webhook_setup.deliver()

    assert webhook_setup.received()[0]["feed"]["id"] == feed.id


async def test_a_test_event_reaches_a_paused_webhook_too(webhook_setup: WebhookSetup) -> None:
    alice = await webhook_setup.reader("alice", await webhook_setup.feed())
    hook = await webhook_setup.hook(alice, OK)
    await webhook_setup.webhooks.change(alice.id, hook.id, paused=True)

    tested = await webhook_setup.webhooks.test(alice.id, hook.id)
    await webhook_setup.deliver()

    assert (webhook_setup.received()[0]["event"], webhook_setup.received()[0]["delivery_id"]) == ("test", tested.id)


async def test_whether_there_are_webhooks_is_cached_until_one_is_added(webhook_setup: WebhookSetup) -> None:
    assert not await webhook_setup.webhooks._has_webhooks()
    await webhook_setup.db.batch([Step(webhooks.delete())])
    alice = await webhook_setup.reader("alice", await webhook_setup.feed())

    await webhook_setup.hook(alice, OK)

    assert await webhook_setup.webhooks._has_webhooks()


async def test_old_deliveries_are_deleted(webhook_setup: WebhookSetup) -> None:
    feed = await webhook_setup.feed()
    await webhook_setup.hook(await webhook_setup.reader("alice", feed), OK)
    await webhook_setup.queue_event(feed)

    assert await webhook_setup.webhooks.prune(webhook_setup.now + timedelta(days=29)) == 0
    assert await webhook_setup.webhooks.prune(webhook_setup.now + timedelta(days=31)) == 1


async def test_webhooks_are_visible_to_their_owner_only(webhook_setup: WebhookSetup) -> None:
    feed = await webhook_setup.feed()
    alice, charlie = await webhook_setup.reader("alice", feed), await webhook_setup.reader("charlie", feed)
    hook = await webhook_setup.hook(alice, OK)
    await webhook_setup.queue_event(feed)
    [delivery] = await webhook_setup.outbox()

    assert await webhook_setup.webhooks.all(charlie.id) == []
    for attempt in (
        webhook_setup.webhooks.one(charlie.id, hook.id),
        webhook_setup.webhooks.delete(charlie.id, hook.id),
        webhook_setup.webhooks.test(charlie.id, hook.id),
        webhook_setup.webhooks.new_secret(charlie.id, hook.id),
        webhook_setup.webhooks.redeliver(charlie.id, hook.id, delivery.id),
    ):
        with pytest.raises(NotFound):
            await attempt


async def test_the_number_of_webhooks_per_user_is_limited(webhook_setup: WebhookSetup) -> None:
    alice = await webhook_setup.reader("alice", await webhook_setup.feed())
    for number in range(MAX_COUNTS["webhooks"]):
        await webhook_setup.hook(alice, OK, f"/{number}")

    with pytest.raises(LimitExceeded):
        await webhook_setup.hook(alice, OK)


@pytest.mark.parametrize("url", ["ftp://example.org/", "https://", "https://me:secret@example.org/hook", "x" * 3000])
async def test_an_invalid_webhook_is_refused_at_once(webhook_setup: WebhookSetup, url: str) -> None:
    with pytest.raises(BadInput):
        await webhook_setup.webhooks.create(1, url, ALL_EVENTS)
