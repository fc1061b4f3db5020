"""Benchmarks refreshing feeds against the package `reader` and a bare loop, as CPU time per feed.

usage: python bench/refresh.py [--feeds 1000] [--rounds 3] [--latency]

Needs the feed farm of ../shared. Every candidate is a separate process with its own folder; measured are its CPU time
(all threads) after its imports, and its peak memory. All run on uvloop, as `feedmill serve` does.
"""

import argparse
import json
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import uvloop
from report import Cell, Table, report_table

ROOT = Path(__file__).resolve().parent.parent
FARM = ROOT.parent / "shared" / "feedfarm" / "feedfarm.py"
AT_ONCE = 20
PHASES = ("first", "unchanged", "changed")
CANDIDATES = ("feedmill", "feedmill_no_stories", "same_work_stories", "same_work", "bare", "reader")
NAMES = {
    "feedmill": "Feedmill",
    "feedmill_no_stories": "Feedmill without stories",
    "same_work_stories": "a loop that does the same work",
    "same_work": "the same loop without stories",
    "bare": "fetch, lxml, insert",
    "reader": "reader",
    "reader_search": "reader with its search",
}
# They are compared with each other alone.
WITHOUT_STORIES = frozenset({"feedmill_no_stories", "same_work"})


# --- the candidates ---------------------------------------------------------------------------------------


async def run_feedmill(folder: Path, urls: list[str], phase: str, stories: bool = True) -> None:
    from feedmill.app import build_app
    from feedmill.collect.refresh import write_nothing
    from feedmill.run.embedded import open_embedded
    from feedmill.settings import load_settings
    from feedmill.store.feeds.add_feeds import NewFeed, add_feeds
    from feedmill.store.schema import feeds
    from feedmill.store.search.index_in_lots import index_waiting_texts

    settings = load_settings(
        data=str(folder),
        allow_private="127.0.0.0/8",
        host_gap=0,
        fetches_at_once=AT_ONCE,
        log_level="error",
        log_format="json",
    )
    async with AsyncExitStack() as stack:
        app = await stack.enter_async_context(build_app(settings))
        if not stories:
            app = replace(app, tools=replace(app.tools, writers=replace(app.tools.writers, stories=write_nothing)))
        parts = await stack.enter_async_context(open_embedded(app))
        # Images are recorded as part of the refresh; fetching them is another job, which no other candidate does.
        parts.handlers.images = None
        if phase == "first":
            await add_feeds(app.db, [NewFeed(url) for url in urls], parts.batches.clock(), parts.batches.clock())
        ids = [row["id"] for row in await app.db.query(feeds.select().with_only_columns(feeds.c.id))]
        # The first request imports the HTTP client, and new entries import the services; the other candidates have
        # imported what they use by now.
        await app.client.get(urls[0])
        await app.lazy_services.load()
        started = mark()
        batch_id, _ = await parts.batches.refresh("bench", ids)
        async for progress in parts.batches.watch(batch_id):
            last = progress.batch
        await index_waiting_texts(app.db)
        report(started, new=last.new_entries, failed=last.failed)


async def run_feedmill_no_stories(folder: Path, urls: list[str], phase: str) -> None:
    await run_feedmill(folder, urls, phase, stories=False)


async def run_bare(folder: Path, urls: list[str], phase: str) -> None:
    from bare_refresh import Bare

    loop = Bare(folder, AT_ONCE)
    started = mark()
    report(started, new=await loop.refresh_all(urls), failed=0)


async def run_same_work_stories(folder: Path, urls: list[str], phase: str) -> None:
    from same_work import SameWorkWithStories

    loop = SameWorkWithStories(folder, AT_ONCE)
    started = mark()
    report(started, new=await loop.refresh_all(urls), failed=0)


async def run_same_work(folder: Path, urls: list[str], phase: str) -> None:
    from same_work import SameWork

    loop = SameWork(folder, AT_ONCE)
    started = mark()
    report(started, new=await loop.refresh_all(urls), failed=0)


async def run_reader(folder: Path, urls: list[str], phase: str, searches: bool = False) -> None:
    import reader

    library = reader.make_reader(str(folder / "reader.db"), feed_root=None, search_enabled=searches)
    if phase == "first":
        for url in urls:
            library.add_feed(url)
    started = mark()
    library.update_feeds(workers=AT_ONCE, scheduled=False)
    if searches:
        library.update_search()
    report(started, new=library.get_entry_counts().total, failed=0)
    library.close()


async def run_reader_search(folder: Path, urls: list[str], phase: str) -> None:
    """reader with its search index enabled, as we index too."""
    await run_reader(folder, urls, phase, searches=True)


def mark() -> tuple[float, float]:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime, time.perf_counter()


def report(started: tuple[float, float], **more: int) -> None:
    cpu, wall = mark()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps({"cpu": cpu - started[0], "wall": wall - started[1], "peak_mb": peak, **more}), flush=True)


# --- the run ----------------------------------------------------------------------------------------------


