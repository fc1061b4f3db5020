"""HTTP requests and event streams to one server; problems become exceptions."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from types import MappingProxyType, TracebackType
from typing import Any, TypeVar

import aiohttp
import msgspec

from feedmill.api_schemas.response_body import ResponseBody

ResponseType = TypeVar("ResponseType", bound=ResponseBody)
Query = Mapping[str, str | int | None]
NO_QUERY: Query = MappingProxyType({})

TIMEOUT = aiohttp.ClientTimeout(total=60, sock_connect=10)
# An event stream lasts as long as its job; the server sends something at least every 15 seconds.
STREAM_TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=60)


class ApiError(Exception):
    """An error response: `code` for programs, `detail` for people, `more` with all fields of the response."""

    def __init__(self, status: int, code: str, detail: str, more: Mapping[str, Any]) -> None:
        super().__init__(detail)
        self.status, self.code, self.detail, self.more = status, code, detail, more
        self.retry_after: float | None = None


class ServerUnreachable(Exception):
    """Feedmill can't be reached, or did not answer in time."""


class ApiConnection:
    """A session with one Feedmill, opened when it is entered."""

    def __init__(self, url: str, key: str) -> None:
        self._api = url.rstrip("/") + "/api"
        self._key = key
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> "ApiConnection":
        headers = {"Authorization": f"Bearer {self._key}"}
        self._session = aiohttp.ClientSession(headers=headers, timeout=TIMEOUT)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()

    async def ask(
        self, method: str, path: str, form: type[ResponseType], json: Any = None, query: Query = NO_QUERY
    ) -> ResponseType:
        """Sends a request and returns the parsed response."""
        body = await self.read(method, path, json, query)
        return form.model_validate_json(body)

    async def read(
        self, method: str, path: str, json: Any = None, query: Query = NO_QUERY, data: bytes | None = None
    ) -> bytes:
        """Sends a request and returns the body of the response."""
        sending: dict[str, Any] = {"data": data} if data is not None else {"json": json}
        try:
            async with self._open().request(method, self._api + path, params=_given(query), **sending) as response:
                body = await response.read()
                if response.status >= 400:
                    raise _problem(response.status, body, response.headers)
                return body
        except (aiohttp.ClientConnectionError, TimeoutError) as error:
            raise ServerUnreachable(
                f"Feedmill at {self._api} does not answer: {error or 'no answer in time'}"
            ) from error

    async def events(self, path: str) -> AsyncIterator[tuple[str, bytes]]:
        """Yields the events of a stream, each with its name; reconnects where it was if the connection breaks."""
        last = ""
        while True:
            headers = {"Last-Event-ID": last} if last else {}
            try:
                async with self._open().get(self._api + path, headers=headers, timeout=STREAM_TIMEOUT) as response:
                    if response.status >= 400:
                        raise _problem(response.status, await response.read(), response.headers)
                    async for name, number, data in _events(response.content):
                        last = number or last
                        yield name, data
                return
            except (aiohttp.ClientPayloadError, aiohttp.ServerDisconnectedError):
                await asyncio.sleep(1)
            except (aiohttp.ClientConnectionError, TimeoutError) as error:
                raise ServerUnreachable(
                    f"Feedmill at {self._api} does not answer: {error or 'no answer in time'}"
                ) from error

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            raise RuntimeError("use it as `async with Feedmill(…) as feedmill`")
        return self._session


async def _events(lines: aiohttp.StreamReader) -> AsyncIterator[tuple[str, str, bytes]]:
    name, number, data = "", "", b""
    async for line in lines:
        field, _, value = line.rstrip(b"\r\n").partition(b":")
        value = value.removeprefix(b" ")
        match field:
            case b"event":
                name = value.decode()
            case b"id":
                number = value.decode()
            case b"data":
                data += value
            case b"" if data:
                yield name, number, data
                name, number, data = "", "", b""


def _given(query: Query) -> dict[str, str]:
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in query.items()
        if value is not None
    }


def _problem(status: int, body: bytes, headers: Mapping[str, str]) -> ApiError:
    try:
        details = msgspec.json.decode(body, type=dict[str, Any])
    except msgspec.DecodeError:
        details = {}
    problem = ApiError(status, details.get("code", "unknown"), details.get("detail", f"HTTP {status}"), details)
    after = headers.get("Retry-After", "")
    problem.retry_after = float(after) if after.isdigit() else None
    return problem
