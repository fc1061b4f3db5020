"""Processes that write batch after batch until they are killed, and say before and after each which one it is."""

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

Said = list[tuple[str, str]]

# Call `live_and_die` in a process of its own, with one thread: it forks, so that fifty writers start at once.
processes = multiprocessing.get_context("fork")


def live_and_die(settings: dict[str, str], lives: Sequence[float], first: int = 0) -> list[Said]:
    """Lets one writer after another live for some seconds from its first batch on; what each one said."""
    return [_live_and_die(settings, number, seconds) for number, seconds in enumerate(lives, first)]


def _live_and_die(settings: dict[str, str], number: int, seconds: float) -> Said:
    hear, tell = processes.Pipe(duplex=False)
    writer = processes.Process(target=_write_until_killed, args=(settings, number, tell))
    writer.start()
    tell.close()
    said = [hear.recv()]
    let_live(seconds)
    writer.kill()
    writer.join()
    return said + _rest(hear)


def _rest(hear: Connection) -> Said:
    rest = []
    while True:
        try:
            rest.append(hear.recv())
        except EOFError:
            hear.close()
            return rest


def _write_until_killed(settings: dict[str, str], writer: int, told: Connection) -> None:
    asyncio.run(_write(settings, writer, told))


async def _write(settings: dict[str, str], writer: int, told: Connection) -> None:
    db = open_database(load_settings(**settings))
    for number in count():
        name = f"{writer}.{number}"
        told.send(("begun", name))
        await db.batch([Step(RECORD, _rows(name, step)) for step in range(STEPS)])
        told.send(("done", name))


def _rows(name: str, step: int) -> list[dict[str, str]]:
    """The rows of one step; `recorded_at` is the batch's name, to count them by."""
    return [{"key": f"{name}/{step}/{row}", "recorded_at": name} for row in range(ROWS_PER_STEP)]
