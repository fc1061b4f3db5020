"""Parses a URL as a user typed it, and splits off a login in it."""

from dataclasses import dataclass

import msgspec

from feedmill.errors import BadInput, CallerError
from feedmill.html.links import absolute_url
from feedmill.outbound.errors import RefusedError
from feedmill.outbound.urls import parse_url

# The column's length, which is the same in every database.
MAX_URL_LENGTH = 2048


class BadUrl(CallerError):
    """That is no address a feed can be fetched from; the text says why."""


@dataclass(frozen=True, slots=True)
class PastedUrl:
    """`url` is normal and without secrets; a name and password that were in it are in `http_options`."""

    url: str
    http_options: str | None = None


def parse_pasted_url(text: str) -> PastedUrl:
    """Reads what a person pasted: `https://` may be missing, `feed:` is understood."""
    written = text.strip()
    complete = written if "://" in written or written.lower().startswith("feed:") else f"https://{written}"
    try:
        target = parse_url(absolute_url(complete) or complete)
    except RefusedError as error:
        raise BadUrl(f"{_without_login(written)} can't be fetched: {error}") from error
    if len(target.url) > MAX_URL_LENGTH:
        raise BadUrl(f"{_without_login(written)} can't be kept: the URL is longer than {MAX_URL_LENGTH} characters")
    return PastedUrl(target.url, _options(target.credentials))


def _options(credentials: tuple[str, str] | None) -> str | None:
    if credentials is None:
        return None
    return msgspec.json.encode({"basic_auth": credentials}).decode()


def _without_login(text: str) -> str:
    """The text without what stands before an @ (it may be a password), and not without end."""
    rest = text.rpartition("@")[2]
    return f"{rest[:100]}…" if len(rest) > 100 else rest or "an empty URL"


def parse_url_without_login(text: str) -> str:
    """The URL in its normal form, or `BadInput`; whether its address is allowed is seen when it is asked."""
    try:
        address = parse_pasted_url(text)
    except BadUrl as error:
        raise BadInput(str(error), field="url") from error
    if address.http_options is not None:
        raise BadInput("the URL must have no name and password in it", field="url")
    return address.url
