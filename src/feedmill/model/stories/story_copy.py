"""The same article in another feed."""

from msgspec import Struct


class StoryCopy(Struct, frozen=True, gc=False):
    """The same article in another feed of the user."""

    id: int
    subscription_id: int
    feed_title: str | None
    title: str | None
    unread: bool
