"""Reads what services say in the body of a successful response."""

import msgspec
from msgspec import Struct

from feedmill.model.services.save_service import ServiceKind

# JSON may be nested without end.
UNREADABLE = (msgspec.DecodeError, RecursionError)


class TokenAnswer(Struct):
    access_token: str = ""


class RaindropAnswer(Struct, rename="camel"):
    result: bool = True
    error_message: str = ""


class OmnivoreResult(Struct, rename="camel"):
    error_codes: list[str] = []


class OmnivoreData(Struct, rename="camel"):
    save_url: OmnivoreResult | None = None


class OmnivoreAnswer(Struct, rename="camel"):
    data: OmnivoreData | None = None
    errors: list[dict[str, object]] = []


def read_access_token(body: bytes) -> str:
    """The access token of a response of Wallabag; empty if it has none that can be sent."""
    try:
        token = msgspec.json.decode(body, type=TokenAnswer).access_token
    except UNREADABLE:
        return ""
    return token if token.isascii() and token.isprintable() and len(token) < 4000 else ""


def read_refusal(kind: ServiceKind, body: bytes) -> str | None:
    """What a service says went wrong in a response with a successful status."""
    try:
        if kind is ServiceKind.RAINDROP:
            answer = msgspec.json.decode(body, type=RaindropAnswer)
            return None if answer.result else answer.error_message[:200] or "result: false"
        if kind is ServiceKind.OMNIVORE:
            return _omnivore_refusal(msgspec.json.decode(body, type=OmnivoreAnswer))
    except UNREADABLE:
        return "no JSON"
    return None


def _omnivore_refusal(answer: OmnivoreAnswer) -> str | None:
    result = answer.data.save_url if answer.data else None
    if result is not None and not result.error_codes:
        return None
    codes = result.error_codes if result else [str(each.get("message", "")) for each in answer.errors]
    return ", ".join(codes)[:200] or "no result"
