"""Lets an administrator change the URL of a feed."""

from datetime import datetime

from feedmill.encryption import Encryption
from feedmill.errors import BadInput, Conflict
from feedmill.i18n.messages import Message
from feedmill.model.feed import Feed
from feedmill.model.user import Actor
from feedmill.outbound.encrypted_options import encrypt_options
from feedmill.outbound.urls import may_share_secrets
from feedmill.outbound.user_urls import BadUrl, parse_user_url
from feedmill.store.admin.feeds import move_feed
from feedmill.store.database import Database


async def change_feed_url(
    db: Database, encryption: Encryption, feed: Feed, text: str, by: Actor, now: datetime
) -> None:
    """Changes the URL of a feed. A password is kept only if `may_share_secrets` allows it."""
    if feed.is_private:
        raise Conflict(Message("error.private_feed_url"))
    try:
        address = parse_user_url(text)
    except BadUrl as error:
        raise BadInput(error.message, field="url") from error
    if address.url == feed.url:
        return
    kept = feed.http_options if may_share_secrets(feed.url, address.url) else None
    await move_feed(db, feed, address.url, encrypt_options(encryption, address.http_options) or kept, by, now)
