"""Measures `feedmill serve` with little memory and a slow core: feeds refresh while somebody reads.

    PYTHONPATH=. python bench/small_machine.py [--cpu 100,25] [--memory 512] [--minutes 1] [--write]

Needs Linux and root: the server, and the commands beside it, run in a control group with that many MiB and that share
of one core, on SQLite and a folder. The web of feeds and the reader are outside of it. The library has entries of the
past; every feed then brings 20 more, which makes `--entries` in all. In a later round all feeds are due again; rounds
are repeated for `--minutes`, and there is at least one. It fails if the kernel kills a process. A run takes about
five minutes for a whole core.
"""

import argparse
import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import aiohttp
from busy_reader import NAME, PASSWORD, BusyReader
from control_group import ControlGroup, control_group
from feed_web import PER_FEED, feed_url
from library_load import load_once, on_sqlite
from report import Table
from small_machine_report import PAGE, report, write_page
from small_machine_run import SmallMachineRun
from sqlalchemy import bindparam

from feedmill.library.users.passwords import hash_password
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Step
from feedmill.store.schema import entries, feeds, users
from tests.cli.command import environment, serving
from tests.services.server import free_port

LONGEST_PAGE = 300


# --- preparing ---------------------------------------------------------------------------------------------


async def build_library(folder: Path, entry_count: int, feed_count: int, port: int) -> Path:
    """A database with feeds of the web on loopback, never due, and one user who can sign in."""
    with on_sqlite(folder) as db:
        await load_once(db, folder, entry_count - PER_FEED * feed_count, feed_count)
        await _adopt(db, port)
        await db.close()
    return folder / "library.db"


async def _adopt(db: Database, port: int) -> None:
    now = to_iso(datetime.now(UTC))
    moved = feeds.update().where(feeds.c.url == bindparam("old")).values(url=bindparam("new"), host=bindparam("at"))
    rows = await db.query(feeds.select().with_only_columns(feeds.c.url))
    numbers = [int(row["url"].rpartition("/")[2]) for row in rows]
    urls = [(row["url"], feed_url(number, port)) for row, number in zip(rows, numbers, strict=True)]
    params = [{"old": old, "new": new, "at": new.split("/")[2].partition(":")[0]} for old, new in urls]
    reader = users.update().where(users.c.name == "user 0")
    await db.batch(
        [
            Step(moved, params),
            Step(feeds.update().values(next_fetch_at=None)),
            Step(entries.update().values(in_feed=0, last_seen_at=now)),
            Step(reader.values(name=NAME, password_hash=await hash_password(PASSWORD))),
        ]
    )


@contextmanager
def running_web(port: int) -> Iterator[None]:
    script = [sys.executable, str(Path(__file__).parent / "feed_web.py"), str(port)]
    with subprocess.Popen(script, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n", "the web of feeds did not start"
        try:
            yield
        finally:
            process.terminate()


def copy_library(library: Path, data: Path) -> None:
    """A copy for one run, none of it in the page cache: what the server reads must count for its group."""
    data.mkdir()
    copy = shutil.copyfile(library, data / "feedmill.db")
    descriptor = os.open(copy, os.O_RDONLY)
    os.fsync(descriptor)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)


# --- one run -----------------------------------------------------------------------------------------------


def start_in_group(
    group: ControlGroup, *args: str, cwd: Path, streams: tuple[int, int, int], env: dict[str, str], **_: object
) -> subprocess.Popen[bytes]:
    stdin, stdout, stderr = streams
    command = [sys.executable, "-m", "feedmill", *args]
    return subprocess.Popen(command, cwd=cwd, env=env, stdin=stdin, stdout=stdout, stderr=stderr, preexec_fn=group.join)


async def measure(library: Path, port: int, cpu_percent: int, asked: argparse.Namespace) -> list[Table]:
    with (
        tempfile.TemporaryDirectory(dir=library.parent) as folder,
        control_group(asked.memory * 2**20, cpu_percent) as group,
    ):
        data = Path(folder) / "data"
        copy_library(library, data)
        speed = time_interpreter(group)
        settings = {"data": str(data), "allow_private": "127.0.0.0/8", "log_format": "json", "log_level": "warning"}
        start = partial(start_in_group, group)
        with serving(cwd=Path(folder), settings=settings, start=start) as server:
            async with browser(server.address) as http:
                run = SmallMachineRun(group, server, BusyReader(http), data, environment(settings), port, asked.feeds)
                await run.run(asked.minutes)
            tables = report(run, cpu_percent, asked.memory, speed)
        assert group.kills() == 0, "the kernel killed a process"
    return tables


def browser(address: str) -> aiohttp.ClientSession:
    """A client that keeps the cookies of an address without a name."""
    cookies = aiohttp.CookieJar(unsafe=True)
    return aiohttp.ClientSession(address, cookie_jar=cookies, timeout=aiohttp.ClientTimeout(LONGEST_PAGE))


def time_interpreter(group: ControlGroup) -> str:
    """What timeit says in the group."""
    arguments = ["-m", "timeit", "-n", "20", "-u", "msec", "sum(range(1000000))"]
    done = subprocess.run(
        [sys.executable, *arguments], preexec_fn=group.join, capture_output=True, text=True, check=True
    )
    return done.stdout.rpartition(": ")[2].strip()


async def main(asked: argparse.Namespace) -> None:
    port, tables = free_port(), list[Table]()
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        library = await build_library(Path(folder), asked.entries, asked.feeds, port)
        for percent in map(int, asked.cpu.split(",")):
            # A new web for each run, because every feed starts with its first entries.
            with running_web(port):
                tables += await measure(library, port, percent, asked)
    if asked.write:
        write_page(tables)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cpu", default="100,25", help="percents of one core, a run for each")
    parser.add_argument("--memory", type=int, default=512, help="MiB")
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--feeds", type=int, default=1_000)
    parser.add_argument("--write", action="store_true", help=f"write the figures into {PAGE.name}")
    parser.add_argument("--folder", type=Path, help="where the data lies meanwhile; a temporary folder by default")
    # Otherwise the server and the group would be left behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    asyncio.run(main(parser.parse_args()))