class Farm:
    """A feed server that stops with this process."""

    def __init__(self, feeds: int, **knobs: object) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        flags = {name.replace("_", "-"): value for name, value in knobs.items()}
        args = [f"--{name}" if value is True else f"--{name}={value}" for name, value in flags.items()]
        self.process = subprocess.Popen(
            [sys.executable, str(FARM), f"--port={self.port}", f"--feeds={feeds}", *args],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.urls = self._wait(feeds)

    def get(self, path: str) -> str:
        return urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=60).read().decode()

    def _wait(self, feeds: int) -> list[str]:
        for _ in range(600):
            try:
                return self.get(f"/urls?n={feeds}").split()
            except OSError:
                time.sleep(0.1)
        raise SystemExit("the feed farm did not start")

    def end(self) -> None:
        self.process.terminate()
        self.process.wait(10)


def measure(candidate: str, folder: Path, farm: Farm, phase: str) -> dict[str, float]:
    home = folder / candidate
    home.mkdir(exist_ok=True)
    (home / "urls").write_text("\n".join(farm.urls))
    done = subprocess.run(
        [sys.executable, __file__, "--candidate", candidate, "--phase", phase, "--folder", str(home)],
        capture_output=True,
        text=True,
        cwd=home,
    )
    if done.returncode != 0:
        raise SystemExit(f"{candidate} failed:\n{done.stderr[-3000:]}")
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def one_round(feeds: int, candidates: tuple[str, ...], farm: Farm) -> dict[tuple[str, str], dict[str, float]]:
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for phase in PHASES:
            if phase == "changed":
                farm.get("/admin/advance?share=0.1&k=2")
            for candidate in candidates:
                results[candidate, phase] = measure(candidate, Path(folder), farm, phase)
    return results


def report_rounds(
    feeds: int, rounds: list[dict[tuple[str, str], dict[str, float]]], candidates: tuple[str, ...]
) -> None:
    middle = {
        (c, p): statistics.median(r[c, p]["cpu"] * 1000 / feeds for r in rounds) for c in candidates for p in PHASES
    }
    rows: list[list[Cell]] = []
    for candidate in candidates:
        peak = max(r[candidate, p]["peak_mb"] for r in rounds for p in PHASES)
        rows.append([NAMES[candidate], *(middle[candidate, p] for p in PHASES), round(peak)])
    pairs = [("feedmill", rival) for rival in candidates if rival not in WITHOUT_STORIES and rival != "feedmill"]
    if WITHOUT_STORIES.issubset(candidates):
        pairs.insert(0, ("feedmill_no_stories", "same_work"))
    ratios: list[list[Cell]] = [
        [f"{NAMES[one]} / {NAMES[other]}", *(middle[one, phase] / middle[other, phase] for phase in PHASES)]
        for one, other in pairs
    ]
    report_table(
        Table(
            f"{feeds} feeds of 30 entries, CPU ms per feed",
            ["", *PHASES, "peak MB"],
            rows,
            f"{len(rounds)} rounds, medians, {AT_ONCE} at once, each in a separate process; the database is included.",
            bars=PHASES[0],
        )
    )
    report_table(
        Table(
            "The same as ratios",
            ["", *PHASES],
            ratios,
            "Goals: of reader 0.143, 0.33 and 0.20; of the loop that does the same work 1.15 at the first refresh.",
        )
    )


def report_latency(feeds: int) -> None:
    """Wall time if every response takes 150 ms, against the ideal of `AT_ONCE` responses at a time."""
    farm = Farm(feeds, latency_ms=150, sigma=0)
    ideal = feeds * 0.150 / AT_ONCE
    try:
        with tempfile.TemporaryDirectory() as folder:
            walls = {phase: measure("feedmill", Path(folder), farm, phase)["wall"] for phase in PHASES[:2]}
    finally:
        farm.end()
    rows: list[list[Cell]] = [[phase, wall, ideal, wall / ideal] for phase, wall in walls.items()]
    about = "Goal: 1.15. Storing and indexing a new feed takes longer than waiting for its response."
    report_table(Table("Every response takes 150 ms", ["", "seconds", "ideal", "ratio"], rows, about))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--feeds", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", help="candidates, separated by commas; reader_search is among them only if asked for")
    parser.add_argument("--latency", action="store_true", help="measure wall time at 150 ms latency as well")
    parser.add_argument("--candidate")
    parser.add_argument("--phase")
    parser.add_argument("--folder", type=Path)
    args = parser.parse_args()
    if args.candidate:
        runners: dict[str, Callable[..., Coroutine[Any, Any, None]]] = {
            "feedmill": run_feedmill,
            "feedmill_no_stories": run_feedmill_no_stories,
            "same_work_stories": run_same_work_stories,
            "same_work": run_same_work,
            "bare": run_bare,
            "reader": run_reader,
            "reader_search": run_reader_search,
        }
        uvloop.run(runners[args.candidate](args.folder, (args.folder / "urls").read_text().split(), args.phase))
        return
    if not FARM.exists():
        raise SystemExit("the feed farm (../shared/feedfarm) is not here")
    candidates = tuple(args.only.split(",")) if args.only else CANDIDATES
    farm = Farm(args.feeds)
    try:
        rounds = [one_round(args.feeds, candidates, farm) for _ in range(args.rounds)]
    finally:
        farm.end()
    report_rounds(args.feeds, rounds, candidates)
    if args.latency:
        report_latency(args.feeds)


if __name__ == "__main__":
    main()
