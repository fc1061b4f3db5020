"""WebSub: our subscriptions at hubs, and what hubs push."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from feedmill.i18n.messages import Message
from feedmill.model.fetch_outcome import Response
from feedmill.model.refresh import RawBody


class HubMode(StrEnum):
    """What we ask a hub for."""

    SUBSCRIBE = "subscribe"
    UNSUBSCRIBE = "unsubscribe"


@dataclass(frozen=True, slots=True)
class HubSubscription:
    """Our subscription to the topic of a feed at its hub.

    `wanted` is what we want, `asked` what we asked the hub for and it has not confirmed. The hub signs with `secret`,
    and with `new_secret` once it has confirmed the request that has it. Without `lease_until` it never confirmed one.
    """

    id: int
    feed_id: int
    hub_url: str
    topic_url: str
    callback_token: str
    secret: str | None
    new_secret: str | None
    wanted: HubMode
    asked: HubMode | None
    lease_until: datetime | None
    last_push_at: datetime | None
    attempts: int
    last_error: Message | None
    next_attempt_at: datetime

    def is_active(self, now: datetime) -> bool:
        return self.lease_until is not None and self.lease_until > now


@dataclass(frozen=True, slots=True)
class PushedBody:
    """A body that a hub pushed and that is archived; `lease_until` is the end of the subscription."""

    response: Response
    raw: RawBody
    lease_until: datetime
