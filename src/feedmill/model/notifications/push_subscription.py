"""Subscriptions of browsers to web push."""

from dataclasses import dataclass, field

# The scheme of notification targets that are browsers; no address has it.
PUSH_SCHEME = "webpush"


@dataclass(frozen=True, slots=True)
class PushSubscription:
    """The address of a browser at its push service, and the keys that messages to it are encrypted with."""

    endpoint: str = field(repr=False)
    p256dh: str
    auth: str = field(repr=False)
