"""Starts `feedmill demo`, and opens its pages in Chromium."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from playwright.sync_api import Browser, Page

from feedmill.serve.web.core.appearance import APPEARANCE_COOKIE

STOP_SECONDS = 60


@dataclass(frozen=True)
class RunningDemo:
    """`sign_in_url` is the address that signs in."""

    sign_in_url: str

    @property
    def origin(self) -> str:
        return self.sign_in_url.partition("/demo/")[0]

    def open_page(self, browser: Browser, size: tuple[int, int], theme: str = "light", language: str = "en") -> Page:
        """A page of its own window, signed in."""
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            base_url=self.origin,
            color_scheme="light",
            locale=language,
            timezone_id="Europe/Berlin",
            reduced_motion="reduce",
        )
        context.add_cookies([{"name": APPEARANCE_COOKIE, "value": f"theme={theme}", "url": self.origin}])
        page = context.new_page()
        page.goto(self.sign_in_url)
        return page


def wait_for_images(page: Page) -> None:
    """Not until the network is idle: some pages keep an event stream open."""
    page.wait_for_function("[...document.images].every((each) => each.complete || each.loading === 'lazy')")


def open_next_article(page: Page, key: str = "j") -> None:
    """Presses the key, and waits until the article is there."""
    page.keyboard.press(key)
    page.wait_for_selector(".row.current.opened")
    wait_for_images(page)


@contextmanager
def run_demo() -> Iterator[RunningDemo]:
    command = [sys.executable, "-m", "feedmill", "demo"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield RunningDemo(_printed_address(process))
        finally:
            process.terminate()
            process.wait(STOP_SECONDS)


def _printed_address(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"open (\S+)", line):
            return found[1]
    raise RuntimeError("the demo ended at once")
