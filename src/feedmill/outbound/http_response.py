"""A response as it arrived: status, headers, body and certificate."""

from collections.abc import Sequence
from datetime import datetime

RawHeaders = Sequence[tuple[bytes, bytes]]
MAX_HEADER_TEXT = 8192


class HttpResponse:
    """A complete response. `body` is decoded, and empty for statuses whose body is not read.

    `headers` has the headers by lower-case name; repeated ones are joined, very long ones are left out.
    """

    def __init__(self, status: int, raw_headers: RawHeaders) -> None:
        self.status = status
        self.headers = _joined(raw_headers)
        self.body = b""
        self.received_bytes = 0
        self.delimited = True
        self.certificate_until: datetime | None = None
        self._raw_headers = raw_headers

    def raw(self, name: bytes) -> bytes:
        """The first header of that name as received; empty if there is none."""
        return next((value for key, value in self._raw_headers if key.lower() == name), b"")

    def text(self, name: str) -> str:
        """The header of that name; empty if there is none."""
        return self.headers.get(name, "")


def _joined(raw_headers: RawHeaders) -> dict[str, str]:
    joined: dict[str, str] = {}
    for name, value in raw_headers:
        key, text = _text(name).lower(), _text(value)
        if key in joined:
            text = f"{joined[key]}, {text}"
        if len(text) <= MAX_HEADER_TEXT:
            joined[key] = text
    return joined


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")
