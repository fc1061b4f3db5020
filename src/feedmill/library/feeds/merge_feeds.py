"""Lets an administrator merge one feed into another.

The entries stay with their feed, unless the admin has seen them listed and wants them moved.
"""

from datetime import datetime

from feedmill.encryption import Encryption
from feedmill.errors import BadInput, Conflict
from feedmill.i18n.messages import Message
from feedmill.model.user import Actor
from feedmill.outbound.encrypted_options import same_options
from feedmill.outbound.user_urls import BadUrl, parse_user_url
from feedmill.store.admin.feeds import AdminFeed, merge_into, read_admin_feed
from feedmill.store.database import Database
from feedmill.store.feeds.feeds_by_url import feed_ids_by_any_url
from feedmill.store.feeds.merge_feeds import MergePreview, preview_merge
from feedmill.store.feeds.url_history import merged_feeds

MOST_DIGITS = 15


class NotMergeable(Conflict):
    """The two feeds can't be merged; `code` says why."""

    def __init__(self, code: str, message: Message) -> None:
        super().__init__(message)
        self.code = code


async def find_feed_to_merge(db: Database, text: str) -> AdminFeed:
    """The feed with that id or URL; raises `BadInput` if there is none."""
    typed = text.strip()
    if typed.isascii() and typed.isdecimal() and len(typed) <= MOST_DIGITS:
        found = await read_admin_feed(db, int(typed))
    else:
        found = await _at_address(db, typed)
    if found is None:
        raise BadInput(Message("error.no_such_feed_here"), field="into")
    return found


async def plan_merge(db: Database, encryption: Encryption, source: AdminFeed, target: AdminFeed) -> MergePreview:
    """The effect of merging the first into the second; raises `NotMergeable` if that is not allowed."""
    if source.feed.id == target.feed.id:
        raise NotMergeable("same_feed", Message("error.merge_same_feed"))
    # A subscriber of one feed must not read what the password of the other opens.
    same = same_options(encryption, source.feed.http_options, target.feed.http_options)
    if not same or source.feed.is_private or target.feed.is_private:
        raise NotMergeable("private_feed", Message("error.merge_private_feed"))
    if {source.feed.id, target.feed.id} & set(await merged_feeds(db)):
        raise NotMergeable("merged_already", Message("error.merged_already"))
    return await preview_merge(db, source.feed.id, target.feed.id)


async def merge_into_feed(
    db: Database,
    encryption: Encryption,
    source: AdminFeed,
    target: AdminFeed,
    by: Actor,
    now: datetime,
    *,
    move_entries: bool = False,
    up_to: int | None = None,
) -> tuple[MergePreview, int]:
    """Moves the subscribers of the first to the second, with their states of entries that both feeds have.

    `move_entries` moves the other entries too: all of them, or up to the entry `up_to`, the last one that the admin
    was shown. Returns the preview and the number of moved entries.
    """
    preview = await plan_merge(db, encryption, source, target)
    newest = preview.newest_movable or 0
    move_up_to = (newest if up_to is None else min(newest, up_to)) if move_entries else None
    return preview, await merge_into(db, source.feed, target.feed, move_up_to, by, now)


async def _at_address(db: Database, text: str) -> AdminFeed | None:
    try:
        url = parse_user_url(text).url
    except BadUrl as error:
        raise BadInput(error.message, field="into") from error
    feed_id = (await feed_ids_by_any_url(db, [url])).get(url)
    return await read_admin_feed(db, feed_id) if feed_id is not None else None
