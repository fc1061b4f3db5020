"""Why a feed can't be added: each reason has a sentence and a next step of its own (`i18n/*/trouble.json`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from feedmill.errors import CallerError
from feedmill.library.discovery import Tried
from feedmill.library.limits import NoRoom
from feedmill.library.unfit import AlreadySubscribed, NotSubscribable, QuotaReached
from feedmill.model.sizes import size_in_words

KINDS = {
    "dns": "dns",
    "connect": "connect",
    "reset": "connect",
    "tls": "tls",
    "certificate": "tls",
    "timeout": "timeout",
    "protocol": "answer",
    "truncated": "answer",
    "decoding": "answer",
    "partial": "answer",
    "encoding": "answer",
    "headers": "answer",
    "empty": "answer",
    "too_many_redirects": "redirects",
    "redirect_loop": "redirects",
    "too_large": "too_large",
    "blocked": "blocked",
    "address": "refused",
    "port": "refused",
    "options": "options",
    "busy": "busy",
    "not_a_feed": "not_a_feed",
}
STATUSES = {401: "login", 403: "login", 404: "not_found", 407: "login", 410: "gone", 429: "busy", 503: "busy"}


@dataclass(frozen=True, slots=True)
class Trouble:
    """`kind` names the sentences. `may_pass`: adding it anyway makes sense. `subscription_id`: what there is."""

    kind: str
    url: str
    values: dict[str, str | int] = field(default_factory=dict)
    detail: str = ""
    may_pass: bool = False
    subscription_id: int | None = None


def trouble(error: CallerError, url: str) -> Trouble:
    """The trouble that an error of the library means for a person; others than those of subscribing pass."""
    match error:
        case AlreadySubscribed(more=more):
            return Trouble("subscribed", url, subscription_id=int(more["subscription_id"]))
        case QuotaReached(more=more):
            return Trouble("quota", url, {"n": int(more["quota_feeds"])})
        case NoRoom(more=more):
            return Trouble("room", url, {"size": size_in_words(more["quota_bytes"])})
        case NotSubscribable(code="bad_address"):
            return Trouble("address", url, detail=str(error))
        case NotSubscribable(more=more):
            values = {"host": host_of(url), "status": more.get("http_status") or 0}
            return Trouble(_kind(more), url, values, str(error), error.may_pass)
    raise error


def tried_of(error: CallerError) -> Sequence[Tried]:
    more: Mapping[str, Any] = getattr(error, "more", {})
    return [Tried(**each) for each in more.get("tried", ())]


def host_of(url: str) -> str:
    """The host as a person would say it."""
    complete = url if "://" in url else f"https://{url}"
    try:
        return urlsplit(complete).hostname or url
    except ValueError:
        return url


def _kind(more: Mapping[str, Any]) -> str:
    status = more.get("http_status")
    if isinstance(status, int) and status in STATUSES:
        return STATUSES[status]
    if isinstance(status, int) and status >= 400:
        return "server" if status >= 500 else "http"
    return KINDS.get(str(more.get("reason")), "answer")
