"""An assistant in tests: the official MCP client, connected over HTTP to a listening site or to a command."""

import asyncio
import json
import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import mcp_types as types
import uvicorn
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.types import ASGIApp

from tests.waiting import LONGEST_WAIT

BLOCK = re.compile(r"<<<UNTRUSTED (?P<nonce>[0-9a-f]{32})>>>\n(?P<text>.*?)\n<<<END UNTRUSTED (?P=nonce)>>>", re.DOTALL)


@dataclass(frozen=True)
class ToolAnswer:
    """The answer of a tool: its facts, the text of feeds, and everything that a model reads outside the block."""

    result: types.CallToolResult

    @property
    def facts(self) -> dict[str, Any]:
        assert isinstance(self.result.structured_content, dict)
        return self.result.structured_content

    @property
    def shown(self) -> str:
        """All that a model reads."""
        return "\n".join(part.text for part in self.result.content if isinstance(part, types.TextContent))

    @property
    def untrusted(self) -> str:
        """What is inside the block."""
        found = BLOCK.search(self.shown)
        assert found is not None, self.shown
        return found["text"]

    @property
    def trusted(self) -> str:
        """What is outside the block, in both forms of the answer."""
        structured = json.dumps(self.facts | {"untrusted_text": BLOCK.sub("", self.facts.get("untrusted_text") or "")})
        return f"{BLOCK.sub('', self.shown)}\n{structured}"

    @property
    def error(self) -> str | None:
        return self.facts["code"] if self.result.is_error else None


@dataclass(frozen=True)
class Assistant:
    """A program with an API key. It connects anew with each call, as the server keeps nothing of a session.

    `mode` is the era of the protocol that it speaks.
    """

    url: str
    key: str
    mode: str = "auto"

    async def call(self, tool: str, **arguments: Any) -> ToolAnswer:
        async with self.connection() as client:
            return await call_tool(client, tool, **arguments)

    async def tools(self) -> dict[str, types.Tool]:
        async with self.connection() as client:
            return {tool.name: tool for tool in (await client.list_tools()).tools}

    @asynccontextmanager
    async def connection(self, transport: httpx2.AsyncBaseTransport | None = None) -> AsyncIterator[Client]:
        headers = {"Authorization": f"Bearer {self.key}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=LONGEST_WAIT, transport=transport) as http,
            Client(streamable_http_client(f"{self.url}/mcp", http_client=http), mode=self.mode) as client,
        ):
            yield client


async def call_tool(client: Client, tool: str, **arguments: Any) -> ToolAnswer:
    result = await client.call_tool(tool, arguments)
    assert isinstance(result, types.CallToolResult)
    return ToolAnswer(result)


@asynccontextmanager
async def listening(asgi: ASGIApp) -> AsyncIterator[str]:
    """The address at which an application listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        config = uvicorn.Config(asgi, log_config=None, lifespan="off", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server._serve(sockets=[taken]))
        try:
            yield f"http://127.0.0.1:{taken.getsockname()[1]}"
        finally:
            server.should_exit = True
            await serving
