"""Parses URLs as users write them, and splits off a login in them."""

from dataclasses import dataclass

from feedmill.absolute_urls import absolute_url
from feedmill.errors import BadInput, CallerError
from feedmill.i18n.messages import Message
from feedmill.outbound.encrypted_options import encode_login
from feedmill.outbound.errors import RefusedError
from feedmill.outbound.urls import parse_url

# The column's length, which is the same in every database.
MAX_URL_LENGTH = 2048


class BadUrl(CallerError):
    """A feed can't be fetched from this URL; the text says why."""


@dataclass(frozen=True, slots=True)
class UserUrl:
    """`url` is normalized and without a login; the login that was in it is in `http_options`."""

    url: str
    http_options: str | None = None


def parse_user_url(text: str) -> UserUrl:
    """Parses a URL that a user wrote: `https://` may be missing, `feed:` is accepted; raises `BadUrl`."""
    written = text.strip()
    complete = written if "://" in written or written.lower().startswith("feed:") else f"https://{written}"
    try:
        target = parse_url(absolute_url(complete) or complete)
    except RefusedError as error:
        raise BadUrl(Message("error.not_fetchable", url=_without_login(written), what=error.message)) from error
    if len(target.url) > MAX_URL_LENGTH:
        raise BadUrl(Message("error.pasted_url_too_long", url=_without_login(written), most=MAX_URL_LENGTH))
    return UserUrl(target.url, encode_login(target.credentials))


def _without_login(text: str) -> str:
    """The text without what is before an @, which may be a password, cut to 100 characters."""
    rest = text.rpartition("@")[2]
    return f"{rest[:100]}…" if len(rest) > 100 else rest or "an empty URL"


def parse_url_without_login(text: str) -> str:
    """The normalized URL; raises `BadInput`. Whether its address is allowed is checked when it is requested."""
    try:
        address = parse_user_url(text)
    except BadUrl as error:
        raise BadInput(error.message, field="url") from error
    if address.http_options is not None:
        raise BadInput(Message("error.url_with_login"), field="url")
    return address.url
