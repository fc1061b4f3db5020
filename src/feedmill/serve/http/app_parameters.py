"""Reads the parameters of reader apps, which send them in the query, in a form, or in both.

Apps that have signed in send thousands of ids at once; other clients are read much less of.
"""

from collections.abc import Iterable
from urllib.parse import parse_qsl

from starlette.requests import Request

from feedmill.errors import BadInput, TooLarge
from feedmill.i18n.messages import Message
from feedmill.run_in_thread import run_in_thread_if_large
from feedmill.serve.http.body_limits import with_body_limit

MAX_FORM_BYTES = 4_000_000
MAX_UNKNOWN_BYTES = 1_000_000
"""For whoever has not shown yet who they are."""
MAX_FIELDS = 25_000
MAX_MULTIPART_FIELDS = 1000
MAX_NUMBER = 2**63 - 1


class AppParameters:
    """Parameters by name; each may have several values, in the order in which they were sent."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._values: dict[str, list[str]] = {}
        for name, value in pairs:
            self._values.setdefault(name, []).append(value)

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def all(self, name: str) -> list[str]:
        return self._values.get(name, [])

    def text(self, name: str, default: str = "") -> str:
        """The first value; the default if there is none."""
        return next(iter(self.all(name)), default)

    def number(self, name: str, default: int | None = None) -> int | None:
        """The first value as a number that is not negative; the default if it is absent or empty."""
        written = self.text(name).strip()
        if not written:
            return default
        if not (written.isascii() and written.isdigit()) or len(written) > 19 or int(written) > MAX_NUMBER:
            raise BadInput(Message("error.not_a_number", name=name), field=name)
        return int(written)


async def read_parameters(request: Request, max_bytes: int = MAX_FORM_BYTES) -> AppParameters:
    """The parameters of the form, then those of the query."""
    query = await _parse(request.url.query)
    return AppParameters(_without_nul([*await _form(request, max_bytes), *query]))


async def _form(request: Request, max_bytes: int) -> list[tuple[str, str]]:
    if request.method not in {"POST", "PUT"}:
        return []
    too_large = TooLarge(Message("error.form_too_large", megabytes=max_bytes // 1_000_000))
    limited = with_body_limit(request, max_bytes, too_large)
    if request.headers.get("content-type", "").lower().startswith("multipart/"):
        sent = await limited.form(max_fields=MAX_MULTIPART_FIELDS, max_files=0, max_part_size=max_bytes)
        return [(name, value) for name, value in sent.multi_items() if isinstance(value, str)]
    return await _parse((await limited.body()).decode("utf-8", "replace").strip())


async def _parse(text: str) -> list[tuple[str, str]]:
    if text.count("&") >= MAX_FIELDS:
        raise BadInput(Message("error.too_many_fields", most=MAX_FIELDS))
    return await run_in_thread_if_large(len(text), parse_qsl, text, keep_blank_values=True, errors="replace")


def _without_nul(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """PostgreSQL stores no NUL, and no app sends one."""
    found = list(pairs)
    if any("\0" in name or "\0" in value for name, value in found):
        raise BadInput(Message("error.form_with_nul"))
    return found
