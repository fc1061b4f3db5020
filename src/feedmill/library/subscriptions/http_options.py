"""Reads how a feed is requested (login, cookie, proxy, headers) from a form, and says what is shown of it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.model.fetch_options import MAX_HEADERS, MAX_OPTION_LENGTH, TEXT_OPTIONS, FetchOptions
from feedmill.model.setting_definitions import FeedSetting
from feedmill.outbound.encrypted_options import encode_options, parse_options
from feedmill.outbound.errors import RefusedError
from feedmill.outbound.urls import parse_url

# The fields of the form; those of one line are the texts of `FetchOptions`.
LINE_FIELDS = ("name", "password", *(option.name for option in TEXT_OPTIONS))
FORM_FIELDS = (*LINE_FIELDS, "headers")

_SENDABLE = re.compile(r"[\x20-\x7e]*")
_HEADER = re.compile(r"([A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}):[ \t]*([\x20-\x7e]*)")


@dataclass(frozen=True, slots=True)
class HttpOptionsSummary:
    """What is shown of how a feed is requested: `shown` has the texts that open nothing, `kept` names secrets."""

    name: str | None
    shown: Mapping[str, str | None]
    kept: frozenset[str]
    header_names: tuple[str, ...]
    verify_tls: bool


def summarize_http_options(stored: str | None) -> HttpOptionsSummary | None:
    if stored is None:
        return None
    options = parse_options(stored)
    secrets = [each.name for each in TEXT_OPTIONS if each.options.is_secret]
    return HttpOptionsSummary(
        name=options.basic_auth[0] if options.basic_auth else None,
        shown={each.name: getattr(options, each.name) for each in TEXT_OPTIONS if not each.options.is_secret},
        kept=frozenset(name for name in secrets if getattr(options, name) is not None),
        header_names=tuple(options.headers),
        verify_tls=options.verify_tls,
    )


def parse_http_options(written: Mapping[str, str], stored: str | None = None, *, verify_tls: bool = True) -> str | None:
    """The options of a form, joined with the stored ones, as JSON; None for the default.

    `written` has texts by the names of `FORM_FIELDS`. A secret that is left empty stays. `BadInput` names the field
    that can't be sent.
    """
    before = parse_options(stored)
    fields = {name: written.get(name, "") for name in FORM_FIELDS}
    _check(fields)
    texts: dict[str, Any] = {option.name: _text(option, fields[option.name], before) for option in TEXT_OPTIONS}
    return encode_options(
        FetchOptions(
            basic_auth=_login(fields["name"], fields["password"], before),
            headers=parse_header_lines(fields["headers"]) if fields["headers"].strip() else before.headers,
            verify_tls=verify_tls,
            **texts,
        )
    )


def check_login_name(name: str) -> None:
    """Raises `BadInput` for a colon, which separates name and password in the header."""
    if ":" in name:
        raise BadInput(Message("error.colon_in_name"), "name")


def check_proxy(text: str) -> None:
    """Raises `BadInput` for anything but an http URL."""
    try:
        is_http = parse_url(text).url.startswith("http://")
    except RefusedError as error:
        raise BadInput(Message("error.bad_proxy", what=error.message), "proxy") from error
    if not is_http:
        raise BadInput(Message("error.proxy_scheme"), "proxy")


def _check(fields: Mapping[str, str]) -> None:
    for name in LINE_FIELDS:
        if len(fields[name]) > MAX_OPTION_LENGTH or not _SENDABLE.fullmatch(fields[name]):
            raise BadInput(Message("error.ascii_only"), name)
    check_login_name(fields["name"])
    if fields["password"] and not fields["name"]:
        raise BadInput(Message("error.password_without_name"), "name")


def _text(option: FeedSetting, written: str, before: FetchOptions) -> str | None:
    if option.name == "proxy" and written:
        check_proxy(written)
    stays: str | None = getattr(before, option.name) if option.options.is_secret else None
    return written or stays


def _login(name: str, password: str, before: FetchOptions) -> tuple[str, str] | None:
    if not name:
        return None
    if before.basic_auth and before.basic_auth[0] == name and not password:
        return before.basic_auth
    return name, password


def parse_header_lines(text: str) -> dict[str, str]:
    """Headers, one on a line; `BadInput` if a line is none, or if there are too many."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    found = [_HEADER.fullmatch(line) for line in lines]
    if len(lines) > MAX_HEADERS or len(text) > MAX_OPTION_LENGTH or not all(found):
        raise BadInput(Message("error.bad_headers", most=MAX_HEADERS), "headers")
    return {line[1]: line[2] for line in found if line}
