"""`feedmill mcp` with the official client on its standard input and output."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from feedmill.adapters.database import open_migrated_database
from feedmill.settings import load_settings
from tests.cli.command import assert_one_line, environment, feedmill
from tests.flows.refresh_environment import answer, item
from tests.library.small_library import SmallLibrary
from tests.scripted_web import Web
from tests.serve.mcp.assistant import call_tool
from tests.sqlite_template import copy_template

pytestmark = pytest.mark.external


@asynccontextmanager
async def started(folder: Path, *args: str) -> AsyncIterator[Client]:
    """The command as a program of an assistant starts it; what it logs goes to the file `log`."""
    given = {"data": str(folder), "allow_private": "127.0.0.0/8", "host_gap": "0", "log_level": "debug"}
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "feedmill", "mcp", *args], env=environment(given), cwd=folder
    )
    with (folder / "log").open("w") as log:
        async with Client(stdio_client(command, errlog=log)) as client:
            yield client


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    """A data folder with Alice, who reads one feed."""
    await copy_template(tmp_path / "feedmill.db")
    async with open_migrated_database(load_settings(data=str(tmp_path))) as db:
        library = SmallLibrary(db)
        alice = await library.person("alice")
        await library.subscribe(alice, await library.feed("news"), "News")
        await library.arrive(1, "Supper")
    return tmp_path


async def test_an_assistant_on_this_machine_reads_and_subscribes(folder: Path) -> None:
    async with Web() as web, started(folder, "alice") as client:
        url = web.serve("/feed", answer(item("a"), item("b"), title="More"))
        listed = await call_tool(client, "list_feeds")
        added = await call_tool(client, "subscribe", url=url)
        asked = await call_tool(client, "unsubscribe", feed_id=1)
        done = await call_tool(client, "unsubscribe", feed_id=1, confirmation=asked.facts["confirmation"])

    assert (listed.facts["unread"], "News" in listed.untrusted) == (1, True)
    assert (added.facts["is_fetched"], added.facts["feed"]["unread"]) == (True, 2)
    assert done.facts["done"]
    assert "mcp_action_confirmed" in (folder / "log").read_text()


async def test_read_only_offers_what_changes_nothing(folder: Path) -> None:
    async with started(folder, "alice", "--read-only") as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        refused = await call_tool(client, "unsubscribe", feed_id=1)

    assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools.values())
    assert refused.error == "not_allowed"


def test_an_unknown_user_is_refused_in_one_line(tmp_path: Path) -> None:
    assert_one_line(feedmill("mcp", "nobody", cwd=tmp_path), "no account nobody", code=2)
