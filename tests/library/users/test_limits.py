"""Limits per user, and the error when one is reached."""

import pytest

from feedmill.errors import LimitExceeded
from feedmill.library.entries.labels import ensure_label, make_label
from feedmill.library.search.saved_searches import create_saved_search
from feedmill.library.subscriptions.folders import ensure_folders, make_folder
from feedmill.library.users.limits import MAX_COUNTS, ByteQuotaReached, check_byte_quota
from feedmill.model.user import User
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.schema import raw_bodies, users
from tests.library.small_library import SmallLibrary


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets every limit to two."""
    for kind in MAX_COUNTS:
        monkeypatch.setitem(MAX_COUNTS, kind, 2)


async def test_the_numbers_of_labels_folders_and_searches_are_limited(db: Database, few: None) -> None:
    alice, bob = await SmallLibrary(db).person("alice"), await SmallLibrary(db).person("bob")
    for name in ("one", "two"):
        await make_label(db, alice.id, name)
        await make_folder(db, alice.id, name, 0, 0)
        await create_saved_search(db, alice.id, name, name)

    for refused in (
        make_label(db, alice.id, "three"),
        make_folder(db, alice.id, "three", 0, 0),
        create_saved_search(db, alice.id, "three", "three"),
        ensure_label(db, alice.id, "three"),
        ensure_folders(db, alice.id, [("three",)]),
    ):
        with pytest.raises(LimitExceeded, match="at most 2"):
            await refused
    assert await ensure_label(db, alice.id, "one")
    assert ("one",) in await ensure_folders(db, alice.id, [("one",), ("two",)])
    assert (await make_label(db, bob.id, "three")).name == "three"


async def test_the_storage_quota_counts_what_is_kept_for_the_feeds_of_a_user(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice, bob = await library.person("alice"), await library.person("bob")
    hers, theirs, other = [await library.feed(name) for name in ("hers", "theirs", "other")]
    for user, feed in ((alice, hers), (alice, theirs), (bob, theirs), (bob, other)):
        await library.subscribe(user, feed)
    for feed in (hers, theirs, other):
        await _keep_body(any_db, feed, 400)

    for enough in (None, 801):
        await _set_quota(any_db, alice, enough)
        await check_byte_quota(any_db, alice.id)
    for used_up in (800, 0):
        await _set_quota(any_db, alice, used_up)
        with pytest.raises(ByteQuotaReached, match="800 of"):
            await check_byte_quota(any_db, alice.id)
    await check_byte_quota(any_db, bob.id)


async def _set_quota(db: Database, user: User, most: int | None) -> None:
    await db.batch([Step(users.update().where(users.c.id == user.id).values(quota_bytes=most))])


async def _keep_body(db: Database, feed_id: int, size: int) -> None:
    row = {"feed_id": feed_id, "key": str(feed_id), "fetched_at": "2026", "sha256": "s", "size": size}
    await db.batch([Step(insert(raw_bodies, *row), row)])
