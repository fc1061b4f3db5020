"""Outbound tasks are worked off as they arrive, whatever fails."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from feedmill.app import build_app
from feedmill.errors import DatabaseUnavailable
from feedmill.model.webhook import WebhookEvent
from feedmill.run.embedded import open_embedded
from feedmill.run.outbound_tasks import OutboundTasks
from feedmill.run.periodic_parts import run_periodic_parts
from feedmill.settings import load_settings
from feedmill.store.users.users import add_user
from tests.scripted_web import Answer, ReceivedRequest, Web
from tests.waiting import LONGEST_WAIT

SOON = timedelta(milliseconds=1)


@dataclass
class Work:
    """Gives scripted results, one per chunk, until none is left."""

    chunks: list[int | Exception]
    done: asyncio.Event = field(default_factory=asyncio.Event)

    async def work(self) -> int:
        if not self.chunks:
            self.done.set()
            return 0
        chunk = self.chunks.pop(0)
        if isinstance(chunk, Exception):
            raise chunk
        return chunk

    deliver = read_pages = fetch = send = announce = run = use = work


async def _run(*works: Any) -> None:
    running = asyncio.create_task(OutboundTasks(*works, SOON).keep_running())
    async with asyncio.timeout(LONGEST_WAIT):
        await asyncio.gather(*(work.done.wait() for work in works))
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running


async def test_a_failed_task_is_retried_and_does_not_delay_others() -> None:
    broken = Work([DatabaseUnavailable("away"), ValueError("a mistake of ours"), 3])
    sound, others = Work([2, 1]), [Work([1]) for _ in range(7)]

    await _run(broken, sound, *others)

    assert [work.chunks for work in (broken, sound, *others)] == [[]] * 9


async def test_a_process_with_a_scheduler_sends_webhooks_and_fetches_pages(tmp_path: Path) -> None:
    settings = load_settings(data=str(tmp_path), allow_private="127.0.0.0/8", host_gap=0)
    async with Web() as web, build_app(settings) as app, open_embedded(app) as parts:
        called, read = asyncio.Event(), asyncio.Event()
        alice = await add_user(app.db, "alice", None, False, app.tools.clock())
        hook = await app.webhooks.create(alice.id, web.serve("/hook", _noting(called)), [WebhookEvent.NEW_ENTRIES])
        await app.webhooks.test(alice.id, hook.id)
        await app.bookmarks.save(alice.id, web.serve("/page", _noting(read)), None, None)

        async with run_periodic_parts(app, parts), asyncio.timeout(LONGEST_WAIT):
            await called.wait()
            await read.wait()


def _noting(event: asyncio.Event) -> Callable[[ReceivedRequest], Answer]:
    def answer(seen: ReceivedRequest) -> Answer:
        event.set()
        return Answer()

    return answer
