"""The parts of one run of `bench/small_machine.py`: what a server in a control group does while somebody reads."""

import asyncio
import re
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from busy_reader import BusyReader
from control_group import ControlGroup
from feed_web import feed_url

from feedmill.model.timestamps import to_iso
from tests.cli.command import Server

IMPORTED = 200
ALONE_SECONDS = 40
PATIENCE = 900
SAMPLE_SECONDS = 0.2
READING, FIRST, LATER, IMPORT, BACKUP, PURGE = (
    "reading, nothing else",
    "first fetch of all feeds",
    "later rounds",
    "OPML import",
    "backup with objects",
    "purge of a tenth",
)
PARTS = (READING, FIRST, LATER, IMPORT, BACKUP, PURGE)


@dataclass
class PartFigures:
    """What a part of the run took. `done` is how many things it did, `unit` their name.

    In bytes: what the server wrote to the disk, and memory at most.
    """

    seconds: float = 0.0
    cpu: float = 0.0
    done: int = 0
    unit: str = ""
    written: int = 0
    anonymous: int = 0
    resident: int = 0


@dataclass
class SmallMachineRun:
    """A server in a control group, its reader, and what was measured of them."""

    group: ControlGroup
    server: Server
    reader: BusyReader
    data: Path
    env: dict[str, str]
    web_port: int
    feeds: int
    parts: dict[str, PartFigures] = field(default_factory=lambda: {part: PartFigures() for part in PARTS})
    largest_wal: int = 0

    async def run(self, minutes: float) -> None:
        """All parts, one after the other, with the reader at work in each."""
        with self._sampling():
            await self.reader.sign_in()
            reading = asyncio.create_task(self.reader.keep_reading())
            try:
                await self._run_parts(minutes)
                assert not reading.done(), f"the reader failed: {reading.exception()!r}"
            finally:
                reading.cancel()
                await asyncio.gather(reading, return_exceptions=True)
        self._count(READING, self.reader.pages(READING), "pages")

    async def _run_parts(self, minutes: float) -> None:
        with self._part(READING):
            await asyncio.sleep(ALONE_SECONDS)
        await self._refresh(FIRST)
        started = time.monotonic()
        while not self.parts[LATER].done or time.monotonic() < started + minutes * 60:
            async with self.reader.http.post(f"http://127.0.1.1:{self.web_port}/next-round") as response:
                assert response.status == 200
            await self._refresh(LATER)
        await self._import_feeds()
        await self._run_command(BACKUP, "backup", "--with-objects", str(self.data.parent / "backup"))
        self._count(BACKUP, 1, "backup")
        self._count(PURGE, await asyncio.to_thread(self._expire_a_tenth), "entries")
        await self._run_command(PURGE, "purge")

    async def _refresh(self, name: str) -> None:
        """Makes every feed due, and waits until each was fetched and its pictures are archived."""
        due = to_iso(datetime.now(UTC))
        self.query("UPDATE feeds SET next_fetch_at = ?", due)
        fetched = "SELECT count(*) FROM feeds WHERE last_fetched_at > ?"
        # The server looks for due feeds twice a minute; until then it has nothing to do.
        await self._until(lambda: self.query(fetched, due) > 0)
        pending = "SELECT count(*) FROM image_tasks WHERE status = 'pending' AND attempts = 0"
        with self._part(name):
            await self._until(lambda: self.query(fetched, due) >= self.feeds)
            await self._until(lambda: self.query(pending) == 0)
        self._count(name, self.feeds, "feeds")

    async def _import_feeds(self) -> None:
        urls = [feed_url(number, self.web_port) for number in range(self.feeds, self.feeds + IMPORTED)]
        outlines = "".join(f'<outline type="rss" text="More" xmlUrl="{url}"/>' for url in urls)
        opml = f'<?xml version="1.0"?><opml version="2.0"><head/><body>{outlines}</body></opml>'
        headers = {"X-CSRF-Token": self.reader.csrf, "Content-Type": "text/x-opml"}
        newest = self.query("SELECT max(id) FROM feeds")
        fetched = "SELECT count(*) FROM feeds WHERE id > ? AND last_fetched_at IS NOT NULL"
        with self._part(IMPORT):
            async with self.reader.http.post("/api/feeds/import", data=opml, headers=headers) as response:
                assert response.status == 202, await response.text()
            await self._until(lambda: self.query(fetched, newest) >= IMPORTED)
        self._count(IMPORT, IMPORTED, "feeds")

    def _expire_a_tenth(self) -> int:
        old, tenth = to_iso(datetime.now(UTC) - timedelta(days=365)), self.query("SELECT count(*) FROM entries") // 10
        oldest = "SELECT id FROM entries WHERE in_feed = 0 ORDER BY id LIMIT ?"
        self.query(f"UPDATE entries SET last_seen_at = ? WHERE id IN ({oldest})", old, tenth)
        return tenth

    async def _run_command(self, name: str, *args: str) -> None:
        """Runs a command in the same group, as a person or a timer does on the same machine."""
        command = [sys.executable, "-m", "feedmill", *args]
        folder, env, join = self.data.parent, self.env, self.group.join
        with self._part(name):
            done = await asyncio.to_thread(
                subprocess.run, command, cwd=folder, env=env, preexec_fn=join, capture_output=True, text=True
            )
        assert done.returncode == 0, f"{args} failed: {done.returncode} {done.stderr}"

    # --- measuring ---

    def query(self, sql: str, *params: object) -> int:
        """Runs a statement on the server's database; the first value of its first row."""
        with closing(sqlite3.connect(self.data / "feedmill.db", timeout=PATIENCE)) as connection, connection:
            row = connection.execute(sql, params).fetchone()
        return int(row[0]) if row else 0

    @contextmanager
    def _part(self, name: str) -> Iterator[None]:
        part, started, cpu = self.parts[name], time.monotonic(), self.group.cpu_seconds()
        written = bytes_written(self.server.process.pid)
        self.reader.part = name
        try:
            yield
        finally:
            self.reader.part = None
            part.seconds += time.monotonic() - started
            part.cpu += self.group.cpu_seconds() - cpu
            part.written += bytes_written(self.server.process.pid) - written

    def _count(self, name: str, done: int, unit: str) -> None:
        self.parts[name].done += done
        self.parts[name].unit = unit

    async def _until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not await asyncio.to_thread(condition):
            assert self.server.process.poll() is None, "the server ended"
            assert time.monotonic() < deadline, "it takes too long"
            await asyncio.sleep(0.5)

    @contextmanager
    def _sampling(self) -> Iterator[None]:
        """Looks at the memory several times a second, in a thread."""
        ended = threading.Event()

        def sample_all() -> None:
            while not ended.wait(SAMPLE_SECONDS):
                self._sample()

        thread = threading.Thread(target=sample_all)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def _sample(self) -> None:
        wal = self.data / "feedmill.db-wal"
        self.largest_wal = max(self.largest_wal, wal.stat().st_size if wal.exists() else 0)
        if name := self.reader.part:
            part = self.parts[name]
            part.anonymous = max(part.anonymous, self.group.anonymous_memory())
            part.resident = max(part.resident, memory_of_process(self.server.process.pid, "VmRSS"))


def memory_of_process(pid: int, name: str) -> int:
    """`VmRSS` or `VmHWM` (its peak) in bytes; 0 if the process has ended."""
    try:
        found = re.search(rf"^{name}:\s+(\d+)", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0


def bytes_written(pid: int) -> int:
    """How much the process has written to the disk."""
    found = re.search(r"^write_bytes: (\d+)", Path(f"/proc/{pid}/io").read_text(), re.MULTILINE)
    assert found
    return int(found[1])
