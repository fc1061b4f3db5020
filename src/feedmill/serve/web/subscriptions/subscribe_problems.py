"""Maps the errors of subscribing to problems, each with a text and a next step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from feedmill.collect.discovery.request_log import DiscoveryStep
from feedmill.errors import CallerError
from feedmill.i18n.byte_sizes import format_bytes
from feedmill.i18n.messages import Message
from feedmill.library.subscriptions.errors import AlreadySubscribed, NotSubscribable, QuotaReached
from feedmill.library.users.limits import ByteQuotaReached
from feedmill.model.hosts import host_of

PROBLEM_KINDS = {
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
class SubscribeProblem:
    """`kind` is part of the text keys. `may_pass`: it can be added anyway. `subscription_id` is the existing one."""

    kind: str
    url: str
    values: dict[str, str | int] = field(default_factory=dict)
    detail: Message | None = None
    may_pass: bool = False
    subscription_id: int | None = None


def subscribe_problem(error: CallerError, url: str) -> SubscribeProblem:
    """The problem to show for an error of the library; errors that are not about subscribing are raised again."""
    match error:
        case AlreadySubscribed(more=more):
            return SubscribeProblem("subscribed", url, subscription_id=int(more["subscription_id"]))
        case QuotaReached(more=more):
            return SubscribeProblem("quota", url, {"n": int(more["quota_feeds"])})
        case ByteQuotaReached(more=more):
            return SubscribeProblem("room", url, {"size": format_bytes(more["quota_bytes"])})
        case NotSubscribable(code="bad_address"):
            return SubscribeProblem("address", url, detail=error.message)
        case NotSubscribable(more=more):
            values = {"host": display_host(url), "status": more.get("http_status") or 0}
            return SubscribeProblem(_kind(more), url, values, error.message, error.may_pass)
    raise error


def tried_urls(error: CallerError) -> Sequence[DiscoveryStep]:
    return error.steps if isinstance(error, NotSubscribable) else ()


def display_host(url: str) -> str:
    """The host of a URL as the user typed it; the whole text if it has none."""
    return host_of(url if "://" in url else f"https://{url}") or url


def _kind(more: Mapping[str, Any]) -> str:
    status = more.get("http_status")
    if isinstance(status, int) and status in STATUSES:
        return STATUSES[status]
    if isinstance(status, int) and status >= 400:
        return "server" if status >= 500 else "http"
    return PROBLEM_KINDS.get(str(more.get("reason")), "answer")
