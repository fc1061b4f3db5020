"""A process killed between sending and marking a delivery: it is sent again under the same id, and none is lost."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from feedmill.model.timestamps import to_iso
from feedmill.model.webhook import DeliveryStatus
from feedmill.store.database import Database, Step
from feedmill.store.schema import deliveries, locks
from tests.cli.command import environment
from tests.databases import emptied, settings_of
from tests.fork_server.client import ForkedProcess, fork_server
from tests.library.webhooks.webhook_setup import WebhookSetup, open_client
from tests.scripted_web import Answer, ClientConnection, ReceivedRequest, Web

DELIVERIES = 5
OK = Answer(status=200)
# What a lease would do in some minutes.
END_LEASES = deliveries.update().where(deliveries.c.status == DeliveryStatus.PENDING)
END_ADDRESS_LEASES = locks.delete().where(locks.c.name.like("webhook:%"))


class KillingReceiver:
    """A receiver that kills the sender at every second request: before it answers, or right after."""

    def __init__(self) -> None:
        self.victim = 0
        self.kills = 0
        self.heard = 0

    async def answer(self, seen: ReceivedRequest, wire: ClientConnection) -> None:
        self.heard += 1
        if self.heard % 2:
            await wire.send(OK.encode())
            return
        if self.kills % 2:
            await wire.send(OK.encode())
        self.kills += 1
        os.kill(self.victim, signal.SIGKILL)


@pytest.fixture(params=["sqlite", "postgresql"])
async def reached(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Database, dict[str, str]]]:
    async with emptied(request, request.param, tmp_path) as database:
        yield database, settings_of(request, request.param, tmp_path)


async def test_a_delivery_that_was_sent_and_not_marked_is_sent_again_under_its_id(
    reached: tuple[Database, dict[str, str]], tmp_path: Path
) -> None:
    db, settings = reached
    given = settings | {"data": str(tmp_path), "allow_private": "127.0.0.0/8", "host_gap": "0"}
    receiver = KillingReceiver()

    async with Web() as web, open_client() as client:
        webhook_setup = WebhookSetup(db, client, web, datetime.now(UTC))
        feed = await webhook_setup.feed()
        await webhook_setup.hook(await webhook_setup.reader("alice", feed), receiver.answer)
        for _ in range(DELIVERIES):
            await webhook_setup.queue_event(feed)

        while {delivery.status for delivery in await webhook_setup.outbox()} != {DeliveryStatus.DELIVERED}:
            sender = start_sender(given, tmp_path)
            receiver.victim = sender.pid
            await asyncio.to_thread(sender.wait)
            await db.batch(
                [Step(END_LEASES.values(next_attempt_at=to_iso(webhook_setup.now))), Step(END_ADDRESS_LEASES)]
            )

        sent = [int(seen.headers["x-feedmill-delivery"]) for seen in web.requests]
        assert receiver.kills >= 3
        assert set(sent) == {delivery.id for delivery in await webhook_setup.outbox()}
        assert receiver.kills / 2 <= len(sent) - DELIVERIES <= receiver.kills


def start_sender(settings: dict[str, str], folder: Path) -> ForkedProcess:
    with open(os.devnull) as nothing, (folder / "log").open("a") as log:
        streams = (nothing.fileno(), log.fileno(), log.fileno())
        return fork_server().start(
            "tests.faults.webhook_delivery:run", settings, folder=folder, environment=environment(), streams=streams
        )
