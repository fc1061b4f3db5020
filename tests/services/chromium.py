"""Debian's Chromium, driven by Playwright. Never one that Playwright downloads."""

import asyncio
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from playwright.sync_api import Browser, sync_playwright

from tests.services.server import ServiceMissing

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# The same engine without windows takes a third less time; the whole browser will do where it is missing.
PROGRAMS = ("chromium-headless-shell", "chromium")
# In milliseconds. Only a browser that never starts takes so long.
LONGEST_START = 120_000


@dataclass(frozen=True)
class Chromium:
    browser: Browser
    version: str
    # Playwright's event loop, which runs in this thread as long as Playwright does.
    loop: asyncio.AbstractEventLoop
    name: str = "Chromium"

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Playwright can be used only inside the block; outside of it, tests may run their own event loop."""
        asyncio._set_running_loop(self.loop)
        try:
            yield
        finally:
            asyncio._set_running_loop(None)


@contextmanager
def running_chromium() -> Iterator[Chromium]:
    path = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if path is None:
        raise ServiceMissing("there is no Chromium (apt-get install chromium-headless-shell fonts-noto-cjk)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS, timeout=LONGEST_START)
        loop = asyncio.get_running_loop()
        asyncio._set_running_loop(None)
        try:
            yield Chromium(browser, browser.version, loop)
        finally:
            asyncio._set_running_loop(loop)
            browser.close()
