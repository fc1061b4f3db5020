"""Steps that store new entries with their image tasks and unread rows, and that store revisions."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from types import MappingProxyType
from typing import Any

import msgspec
from sqlalchemy import bindparam, select

from feedmill.model.refresh import IndexedWords, NewEntry, Revision
from feedmill.model.timestamps import iso_or_none, to_iso
from feedmill.store.database import Step
from feedmill.store.dialect import as_list, insert, one_of
from feedmill.store.entries.deferred_entries import steps_to_defer
from feedmill.store.schema import entries, image_tasks, revisions, subscriptions, unread, users
from feedmill.store.search.index import steps_to_index_entries, steps_to_index_revisions

NO_WORDS: Mapping[str, IndexedWords] = MappingProxyType({})

ENTRY = insert(
    entries,
    "feed_id",
    "guid",
    "sort_at",
    "refresh_token",
    "digest",
    "in_feed",
    "first_seen_at",
    "last_seen_at",
    "published_at",
    "undated",
    "updated_at",
    "language",
    "link",
    "title",
    "author",
    "image_url",
    "comments_url",
    "base_url",
    "categories",
    "enclosures",
    "summary",
    "content_html",
)
IMAGE = insert(
    image_tasks, "feed_id", "position", "original_url", "next_attempt_at", "created_at", "updated_at"
).values(
    entry_id=select(entries.c.id)
    .where(entries.c.feed_id == bindparam("feed_id"), entries.c.guid == bindparam("guid"))
    .scalar_subquery()
)
# New entries are unread for every subscriber who has not paused the feed. A refresh changes no other reading state.
# They are found by their guids: some feeds have thousands of entries, which would be read for each subscriber.
UNREAD = unread.insert().from_select(
    ["list_id", "sort_at", "entry_id", "subscription_id"],
    select(users.c.unread_list_id, entries.c.sort_at, entries.c.id, subscriptions.c.id)
    .select_from(
        subscriptions.join(users, users.c.id == subscriptions.c.user_id).join(
            entries, entries.c.feed_id == subscriptions.c.feed_id
        )
    )
    .where(
        subscriptions.c.feed_id == bindparam("feed_id"),
        subscriptions.c.paused == 0,
        one_of(entries.c.guid, "guids"),
        entries.c.refresh_token == bindparam("token"),
    ),
)
COUNT_UNREAD = (
    subscriptions.update()
    .where(subscriptions.c.feed_id == bindparam("feed_id"), subscriptions.c.paused == 0)
    .values(unread_count=subscriptions.c.unread_count + bindparam("new_entries"))
)
REVISION = insert(
    revisions, "entry_id", "number", "seen_at", "digest", "link", "title", "author", "summary", "content_html"
)
_next_digest = select(revisions.c.digest).where(
    revisions.c.entry_id == entries.c.id, revisions.c.number == entries.c.revision_count + 1
)
# One statement for all revisions, because D1 limits their number. The digest is set first: MySQL would otherwise
# read the new revision_count.
REVISED = (
    entries.update()
    .where(one_of(entries.c.id, "ids"))
    .ordered_values(("digest", _next_digest.scalar_subquery()), ("revision_count", entries.c.revision_count + 1))
)


def steps_to_add_entries(
    feed_id: int,
    token: str,
    new: Sequence[NewEntry],
    at: str,
    *,
    in_feed: bool,
    defers_unread: bool = False,
    words: Mapping[str, IndexedWords] = NO_WORDS,
) -> list[Step]:
    """The steps that store the new entries of the refresh with this token, first seen at `at`.

    `defers_unread`: their unread rows are added when the subscribers read. `words` has the indexed words of those that
    were tokenized already, by guid.
    """
    if not new:
        return []
    same = {
        "feed_id": feed_id,
        "refresh_token": token,
        "in_feed": int(in_feed),
        "first_seen_at": at,
        "last_seen_at": at,
    }
    return [
        Step(ENTRY, [same | _entry(entry) for entry in new]),
        *steps_to_index_entries(feed_id, new, words),
        *steps_to_add_images(feed_id, new, at),
        *(steps_to_defer if defers_unread else _steps_to_add_unread)(feed_id, token, [entry.guid for entry in new]),
    ]


def _steps_to_add_unread(feed_id: int, token: str, guids: Sequence[str]) -> list[Step]:
    params = {"feed_id": feed_id, "token": token, "guids": as_list(list(guids)), "new_entries": len(guids)}
    # Counts first: mark-all-read takes the same rows first, so the two run one after the other.
    return [Step(COUNT_UNREAD, params), Step(UNREAD, params)]


def steps_to_add_images(feed_id: int, new: Sequence[NewEntry], at: str) -> list[Step]:
    """The step that adds the image tasks of new entries."""
    images = [image for entry in new for image in _images(feed_id, entry, at)]
    return [Step(IMAGE, images)] if images else []


def steps_to_add_revisions(revised: Sequence[Revision], at: str) -> list[Step]:
    """The steps that add new texts as revisions; the old ones stay."""
    if not revised:
        return []
    return [
        Step(REVISION, [asdict(revision) | {"seen_at": at} for revision in revised]),
        Step(REVISED, {"ids": as_list([revision.entry_id for revision in revised])}),
        *steps_to_index_revisions(revised),
    ]


def _entry(entry: NewEntry) -> dict[str, Any]:
    return {
        "guid": entry.guid,
        "sort_at": to_iso(entry.sort_at),
        "digest": entry.digest,
        "published_at": to_iso(entry.published_at),
        "undated": int(entry.undated),
        "updated_at": iso_or_none(entry.updated_at),
        "language": entry.language,
        "link": entry.link,
        "title": entry.title,
        "author": entry.author,
        "image_url": entry.image_url,
        "comments_url": entry.comments_url,
        "base_url": entry.base_url,
        "categories": _json(entry.categories),
        "enclosures": _json(entry.enclosures),
        "summary": entry.summary,
        "content_html": entry.content_html,
    }


def _images(feed_id: int, entry: NewEntry, at: str) -> list[dict[str, Any]]:
    same = {"feed_id": feed_id, "guid": entry.guid, "next_attempt_at": at, "created_at": at, "updated_at": at}
    return [same | {"position": position, "original_url": url} for position, url in enumerate(entry.images)]


def _json(values: Sequence[Any]) -> str | None:
    return msgspec.json.encode(values).decode() if values else None
