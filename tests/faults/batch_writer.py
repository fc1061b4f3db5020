"""Processes that write batches until they are killed, and report each batch before and after it."""

import asyncio
import multiprocessing
from collections.abc import Sequence
from itertools import count
from multiprocessing.connection import Connection

from feedmill.adapters.database import open_database
from feedmill.settings import load_settings
from feedmill.store.database import Step
from feedmill.store.dialect import insert
from feedmill.store.schema import object_garbage
from tests.waiting import let_live

STEPS = 20
ROWS_PER_STEP = 15

RECORD = insert(object_garbage, "key", "recorded_at")

Messages = list[tuple[str, str]]

# Call `run_and_kill_writers` in a process with a single thread: it forks, so that fifty writers start quickly.
processes = multiprocessing.get_context("fork")


def run_and_kill_writers(settings: dict[str, str], runs: Sequence[float], first: int = 0) -> list[Messages]:
    """Runs writers one after another, each for some seconds from its first batch on; returns their reports."""
    return [_run_and_kill_writer(settings, number, seconds) for number, seconds in enumerate(runs, first)]


def _run_and_kill_writer(settings: dict[str, str], number: int, seconds: float) -> Messages:
    receiver, sender = processes.Pipe(duplex=False)
    writer = processes.Process(target=_write_until_killed, args=(settings, number, sender))
    writer.start()
    sender.close()
    messages = [receiver.recv()]
    let_live(seconds)
    writer.kill()
    writer.join()
    return messages + _rest(receiver)


def _rest(receiver: Connection) -> Messages:
    rest = []
    while True:
        try:
            rest.append(receiver.recv())
        except EOFError:
            receiver.close()
            return rest


def _write_until_killed(settings: dict[str, str], writer: int, sender: Connection) -> None:
    asyncio.run(_write(settings, writer, sender))


async def _write(settings: dict[str, str], writer: int, sender: Connection) -> None:
    db = open_database(load_settings(**settings))
    for number in count():
        name = f"{writer}.{number}"
        sender.send(("begun", name))
        await db.batch([Step(RECORD, _rows(name, step)) for step in range(STEPS)])
        sender.send(("done", name))


def _rows(name: str, step: int) -> list[dict[str, str]]:
    """The rows of one step; `recorded_at` is the batch's name, by which they are counted."""
    return [{"key": f"{name}/{step}/{row}", "recorded_at": name} for row in range(ROWS_PER_STEP)]
