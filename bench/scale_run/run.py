"""A day of many feeds in PostgreSQL, with a clock that runs faster than ours: `make scale`.

    python bench/scale_run/run.py [--feeds 1000000] [--entries 20000000] [--hours 24] [--minutes 25] [--workers 2]
        [--words 30] [--engine embedded|celery] [--faults] [--keep FOLDER] [--only-load] [--output FOLDER]
        [--plots]

Loads a database (or finds the one that an earlier run left in FOLDER), lets the real scheduler, job handlers and
refreshes work through a day against a web in process memory, reads pages meanwhile, and checks that nothing was lost
or doubled. `--faults` needs celery: a worker is killed every minute, Redis is restarted twice, and PostgreSQL fails
over once to its standby.
"""

import argparse
import asyncio
import shutil
import signal
import sys
import tempfile
import time
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import uvloop

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT), str(ROOT / "bench"), str(Path(__file__).parent)]

from articles import WORDS  # noqa: E402
from check_run import check_loaded  # noqa: E402
from day import Day  # noqa: E402
from fast_clock import FastClock  # noqa: E402
from feed_profiles import ANSWERS, RHYTHMS, FeedProfiles  # noqa: E402
from load import SETTINGS, Loader, pool_size  # noqa: E402
from prepare_day import sizes_after_load  # noqa: E402
from progress import Progress  # noqa: E402
from report import report_table  # noqa: E402
from simulated_web import SimulatedWeb  # noqa: E402

from feedmill.coordination.memory import MemoryHostSlots  # noqa: E402
from feedmill.store.drivers.postgres import PostgresDatabase  # noqa: E402
from feedmill.store.migrations import migrate  # noqa: E402
from tests.services.postgres import own_postgres  # noqa: E402
from tests.services.server import hand_over  # noqa: E402

IMAGES = ROOT / "docs" / "images"
MOST_DISK = 60e9
LEFT_FREE = 5e9
# Measured: tables and indexes of an entry of 30 words, of a feed, and of each further word in text and index.
BYTES_PER_ENTRY, BYTES_PER_FEED, BYTES_PER_WORD = 2400, 2500, 20
# The days of a kept database end before the present, so that pages, whose clock is ours, have no entries of the future.
BEFORE_NOW = timedelta(days=8)


class Run:
    def __init__(self, options: argparse.Namespace, folder: Path, progress: Progress) -> None:
        self.options, self.folder, self.progress = options, folder, progress
        self.start = self._start_of_day()
        self.profiles = FeedProfiles(options.feeds, options.entries, self.start)

    def _start_of_day(self) -> int:
        """Kept with the data, because all dates in the database depend on it."""
        file = self.folder / "start"
        if not file.exists():
            file.write_text(str(int((datetime.now(UTC) - BEFORE_NOW).timestamp())))
        return int(file.read_text())

    async def load(self) -> None:
        done = self.folder / "loaded"
        if done.exists():
            if done.read_text() != self.size:
                raise SystemExit(f"{self.folder} has other data: {done.read_text()}")
            return
        options, copies = self.options, 2 if self.options.faults else 1
        check_disk(self.folder, options.feeds * copies, options.entries * copies, options.words)
        with own_postgres(self.folder, settings=SETTINGS) as server:
            db = PostgresDatabase(server.service.url)
            await migrate(db)
            loader = Loader(db, server.service.url, self.profiles, options.entries, options.words, self.progress)
            await loader.load(options.users, min(options.reader_feeds, options.feeds), options.popular)
            self.progress.begin("checking what was loaded")
            clock = FastClock(self.start, time.time(), 1)
            web = SimulatedWeb(self.profiles, clock, pool_size(options.entries), options.words, MemoryHostSlots())
            (await check_loaded(db, server.service.url, self.profiles, web)).report()
            await db.close()
            report_table(await sizes_after_load(self.folder, server.service.url, self.size))
        done.write_text(self.size)
        self.progress.say("loaded")

    @property
    def size(self) -> str:
        options = self.options
        return (
            f"{options.feeds} feeds, {options.entries} entries of {options.words} words, "
            f"{options.users} users, {options.popular} fans"
        )


def check_disk(folder: Path, feeds: int, entries: int, words: int) -> None:
    needed = feeds * BYTES_PER_FEED + entries * (BYTES_PER_ENTRY + max(words - WORDS, 0) * BYTES_PER_WORD)
    free = shutil.disk_usage(folder).free
    if needed > min(MOST_DISK, free - LEFT_FREE):
        most = min(MOST_DISK, max(free - LEFT_FREE, 0)) / 1e9
        raise SystemExit(f"this takes about {needed / 1e9:.0f} GB, and {most:.0f} GB may be used in {folder}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--feeds", type=int, default=1_000_000)
    parser.add_argument("--entries", type=int, default=20_000_000)
    parser.add_argument("--users", type=int, default=1000)
    parser.add_argument("--reader-feeds", type=int, default=5000, help="feeds of the one who reads")
    parser.add_argument("--popular", type=int, default=0, help="users that all have the same feed, beside the others")
    parser.add_argument("--words", type=int, default=WORDS, help="words of an article on average")
    parser.add_argument("--hours", type=float, default=24, help="simulated hours")
    parser.add_argument("--minutes", type=float, default=25, help="how long they last")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--catch-up", type=float, default=900, help="real seconds for what is still due at the end")
    parser.add_argument("--no-reader", action="store_true", help="nobody reads meanwhile")
    parser.add_argument("--engine", choices=("embedded", "celery"), default="embedded")
    parser.add_argument("--faults", action="store_true")
    parser.add_argument("--every", type=float, default=10, help="real seconds between two samples")
    parser.add_argument("--keep", type=Path, help="the folder of the database, loaded once")
    parser.add_argument("--only-load", action="store_true", help="leaves the day to a later run with --keep")
    parser.add_argument("--output", type=Path, default=Path("scale-results"))
    parser.add_argument("--plots", action="store_true", help="draws the plots of the documentation")
    parser.add_argument("--images", type=Path, default=IMAGES)
    return parser.parse_args()


async def main() -> None:
    if (task := asyncio.current_task()) is not None:
        # A day that is interrupted ends its processes and writes what it measured.
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    options = arguments()
    if options.only_load and not options.keep:
        raise SystemExit("--only-load needs --keep")
    if options.faults and options.engine != "celery":
        raise SystemExit("--faults needs --engine celery")
    if options.faults and options.keep:
        raise SystemExit("--faults leaves the newest data in a standby that is thrown away: not with --keep")
    for rhythm in RHYTHMS:
        print(
            f"{rhythm.share:6.1%} of the feeds publish {rhythm.name}, about {rhythm.stored:g} entries stored per feed"
        )
    print(", ".join(f"{share:.1%} {name}" for name, share in ANSWERS), "feeds", flush=True)
    with ExitStack() as closing:
        folder = options.keep or Path(closing.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        hand_over(folder)
        run = Run(options, folder, Progress())
        await run.load()
        if options.only_load:
            return
        results = await Day(options, folder, run.profiles, run.size, run.progress).run()
    if results["problems"]:
        raise SystemExit(1)


if __name__ == "__main__":
    try:
        uvloop.run(main())
    except asyncio.CancelledError:
        sys.exit(128 + signal.SIGTERM)
