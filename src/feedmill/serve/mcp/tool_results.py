"""Turns the result or the error of a tool into the protocol's form, without passwords in URLs."""

import json
from collections.abc import Sequence
from typing import Any

import mcp_types as types

from feedmill.errors import CallerError, FeedmillError
from feedmill.library.subscriptions.errors import NotSubscribable, SeveralFeeds
from feedmill.serve.mcp.redact_urls import hide_secrets, redact_urls
from feedmill.serve.mcp.tool_definitions import ToolResult
from feedmill.serve.mcp.untrusted_text import wrap_untrusted

SAID = "the block tells what the site answered"
_NOT_AVAILABLE = "a part of this server does not answer now; try again later"


def to_call_result(result: ToolResult, secrets: Sequence[str] = ()) -> types.CallToolResult:
    """The facts as JSON, followed by the marked block without `secrets`; both also as structured content."""
    if result.untrusted_text is not None:
        text = hide_secrets(redact_urls(result.untrusted_text), secrets)
        result = result.model_copy(update={"untrusted_text": wrap_untrusted(text)})
    structured = _redacted(result.model_dump(mode="json"))
    facts = {name: value for name, value in structured.items() if name != "untrusted_text" and value is not None}
    parts = [json.dumps(facts, ensure_ascii=False)]
    if result.untrusted_text is not None:
        parts.append(result.untrusted_text)
    return types.CallToolResult(content=[_text("\n\n".join(parts))], structured_content=structured)


def error_result(error: FeedmillError) -> types.CallToolResult:
    """The error by its code. What a site said about itself stands in a marked block."""
    if not isinstance(error, CallerError):
        return _error({"code": "not_available", "message": _NOT_AVAILABLE}, None)
    said = _said_by_site(error)
    facts = {
        "code": getattr(error, "code", "bad_request"),
        "message": redact_urls(str(error)) if said is None else SAID,
    }
    facts |= {name: error.more[name] for name in ("subscription_id", "may_pass", "http_status") if name in error.more}
    return _error(facts, said)


def _error(facts: dict[str, Any], said: str | None) -> types.CallToolResult:
    parts = [json.dumps(facts, ensure_ascii=False), *([wrap_untrusted(said)] if said else [])]
    return types.CallToolResult(content=[_text("\n\n".join(parts))], structured_content=facts, is_error=True)


def _said_by_site(error: CallerError) -> str | None:
    """What a site answered when it was asked for a feed; None for other errors."""
    match error:
        case SeveralFeeds():
            return "\n".join(f"- {redact_urls(each['url'])}  {each['title']}" for each in error.more["candidates"])
        case NotSubscribable():
            return redact_urls(str(error))
    return None


def _redacted(value: Any) -> Any:
    match value:
        case str():
            return redact_urls(value)
        case dict():
            return {name: _redacted(part) for name, part in value.items()}
        case list():
            return [_redacted(part) for part in value]
    return value


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)
