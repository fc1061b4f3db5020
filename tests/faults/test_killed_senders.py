"""A process killed while it sends saves or notifications: nothing is lost, and twice is sent only what was in the air.

Both queues lease what they send. What a killed process held is due again when the lease ends.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from feedmill.model.notifications.notification_target import NotificationEvent, TargetSettings
from feedmill.model.services.save_service import ServiceKind
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Step
from feedmill.store.schema import notification_targets, notifications, service_saves
from tests.cli.command import environment
from tests.databases import emptied, settings_of
from tests.faults.queue_sender import QUEUES
from tests.fork_server.client import ForkedProcess, fork_server
from tests.library.notifications.notification_setup import NotificationSetup
from tests.library.notifications.push_service import PushedBrowser
from tests.library.services.service_setup import KEY, ServiceSetup
from tests.library.webhooks.webhook_setup import open_client
from tests.scripted_web import Answer, Web

ITEMS = 3
PATH = "/receiver"
TABLES = {"saves": service_saves, "notifications": notification_targets}
# What is sent in all, if the first process is killed at that point. All notifications of a target are one message.
EXPECTED = {
    ("saves", "claimed"): ITEMS,
    ("saves", "sent"): ITEMS + 1,
    ("saves", "recorded"): ITEMS,
    ("notifications", "claimed"): 1,
    ("notifications", "sent"): 2,
    ("notifications", "recorded"): 1,
}


@dataclass
class QueuedWork:
    """Alice has a service with three articles, or a browser with three notifications, that wait."""

    db: Database
    web: Web
    queue: str
    settings: dict[str, str]
    folder: Path

    async def fill(self) -> None:
        now = datetime.now(UTC)
        async with open_client() as client:
            if self.queue == "saves":
                await self._queue_saves(ServiceSetup(self.db, client, self.web, now))
            else:
                await self._queue_notifications(NotificationSetup(self.db, self.web, now, client=client))

    async def _queue_saves(self, setup: ServiceSetup) -> None:
        self.web.serve(PATH, Answer(status=201))
        alice = await setup.reader()
        address = {"method": "POST", "address": f"http://127.0.0.1:{self.web.port}{PATH}", "body": "{url}"}
        service = await setup.services.create(alice.id, ServiceKind.TEMPLATE, "mine", address | {"body_format": "text"})
        ids = [await setup.entry(alice, guid=str(number)) for number in range(ITEMS)]
        await setup.services.save(alice.id, ids, [service.id])

    async def _queue_notifications(self, setup: NotificationSetup) -> None:
        alice = await setup.reader()
        browser = PushedBrowser(self.web, await setup.notifications.browsers.public_key(), PATH)
        settings = TargetSettings("Firefox", (NotificationEvent.FEED_FAILING,))
        await setup.notifications.create_browser(alice.id, browser.subscription, settings)
        await setup.entry(alice, "one", "1")
        for _ in range(ITEMS):
            await setup.event(await setup.feed_id_of(alice), NotificationEvent.FEED_FAILING)

    def start(self, point: str) -> ForkedProcess:
        plan = {"settings": self.settings, "queue": self.queue, "point": point}
        with open(os.devnull) as nothing, (self.folder / "log").open("a") as log:
            streams = (nothing.fileno(), log.fileno(), log.fileno())
            return fork_server().start(
                "tests.faults.queue_sender:run",
                plan,
                folder=self.folder,
                environment=environment(),
                streams=streams,
            )

    async def run(self, point: str = "never") -> int:
        """Runs a sender to its end; its exit code."""
        return await asyncio.to_thread(self.start(point).wait)

    async def end_leases(self) -> None:
        """What takes minutes in earnest."""
        table = TABLES[self.queue]
        waits = table.update().where(table.c.next_attempt_at.is_not(None))
        await self.db.batch([Step(waits.values(next_attempt_at=to_iso(datetime.now(UTC))), {})])

    async def waiting(self) -> int:
        if self.queue == "notifications":
            return len(await self.db.query(notifications.select()))
        return len(await self.db.query(service_saves.select().where(service_saves.c.status == "pending")))

    @property
    def sent(self) -> int:
        return len(self.web.seen(PATH))


@pytest.fixture(params=["sqlite", "postgresql"])
async def reached(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Database, dict[str, str]]]:
    async with emptied(request, request.param, tmp_path) as database:
        yield database, settings_of(request, request.param, tmp_path)


@pytest.fixture(params=QUEUES)
async def work(
    request: pytest.FixtureRequest, reached: tuple[Database, dict[str, str]], tmp_path: Path
) -> AsyncIterator[QueuedWork]:
    db, settings = reached
    given = settings | {"data": str(tmp_path), "allow_private": "127.0.0.0/8", "host_gap": "0", "secret_key": KEY}
    async with Web() as web:
        found = QueuedWork(db, web, request.param, given, tmp_path)
        await found.fill()
        yield found


@pytest.mark.parametrize("point", ["claimed", "sent", "recorded"])
async def test_what_a_killed_sender_held_is_sent_when_its_lease_ends(work: QueuedWork, point: str) -> None:
    assert await work.run(point) != 0
    before = work.sent

    await work.run()
    held = work.sent
    await work.end_leases()
    while await work.waiting():
        await work.run()
        await work.end_leases()

    # Nobody else sends what is leased.
    assert held == before
    assert work.sent == EXPECTED[work.queue, point]


async def test_two_senders_at_once_send_everything_once_and_a_second_run_nothing(work: QueuedWork) -> None:
    senders = [work.start("never") for _ in range(2)]
    for sender in senders:
        assert await asyncio.to_thread(sender.wait) == 0
    while await work.waiting():
        await work.run()
    sent = work.sent

    await work.end_leases()
    await work.run()

    assert work.sent == sent == EXPECTED[work.queue, "recorded"]
