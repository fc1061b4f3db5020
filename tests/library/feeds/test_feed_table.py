"""The table of a user's feeds."""

from datetime import date

import pytest

from feedmill.library.feeds.feed_table import NO_FOLDER, WEEKS, FeedTable, FeedTableQuery, entries_by_week, feed_table
from feedmill.library.subscriptions.folders import ensure_folders
from feedmill.model.user import User
from tests.flows.refresh_environment import DAY, NOW, RefreshEnvironment, answer, item
from tests.library.subscribers import Subscribers
from tests.scripted_web import Answer


@pytest.fixture
async def furnished(env: RefreshEnvironment, subscribers: Subscribers, alice: User) -> dict[str, int]:
    """Three feeds of Alice; the folders are `Work` and, inside it, `Code`."""
    folders = await ensure_folders(env.db, alice.id, [("Work", "Code")])
    zebra = answer(item("z1", date=NOW - DAY), item("z2", date=NOW - 9 * DAY), title="Zebra")
    await subscribers.subscribe(alice, env.web.serve("/zebra", zebra), folder_ids=(folders["Work", "Code"],))
    await subscribers.subscribe(alice, env.web.serve("/apple", answer(item("a"), title="apple pie")))
    broken = await subscribers.subscribe(alice, env.web.serve("/middle", answer(item("m"), title="Middle")))
    env.web.serve("/middle", Answer(status=404))
    await subscribers.refresh(broken.subscription)
    return {"/".join(path): id for path, id in folders.items()}


def titles(table: FeedTable) -> list[str]:
    return [row.subscription.title for row in table.rows]


async def test_feeds_are_ordered_by_title_whatever_their_case(
    env: RefreshEnvironment, alice: User, furnished: object
) -> None:
    table = await feed_table(env.db, alice.id, FeedTableQuery(), NOW)

    assert titles(table) == ["apple pie", "Middle", "Zebra"]
    assert (table.found, table.every, table.states) == (3, 3, {"healthy": 2, "failing": 1})


async def test_a_row_has_its_folders_its_size_and_its_weekly_counts(
    env: RefreshEnvironment, alice: User, furnished: object
) -> None:
    [row] = (await feed_table(env.db, alice.id, FeedTableQuery(text="zebra"), NOW)).rows

    assert row.folders == ["Work / Code"]
    assert row.bytes > 200
    assert row.weeks == [0] * (WEEKS - 2) + [1, 1]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (FeedTableQuery(text="PIE apple"), ["apple pie"]),
        (FeedTableQuery(text="/middle"), ["Middle"]),
        (FeedTableQuery(text="nothing"), []),
        (FeedTableQuery(state="failing"), ["Middle"]),
        (FeedTableQuery(folder_id=NO_FOLDER), ["apple pie", "Middle"]),
        (FeedTableQuery(sort="items", down=True), ["Zebra", "Middle", "apple pie"]),
        (FeedTableQuery(sort="state"), ["Middle", "apple pie", "Zebra"]),
        (FeedTableQuery(sort="folder"), ["apple pie", "Middle", "Zebra"]),
        (FeedTableQuery(most=2, page=2), ["Zebra"]),
    ],
)
async def test_the_table_can_be_filtered(
    env: RefreshEnvironment, alice: User, furnished: object, asked: FeedTableQuery, found: list[str]
) -> None:
    assert titles(await feed_table(env.db, alice.id, asked, NOW)) == found


async def test_a_folder_includes_its_subfolders(
    env: RefreshEnvironment, alice: User, furnished: dict[str, int]
) -> None:
    assert titles(await feed_table(env.db, alice.id, FeedTableQuery(folder_id=furnished["Work"]), NOW)) == ["Zebra"]


async def test_the_table_can_be_sorted_by_archive_size(env: RefreshEnvironment, alice: User, furnished: object) -> None:
    rows = (await feed_table(env.db, alice.id, FeedTableQuery(sort="size", down=True), NOW)).rows

    assert [row.bytes for row in rows] == sorted((row.bytes for row in rows), reverse=True)


async def test_a_user_sees_only_their_own_feeds(env: RefreshEnvironment, bob: User, furnished: object) -> None:
    assert (await feed_table(env.db, bob.id, FeedTableQuery(), NOW)).every == 0


def test_days_are_grouped_into_weeks() -> None:
    weeks = entries_by_week({"2026-01-01": 1, "2026-01-07": 2, "2026-01-08": 4, "2025-12-31": 9}, date(2026, 1, 1))

    assert weeks == [3, 4] + [0] * (WEEKS - 2)
