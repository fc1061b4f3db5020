"""Who may use the MCP server: keys, scopes, other people's things, other sites, limits, and when it is off."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from feedmill.model.user import POOLS, READ, User
from tests.scripted_web import Web
from tests.serve.mcp.assistant import Assistant
from tests.serve.mcp.conftest import AssistedSite
from tests.serve.rest.site import running_site

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
HEADERS = {"Accept": "application/json, text/event-stream", "Authorization": "Bearer fm_alice"}


@pytest.fixture
async def browser(assisted: AssistedSite, alice: User) -> httpx.AsyncClient:
    return await assisted.site.browser(**HEADERS)


async def test_without_a_valid_key_nobody_gets_in(browser: httpx.AsyncClient) -> None:
    for headers in ({"Authorization": ""}, {"Authorization": "Bearer fm_unknown"}, {"Authorization": "Basic YTpi"}):
        refused = await browser.post("/mcp", json=PING, headers=headers)

        assert (refused.status_code, refused.json()["code"]) == (401, "not_signed_in")
        assert refused.headers["www-authenticate"] == "Bearer"
    assert (await browser.post("/mcp", json=PING)).json()["result"] == {}


async def test_a_key_sees_and_calls_the_tools_of_its_scopes(assisted: AssistedSite) -> None:
    await assisted.user("reader", scopes=(READ,))
    await assisted.user("taker", scopes=(POOLS,))
    reader, taker = Assistant(assisted.url, "fm_reader"), Assistant(assisted.url, "fm_taker")

    assert not {"mark_entries", "subscribe", "unsubscribe", "take_from_pool"} & (await reader.tools()).keys()
    assert set(await taker.tools()) == {"list_pools", "take_from_pool"}
    assert (await reader.call("subscribe", url="https://a.example/")).error == "not_allowed"
    assert (await reader.call("unsubscribe", feed_id=1)).error == "not_allowed"
    assert (await taker.call("list_feeds")).error == "not_allowed"


async def test_charlie_sees_nothing_of_alice(assisted: AssistedSite, assistant: Assistant, alice: User) -> None:
    await assisted.user("charlie")
    library = assisted.library
    feed = await library.subscribe(alice, await library.feed("news"), "News")
    folder = await library.folder(alice, "Tech", feed)
    [entry] = await library.arrive(1, "Supper")
    await assistant.call("label_entries", entry_ids=[entry], label="Food")
    charlie = Assistant(assisted.url, "fm_charlie")

    lists = [
        await charlie.call("list_feeds"),
        await charlie.call("list_entries", view="all"),
        await charlie.call("read_list", view="all"),
        await charlie.call("search_entries", query="supper"),
        await charlie.call("new_entries"),
    ]
    single: list[tuple[str, dict[str, Any]]] = [
        ("read_entry", {"entry_id": entry}),
        ("list_entries", {"feed_id": feed}),
        ("list_entries", {"folder_id": folder}),
        ("list_entries", {"label_id": 1}),
        ("list_feeds", {"folder_id": folder}),
        ("feed_health", {"feed_id": feed}),
        ("unsubscribe", {"feed_id": feed}),
        ("mark_list_read", {"feed_id": feed}),
    ]

    for answer in lists:
        assert [word for word in ("Supper", "News", "Tech", "Food") if word in answer.shown] == []
        assert not answer.facts.get("entries")
    for tool, arguments in single:
        assert (await charlie.call(tool, **arguments)).error == "not_found", tool
    assert (await charlie.call("mark_entries", entry_ids=[entry], read=True)).facts["missing"] == [entry]
    assert (await charlie.call("take_from_pool", group="1")).error == "unknown_group"


async def test_pages_of_other_sites_are_refused(browser: httpx.AsyncClient) -> None:
    own = await browser.post("/mcp", json=PING, headers={"Origin": "http://feedmill.test"})
    other = await browser.post("/mcp", json=PING, headers={"Origin": "http://evil.example"})
    rebound = await browser.post("/mcp", json=PING, headers={"Origin": "http://evil.example", "Host": "evil.example"})

    assert [answer.status_code for answer in (own, other, rebound)] == [200, 403, 421]


async def test_there_is_no_stream_and_no_session(browser: httpx.AsyncClient) -> None:
    for method in ("GET", "DELETE"):
        refused = await browser.request(method, "/mcp")

        assert (refused.status_code, refused.headers["allow"]) == (405, "POST")
    assert "mcp-session-id" not in (await browser.post("/mcp", json=PING)).headers


async def test_requests_are_limited_like_those_of_the_api(tmp_path: Path) -> None:
    async with Web() as web, running_site(tmp_path, web, api_per_minute=8) as site:
        await site.person("alice")
        browser = await site.browser(**HEADERS)
        answers = [await browser.post("/mcp", json=PING) for _ in range(4)]

    assert 429 in {answer.status_code for answer in answers}
    assert answers[0].status_code == 200


async def test_a_large_request_is_refused(browser: httpx.AsyncClient) -> None:
    large = await browser.post("/mcp", json=PING | {"params": {"text": "x" * 1_000_000}})

    assert large.status_code == 413


async def test_it_can_be_turned_off(tmp_path: Path) -> None:
    async with Web() as web, running_site(tmp_path, web, mcp=False) as site:
        await site.person("alice")

        assert (await (await site.browser(**HEADERS)).post("/mcp", json=PING)).status_code in (404, 405)


async def test_without_its_library_the_answer_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "mcp"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "feedmill.serve.mcp.endpoint", raising=False)
    monkeypatch.delitem(sys.modules, "feedmill.serve.mcp.server", raising=False)
    monkeypatch.setitem(sys.modules, "mcp", None)
    async with Web() as web, running_site(tmp_path, web) as site:
        answer = await (await site.browser(**HEADERS)).post("/mcp", json=PING)

    assert (answer.status_code, answer.json()["code"]) == (404, "mcp_not_installed")
    assert "feedmill[mcp]" in answer.json()["detail"]


async def test_many_requests_at_once_are_answered(assisted: AssistedSite, assistant: Assistant) -> None:
    answers = await asyncio.gather(*(assistant.call("list_feeds") for _ in range(8)))

    assert [answer.facts["unread"] for answer in answers] == [0] * 8
