"""A large library: a thousand feeds, thirty thousand unread entries."""

import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from feedmill.library.users.sign_in import begin_session
from feedmill.model.user import RequestOrigin
from feedmill.store.users.users import user_of_id
from tests.scripted_web import Web
from tests.serve.rest.site import running_site
from tests.serve.web.visitor import Visitor
from tests.sqlite_template import copy_template
from tests.store.library_rows import ALICE, add_library

MOST_BYTES = 60_000
MOST_SECONDS = 0.1


@pytest.fixture
async def reader(tmp_path: Path) -> AsyncIterator[Visitor]:
    await copy_template(tmp_path / "feedmill.db", add_library)
    async with Web() as web, running_site(tmp_path, web) as site:
        alice = await user_of_id(site.app.db, ALICE)
        assert alice is not None
        token, _ = await begin_session(site.app.db, alice, RequestOrigin(None, None), datetime.now(UTC))
        client = await site.browser()
        client.cookies.set("feedmill_session", token)
        yield Visitor(alice.name, client)


async def test_a_list_is_fast_and_small_however_much_is_unread(reader: Visitor) -> None:
    for path in ("/unread", "/all"):
        seconds = []
        for _ in range(6):
            begun = time.process_time()
            answer = await reader.client.get(path)
            seconds.append(time.process_time() - begun)
        assert answer.status_code == 200
        assert answer.num_bytes_downloaded < MOST_BYTES
        assert min(seconds) < MOST_SECONDS


async def test_pages_follow_each_other_without_gap_or_repeat(reader: Visitor) -> None:
    seen: list[str] = []
    path = "/unread"
    for _ in range(4):
        page = await reader.see(path)
        seen += page.xpath("//li[contains(@class, 'row')]/@data-id")
        [path] = page.xpath("//li[@class='more']/a/@href")

    assert [int(id) for id in seen] == list(range(30_000, 30_000 - 20 - 3 * 50, -1))


async def test_infinite_scrolling_loads_rows_only(reader: Visitor) -> None:
    [more] = (await reader.see("/unread")).xpath("//li[@class='more']/a/@hx-get")

    answer = await reader.client.get(more, headers={"HX-Request": "true"})

    assert answer.text.count('<li class="row') == 50
    assert answer.text.count('<li class="more">') == 1
    assert "<html" not in answer.text
