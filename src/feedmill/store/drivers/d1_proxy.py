"""The HTTP client of the D1 proxy worker: requests, responses, and its errors translated into ours."""

from io import BytesIO
from typing import Any, TypeVar

import aiohttp
import msgspec

from feedmill.errors import (
    BadSetting,
    ConstraintViolated,
    DatabaseAccessDenied,
    DatabaseError,
    DatabaseUnavailable,
    StatementRefused,
)
from feedmill.i18n.connection_errors import connection_message
from feedmill.i18n.messages import Message
from feedmill.store.database import Row
from feedmill.store.drivers.d1_statements import COUNTED, D1Statement

# D1 ends a query after 30 s; the rest is for the network.
RESPONSE_SECONDS = 45
CONNECT_SECONDS = 10
# The largest body that the proxy worker reads (its body.js).
MAX_BODY_BYTES = 16 * 1024 * 1024


class ConnectionLost(DatabaseUnavailable):
    """There was no connection, or it was lost before the response was complete."""


class QueryResponse(msgspec.Struct):
    results: list[dict[str, Any]]


class StatementResult(msgspec.Struct):
    changes: int
    results: list[Any]


class BatchResponse(msgspec.Struct):
    results: list[StatementResult]


class ExecResponse(msgspec.Struct):
    pass


class ProxyError(msgspec.Struct):
    code: str
    message: str


class ErrorResponse(msgspec.Struct):
    error: ProxyError


ProxyResponse = TypeVar("ProxyResponse", QueryResponse, BatchResponse, ExecResponse, ErrorResponse)


class D1ProxyClient:
    def __init__(self, url: str, token: str, answer_seconds: float = RESPONSE_SECONDS) -> None:
        if not url.startswith(("https://", "http://")):
            raise BadSetting(f"the proxy worker's address must start with https://, not {url!r:.40}")
        if "@" in url.split("/")[2]:
            raise BadSetting("the proxy worker's address takes no name and password, only the token")
        if not token.isascii() or not token.isprintable() or " " in token:
            raise BadSetting("the proxy worker's token must be plain characters without spaces or line breaks")
        self._url = url.rstrip("/")
        self._token = token
        self._timeout = aiohttp.ClientTimeout(total=answer_seconds, connect=CONNECT_SECONDS)
        self._session: aiohttp.ClientSession | None = None

    async def query(self, statement: D1Statement) -> list[Row]:
        """The rows that a statement selects; retried once if the connection is lost."""
        body = _encode(statement._asdict())
        try:
            answer = await self._post("/query", body)
        except ConnectionLost:
            answer = await self._post("/query", body)
        return list(self._decode(answer, QueryResponse).results)

    async def batch(self, statements: list[D1Statement]) -> list[int]:
        """How many rows each statement changed. Never sent twice: the first request may have been executed."""
        body = _encode({"statements": [statement._asdict() for statement in statements]})
        changed = self._decode(await self._post("/batch", body), BatchResponse).results
        if len(changed) != len(statements):
            raise self._strange()
        return [_count(statement, one) for statement, one in zip(statements, changed, strict=True)]

    async def exec(self, statement: D1Statement) -> None:
        self._decode(await self._post("/exec", _encode({"sql": statement.sql})), ExecResponse)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def _post(self, path: str, body: bytes) -> bytes:
        try:
            status, answer = await self._send(path, body)
        except TimeoutError as error:
            seconds = self._timeout.total or 0
            raise DatabaseUnavailable(Message("database.proxy_timeout", url=self._url, seconds=seconds)) from error
        except aiohttp.ClientError as error:
            lost = isinstance(error, aiohttp.ClientConnectionError | aiohttp.ClientPayloadError)
            kind = ConnectionLost if lost else DatabaseUnavailable
            reason = connection_message(error) or _one_line(error)
            raise kind(Message("database.proxy_unreachable", url=self._url, detail=reason)) from error
        if status != 200:
            raise self._refusal(status, answer)
        return answer

    async def _send(self, path: str, body: bytes) -> tuple[int, bytes]:
        # No redirects: the token is for this URL only.
        post = self._http().post(self._url + path, data=BytesIO(body), allow_redirects=False)
        async with post as response:
            return response.status, await response.read()

    def _http(self) -> aiohttp.ClientSession:
        if self._session is None:
            headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
            self._session = aiohttp.ClientSession(headers=headers, timeout=self._timeout)
        return self._session

    def _decode(self, answer: bytes, kind: type[ProxyResponse], status: int = 200) -> ProxyResponse:
        try:
            return msgspec.json.decode(answer, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self._strange(status) from error

    def _strange(self, status: int = 200) -> DatabaseUnavailable:
        return DatabaseUnavailable(Message("database.proxy_strange", url=self._url, status=status))

    def _refusal(self, status: int, answer: bytes) -> DatabaseError:
        fault = self._decode(answer, ErrorResponse, status).error
        detail = _one_line(fault.message)
        if status == 401:
            return DatabaseAccessDenied(Message("database.proxy_token", url=self._url))
        if status == 403:
            return DatabaseAccessDenied(Message("database.proxy_denied", url=self._url, detail=detail))
        if fault.code.startswith("constraint_"):
            return ConstraintViolated(detail)
        if status in (400, 413, 422):
            return StatementRefused(Message("database.refused", database="D1", detail=detail))
        return DatabaseUnavailable(Message("database.proxy_failed", url=self._url, detail=detail))


def _one_line(text: object) -> str:
    return " ".join(str(text).split())


def _count(statement: D1Statement, changed: StatementResult) -> int:
    return len(changed.results) if statement.sql.endswith(COUNTED) else changed.changes


def _encode(body: dict[str, Any]) -> bytes:
    encoded = msgspec.json.encode(body)
    if len(encoded) > MAX_BODY_BYTES:
        raise StatementRefused(Message("database.proxy_body", most=MAX_BODY_BYTES, given=len(encoded)))
    return encoded
