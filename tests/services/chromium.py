"""Debian's Chromium, driven by Playwright. Never one that Playwright downloads."""

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


@dataclass(frozen=True)
class Chromium:
    browser: Browser
    version: str
    name: str = "Chromium"


@contextmanager
def running_chromium() -> Iterator[Chromium]:
    path = shutil.which("chromium")
    if path is None:
        raise ServiceMissing("there is no chromium (apt-get install chromium fonts-noto-cjk)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        try:
            yield Chromium(browser, browser.version)
        finally:
            browser.close()
