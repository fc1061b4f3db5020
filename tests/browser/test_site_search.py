"""The documentation as a site can be searched without a network."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.docs.pages import ROOT


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def documentation(tmp_path: Path) -> Iterator[str]:
    """The address of the built site."""
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(tmp_path))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_search_finds_a_page_and_asks_no_other_server(chromium_service: Any, documentation: str) -> None:
    page = chromium_service.browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    page.goto(f"{documentation}/search.html?q=prometheus")
    found = page.locator("#mkdocs-search-results a", has_text="Monitoring").first
    expect(found).to_be_visible()
    found.click()
    expect(page.locator("h1").first).to_have_text("Monitoring#")
    page.close()

    assert [url for url in asked if not url.startswith(documentation)] == []
