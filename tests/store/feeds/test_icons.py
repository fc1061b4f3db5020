"""Icons of feeds on every database."""

from datetime import timedelta
from hashlib import sha256

from feedmill.archive.images.file_types import GIF, ICO
from feedmill.model.image import DownloadedImage
from feedmill.model.timestamps import to_iso
from feedmill.model.user import User
from feedmill.store.database import Database, Row, Step
from feedmill.store.feeds.icons import (
    IconFailure,
    add_icon_tasks,
    find_icon,
    record_missing_icons,
    release_icon_tasks,
    save_icon,
    take_icon_tasks,
)
from feedmill.store.leases import LEASE
from feedmill.store.schema import feeds, icons
from feedmill.store.subscriptions.read_subscriptions import subscriptions_of
from tests.archive.images import sample_images
from tests.library.small_library import NOW, SmallLibrary

ADDRESS = "https://feed.example.org/favicon.ico"
ICON = DownloadedImage(ICO, sample_images.ICO)
DIGEST = sha256(sample_images.ICO).hexdigest()
NEXT = NOW + timedelta(days=30)


async def _read_by_alice(db: Database, *names: str) -> tuple[User, list[int]]:
    """Feeds that were fetched and that Alice subscribes to."""
    library = SmallLibrary(db)
    alice, found = await library.person(), [await library.feed(name) for name in names]
    for feed in found:
        await library.subscribe(alice, feed)
    await db.batch([Step(feeds.update().values(last_success_at=to_iso(NOW)))])
    return alice, found


async def _row(db: Database) -> Row:
    [row] = await db.query(icons.select())
    return row


async def test_icons_are_fetched_for_feeds_that_were_fetched_and_have_subscribers(any_db: Database) -> None:
    _, [read] = await _read_by_alice(any_db, "read")
    library = SmallLibrary(any_db)
    unread, nobodys = await library.feed("unread"), await library.feed("nobodys")
    await library.subscribe(await library.person("bob"), unread)
    success = feeds.update().where(feeds.c.id == nobodys).values(last_success_at=to_iso(NOW))
    await any_db.batch([Step(success)])

    for _ in range(2):
        await add_icon_tasks(any_db, NOW, 10)

    row = await _row(any_db)
    assert (row["feed_id"], row["attempts"], row["next_attempt_at"]) == (read, 0, to_iso(NOW))


async def test_the_number_of_icons_per_run_is_limited(any_db: Database) -> None:
    await _read_by_alice(any_db, "a", "b", "c")

    counts = []
    for _ in range(2):
        await add_icon_tasks(any_db, NOW, 2)
        counts.append(len(await any_db.query(icons.select())))

    assert counts == [2, 3]


async def test_a_feed_is_claimed_by_one_worker_until_the_lease_ends(any_db: Database) -> None:
    _, [feed] = await _read_by_alice(any_db, "a")
    await add_icon_tasks(any_db, NOW, 10)

    slow, [_] = await take_icon_tasks(any_db, NOW, most=10)
    _, meanwhile = await take_icon_tasks(any_db, NOW, most=10)
    quick, [_] = await take_icon_tasks(any_db, NOW + LEASE, most=10)
    await save_icon(any_db, [feed], quick, ADDRESS, ICON, NOW, NEXT)
    await save_icon(any_db, [feed], slow, ADDRESS, DownloadedImage(GIF, sample_images.GIF), NOW, NEXT)
    await record_missing_icons(any_db, slow, [IconFailure(feed, NEXT)])

    row = await _row(any_db)
    assert meanwhile == []
    assert (row["url"], row["sha256"], row["media_type"]) == (ADDRESS, DIGEST, "image/x-icon")
    assert (row["attempts"], row["next_attempt_at"], row["claim_token"]) == (0, to_iso(NEXT), None)


async def test_a_released_icon_is_due_at_once(any_db: Database) -> None:
    await _read_by_alice(any_db, "a")
    await add_icon_tasks(any_db, NOW, 10)
    token, [_] = await take_icon_tasks(any_db, NOW, most=10)

    await release_icon_tasks(any_db, token, NOW)

    _, again = await take_icon_tasks(any_db, NOW, most=10)
    assert [task.url for task in again] == ["https://a.example.org/"]


async def test_an_icon_is_visible_to_subscribers_of_a_feed_that_has_it(any_db: Database) -> None:
    alice, found = await _read_by_alice(any_db, "a", "b")
    charlie = await SmallLibrary(any_db).person("charlie")
    await add_icon_tasks(any_db, NOW, 10)
    before = [feed.icon for feed in await subscriptions_of(any_db, alice.id)]
    token, _ = await take_icon_tasks(any_db, NOW, most=10)

    await save_icon(any_db, found, token, ADDRESS, ICON, NOW, NEXT)

    names = [feed.icon or "" for feed in await subscriptions_of(any_db, alice.id)]
    assert (before, names) == ([None, None], [DIGEST[:16]] * 2)
    assert await find_icon(any_db, alice.id, names[0]) == (DIGEST, "image/x-icon", sample_images.ICO)
    assert await find_icon(any_db, alice.id, DIGEST) == (DIGEST, "image/x-icon", sample_images.ICO)
    assert await find_icon(any_db, alice.id, "f" * 16) is None
    assert await find_icon(any_db, charlie.id, DIGEST) is None


async def test_an_icon_that_is_no_longer_available_stays(any_db: Database) -> None:
    alice, [feed] = await _read_by_alice(any_db, "a")
    await add_icon_tasks(any_db, NOW, 10)
    token, _ = await take_icon_tasks(any_db, NOW, most=10)
    await save_icon(any_db, [feed], token, ADDRESS, ICON, NOW, NEXT)

    for counted in (True, False, True):
        token, _ = await take_icon_tasks(any_db, NEXT, most=10)
        await record_missing_icons(any_db, token, [IconFailure(feed, NEXT, counted)])

    assert (await _row(any_db))["attempts"] == 2
    assert await find_icon(any_db, alice.id, DIGEST) is not None


async def test_an_icon_is_deleted_with_its_feed(db: Database) -> None:
    await _read_by_alice(db, "a")
    await add_icon_tasks(db, NOW, 10)

    await db.batch([Step(feeds.delete())])

    assert await db.query(icons.select()) == []
