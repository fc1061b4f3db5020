"""Benchmarks the archiving of images against a bare loop of the same client: images per second, CPU, bytes per entry.

usage: python bench/archive.py [--images 1000] [--size 30000] [--rounds 3]

The bare loop fetches with the outbound client and writes each body to a file with fsync: no database, no leases, no
keys. Both fetch five at once from the same loopback server, which is a separate process.
"""

import argparse
import asyncio
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

from aiohttp import web
from report import Table, report_table

from feedmill.app import App, build_app
from feedmill.archive.images.download import archive_images
from feedmill.collect.refresh import refresh_feed
from feedmill.settings import load_settings
from feedmill.store.archive.image_tasks import waiting_images
from feedmill.store.feeds.add_feeds import add_feed
from feedmill.store.feeds.claims import claim_feeds

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
PER_ENTRY = 10
AT_ONCE = 5


def serve(port: "multiprocessing.connection.Connection", images: int, size: int) -> None:
    """Serves one feed whose entries contain images on many hosts of 127.x.y.z."""
    body = PNG + os.urandom(size - len(PNG))

    async def feed(request: web.Request) -> web.Response:
        own = urlsplit(str(request.url)).port
        entries = []
        for entry in range(images // PER_ENTRY):
            urls = [f"http://127.0.1.{(entry + n) % 50 + 1}:{own}/{entry}/{n}.png" for n in range(PER_ENTRY)]
            format_cell = "".join(f"&lt;img src='{url}'&gt;" for url in urls)
            entries.append(
                f"<item><guid>g{entry}</guid><title>t</title><description>{format_cell}</description></item>"
            )
        text = f"<rss version='2.0'><channel><title>b</title>{''.join(entries)}</channel></rss>"
        return web.Response(text=text, content_type="application/rss+xml")

    async def image(request: web.Request) -> web.Response:
        return web.Response(body=body, content_type="image/png")

    async def main() -> None:
        app = web.Application()
        app.add_routes([web.get("/feed", feed), web.get("/{entry}/{name}", image)])
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "0.0.0.0", 0)
        await site.start()
        port.send(site._server.sockets[0].getsockname()[1])
        await asyncio.Event().wait()

    asyncio.run(main())


async def archive_all(app: App, urls: list[str], folder: Path) -> None:
    while (await archive_images(app.images)).taken:
        pass


async def bare_loop(app: App, urls: list[str], folder: Path) -> None:
    (folder / "bare").mkdir()
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(n: int, url: str) -> None:
        async with slots:
            outcome = await app.images.client.get(url)
            await asyncio.to_thread(write, folder / "bare" / str(n), outcome.body)  # type: ignore[union-attr]

    await asyncio.gather(*(one(n, url) for n, url in enumerate(urls)))


def write(path: Path, body: bytes) -> None:
    with path.open("xb") as file:
        file.write(body)
        file.flush()
        os.fsync(file.fileno())


async def measure(way: Callable[[App, list[str], Path], Awaitable[None]], port: int) -> tuple[float, float, int, int]:
    """Returns seconds, CPU seconds, the number of images, and the bytes of the database."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        settings = load_settings(
            data=name, allow_private="127.0.0.0/8", host_gap=0, images_at_once=AT_ONCE, log_level="error"
        )
        async with build_app(settings):
            pass
        empty = database_bytes(folder)
        async with build_app(settings) as app:
            feed = await add_feed(app.db, f"http://127.0.0.1:{port}/feed", datetime.now(UTC))
            [claim] = await claim_feeds(app.db, [feed.id], datetime.now(UTC))
            await refresh_feed(app.tools, claim)
            later = datetime.now(UTC) + timedelta(hours=1)
            urls = [image.url for image in await waiting_images(app.db, later, 1_000_000)]
            wall, cpu = time.perf_counter(), time.process_time()
            await way(app, urls, folder)
            spent = time.perf_counter() - wall, time.process_time() - cpu
        return *spent, len(urls), database_bytes(folder) - empty


def database_bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.glob("feedmill.db*"))


NAMES = {bare_loop: "bare loop", archive_all: "Feedmill"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=1000)
    parser.add_argument("--size", type=int, default=30_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(theirs, options.images, options.size), daemon=True)
    server.start()
    port = ours.recv()
    cpus, lines = {}, []
    for way in (bare_loop, archive_all):
        rounds = [asyncio.run(measure(way, port)) for _ in range(options.rounds)]
        images = rounds[0][2]
        rate = statistics.median(images / wall for wall, *_ in rounds)
        cpus[way] = statistics.median(1000 * cpu / images for _, cpu, *_ in rounds)
        rows = rounds[0][3] / (images / PER_ENTRY) if way is archive_all else 0
        lines.append([NAMES[way], rate, cpus[way], cpus[way] / cpus[bare_loop], options.size * PER_ENTRY + rows, rows])
    report_table(
        Table(
            f"{options.images} images of {options.size} bytes, {AT_ONCE} at once",
            ["", "images/s", "CPU ms per image", "times the bare loop", "bytes per entry", "of it rows"],
            lines,
            "Compared with a loop that fetches with the same client and writes each file with fsync.",
        )
    )
    server.terminate()


if __name__ == "__main__":
    main()
