"""Several schedulers deliver webhooks: never two at once to one address, even when one of them is killed."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from feedmill.model.webhook import DeliveryStatus
from feedmill.store.feeds.read_feeds import feeds_of_ids
from tests.faults.api import ALICE
from tests.faults.scaled_out_installation import ScaledOutInstallation, scaled_out
from tests.library.webhooks.webhook_setup import ALL_EVENTS, WebhookSetup, open_client
from tests.scripted_web import Answer, ClientConnection, ReceivedRequest
from tests.services.server import Service
from tests.waiting import slow_pace, until

pytestmark = pytest.mark.timeout(300)

LONGEST = 150
EVENTS = 40
# Longer than a round takes on a busy machine: the product ends its rounds well within its own lease.
LEASE = 20
# The connection ends after an answer, so it says so.
OK = Answer(status=200, headers={"Connection": "close"})


@dataclass
class Receiver:
    """Takes a moment for each request, and counts those that are open at the same time."""

    takes: float = 0.03
    open: Counter[str] = field(default_factory=Counter)
    most_open: Counter[str] = field(default_factory=Counter)
    requests: int = 0

    async def answer(self, seen: ReceivedRequest, wire: ClientConnection) -> None:
        self.requests += 1
        self.open[seen.path] += 1
        self.most_open[seen.path] = max(self.most_open[seen.path], self.open[seen.path])
        await slow_pace(self.takes)
        self.open[seen.path] -= 1
        await wire.send(OK.encode())


async def _with_queued_events(scaled: ScaledOutInstallation, receiver: Receiver) -> WebhookSetup:
    """Alice has two webhooks at one address and one at another, and many events are queued."""
    webhook_setup = WebhookSetup(scaled.env.db, open_client(), scaled.env.feed_server.web, datetime.now(UTC))
    [row] = (await scaled.env.feeds())[:1]
    [feed] = await feeds_of_ids(webhook_setup.db, [row["id"]])
    for path in ("/one", "/one", "/other"):
        await webhook_setup.webhooks.create(ALICE, webhook_setup.web.serve(path, receiver.answer), ALL_EVENTS)
    for _ in range(EVENTS):
        await webhook_setup.queue_event(feed)
    return webhook_setup


async def test_two_schedulers_never_deliver_to_one_address_at_once(tmp_path: Path, postgres_service: Service) -> None:
    receiver = Receiver()
    async with scaled_out(tmp_path, postgres_service.url, feeds=1) as scaled:
        webhook_setup = await _with_queued_events(scaled, receiver)
        for _ in range(2):
            await scaled.start("scheduler", lease=60)

        await until(lambda: _all_arrived(webhook_setup), LONGEST, "not all was delivered")

        assert {delivery.attempts for delivery in await webhook_setup.outbox()} == {1}

    assert receiver.most_open == {"/one": 1, "/other": 1}
    assert receiver.requests == 3 * EVENTS


async def test_a_killed_scheduler_leaves_the_address_to_the_other_one_at_a_time(
    tmp_path: Path, postgres_service: Service
) -> None:
    receiver = Receiver()
    async with scaled_out(tmp_path, postgres_service.url, feeds=1) as scaled:
        webhook_setup = await _with_queued_events(scaled, receiver)
        first = await scaled.start("scheduler", lease=LEASE)
        await until(lambda: _has_heard(receiver, 20), otherwise="nothing was delivered")
        second = await scaled.start("scheduler", lease=LEASE)
        await until(lambda: _has_heard(receiver, 40), otherwise="nothing more was delivered")
        await first.kill()

        await until(lambda: _all_arrived(webhook_setup), LONGEST, "not all was delivered")

        assert second.is_alive
        assert {delivery.attempts for delivery in await webhook_setup.outbox()} == {1}
    assert receiver.most_open == {"/one": 1, "/other": 1}


async def _all_arrived(webhook_setup: WebhookSetup) -> bool:
    return {delivery.status for delivery in await webhook_setup.outbox()} == {DeliveryStatus.DELIVERED}


async def _has_heard(receiver: Receiver, requests: int) -> bool:
    return receiver.requests >= requests
