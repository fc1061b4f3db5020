"""Benchmarks a push of a WebSub hub: from its first byte to the unread count in an open browser.

    python bench/push.py [--pushes 15]

A site on a real port, a hub in a thread, and Chromium with the page of unread entries open. A push has one new entry;
the time ends when the browser shows the new number in its sidebar. The ratio says how often it fits into a second.
"""

import argparse
import asyncio
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from report import Table, report_table

from feedmill.library.users.manage_users import create_first_admin
from feedmill.store.feeds.add_feeds import add_feed
from tests.browser.browser_user import BrowserUser
from tests.browser.sample_feeds import PASSWORD
from tests.library.small_library import SmallLibrary
from tests.services.chromium import running_chromium
from tests.websub.hub import Subscriber, WebSubHub, running_hub
from tests.websub.pushed_site import PushedSite, pushed_site

PATIENCE = 60


@contextmanager
def served_site(folder: Path, hub: WebSubHub) -> Iterator[tuple[PushedSite, asyncio.AbstractEventLoop]]:
    """The site in a thread of its own, with real time."""
    opened: list[PushedSite] = []
    loop, ready, leave = asyncio.new_event_loop(), threading.Event(), asyncio.Event()

    async def live() -> None:
        async with pushed_site(folder, hub) as site:
            clock = lambda: datetime.now(UTC)  # noqa: E731
            for holder in (site.site.app.tools, site.site.app.hub_subscriber.tools):
                object.__setattr__(holder, "clock", clock)
            site.alice = await create_first_admin(site.site.app.db, "alice", PASSWORD, site.now)
            await prepare(site)
            opened.append(site)
            ready.set()
            await leave.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(live()))
    thread.start()
    assert ready.wait(PATIENCE)
    try:
        yield opened[0], loop
    finally:
        loop.call_soon_threadsafe(leave.set)
        thread.join(PATIENCE)
        loop.close()


async def prepare(site: PushedSite) -> None:
    site.serve("old")
    site.feed = await add_feed(site.site.app.db, site.topic, site.now)
    await SmallLibrary(site.site.app.db, site.now).subscribe(site.alice, site.feed.id)
    await site.fetch()


def measure(pushes: int) -> list[float]:
    """Milliseconds of each push."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running_hub() as hub,
        served_site(Path(folder), hub) as (site, loop),
        running_chromium() as chromium,
        chromium.in_use(),
    ):
        subscriber = asyncio.run_coroutine_threadsafe(site.subscribe(), loop).result(PATIENCE)
        page = chromium.browser.new_context(base_url=site.origin, service_workers="block").new_page()
        BrowserUser(page).sign_in("alice", PASSWORD)
        page.goto("/unread")
        shown = page.locator('.sidebar a[href="/unread"] .count, a[href="/unread"] .count').first
        shown.wait_for()
        # The stream of counts is open once it has sent the first ones.
        page.wait_for_timeout(1000)
        return [_push(hub, subscriber, site, page, shown, number) for number in range(pushes)]


def _push(hub: WebSubHub, to: Subscriber, site: PushedSite, page: object, shown: object, number: int) -> float:
    expected = str(number + 2)
    body = site.body(f"new {number}")
    started = time.perf_counter()
    assert hub.push(to, body).status == 202
    page.wait_for_function(  # type: ignore[attr-defined]
        "([element, text]) => element.textContent.trim() === text",
        arg=[shown.element_handle(), expected],  # type: ignore[attr-defined]
        polling="raf",
    )
    return (time.perf_counter() - started) * 1000


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pushes", type=int, default=15)
    times = sorted(measure(parser.parse_args().pushes))
    row = ["a push to the count in an open browser", times[0], median(times), times[-1], 1000 / median(times)]
    columns = ["what", "best, ms", "median, ms", "worst, ms", "a second / median"]
    about = "Half a second of it is the pause in which changes that follow each other are sent together."
    report_table(Table("WebSub: from a push to an unread entry", columns, [row], about=about))


if __name__ == "__main__":
    main()
