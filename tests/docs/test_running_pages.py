"""Every block of every page on running Feedmill is followed, or has a reason why it can't be here."""

import functools
import threading
import time
from collections.abc import Callable, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from feedmill.library.webhooks.delivery import signature
from tests.docs.follow_page import Operator, PageSetup, first_line
from tests.docs.pages import ROOT, Block, blocks
from tests.docs.running_setups import NOT_HERE, SETUPS

RUNNING = ROOT / "docs" / "running"
PAGES = sorted(path.name for path in RUNNING.glob("*.md"))


def blocks_of(page: str) -> list[Block]:
    return list(blocks((RUNNING / page).read_text()))


@pytest.fixture(scope="module")
def feed_url() -> Iterator[str]:
    """The example feed on a web server of its own."""
    handler = functools.partial(SimpleHTTPRequestHandler, directory=str(ROOT / "examples" / "feed"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/herons.xml"
        server.shutdown()


@pytest.fixture
def follow(tmp_path: Path, feed_url: str, request: pytest.FixtureRequest) -> Iterator[Callable[[str], Operator]]:
    operators: list[Operator] = []

    def follow_page(page: str) -> Operator:
        setup = SETUPS[page](tmp_path, feed_url, request) if page in SETUPS else PageSetup()
        operators.append(operator := Operator(tmp_path, setup))
        for block in blocks_of(page):
            if first_line(block) not in NOT_HERE.get(page, {}):
                operator.follow(block)
        return operator

    yield follow_page
    for operator in operators:
        operator.stop_servers()


@pytest.mark.external
@pytest.mark.parametrize("page", [page for page in PAGES if len(NOT_HERE.get(page, {})) < len(blocks_of(page))])
def test_every_block_does_what_it_says(page: str, follow: Callable[[str], Operator]) -> None:
    follow(page)


def test_what_is_not_followed_is_on_its_page() -> None:
    there = {page: {first_line(block) for block in blocks_of(page)} for page in PAGES}

    assert {page: set(named) - there[page] for page, named in NOT_HERE.items() if set(named) - there[page]} == {}


def test_the_receiver_of_webhooks_tells_a_genuine_request_from_a_forged_or_old_one() -> None:
    [example] = [block for block in blocks_of("webhooks.md") if block.language == "python"]
    names: dict[str, Any] = {}
    exec(compile(example.text, "webhooks.md", "exec"), names)  # our own page
    now, old = str(int(time.time())), str(int(time.time()) - 400)

    def judge(timestamp: str, body: bytes) -> bool:
        return bool(names["is_genuine"]("secret", timestamp, signature("secret", timestamp, b"{}"), body))

    assert (judge(now, b"{}"), judge(now, b"[]"), judge(old, b"{}")) == (True, False, False)
