"""Lists of feeds from other readers: planned, taken over, and taken over again after a crash."""

import pytest

from feedmill.library.subscriptions.export_opml import export_opml
from feedmill.library.subscriptions.folders import folder_paths
from feedmill.library.subscriptions.import_opml import BadOpml, ImportPlan, plan_import, run_import
from feedmill.library.subscriptions.opml import OpmlFeed, read_opml, write_opml
from feedmill.model.user import User
from feedmill.store.feeds.add_feeds import NewFeed, add_feeds
from feedmill.store.schema import feeds, folders, subscriptions
from feedmill.store.subscriptions.add_subscriptions import add_subscriptions
from feedmill.store.subscriptions.folders import folders_of
from tests.flows.world import ENCRYPTION, NOW, World, answer, item
from tests.library.readers import Readers

LISTED = [
    OpmlFeed("https://a.example/feed", "A", None, ("Tech", "Python")),
    OpmlFeed("https://a.example/feed", "A", None, ("Daily",)),
    OpmlFeed("https://b.example/feed", "B", "https://b.example/"),
]


def opml(*listed: OpmlFeed) -> bytes:
    return write_opml(listed or LISTED, title="List")


async def imported(world: World, user: User, data: bytes) -> ImportPlan:
    plan = await plan_import(world.db, user, data)
    await run_import(world.db, ENCRYPTION, user, plan, world.now)
    return plan


async def filed(world: World, readers: Readers, user: User) -> dict[str, set[str]]:
    paths = folder_paths(await folders_of(world.db, user.id))
    return {each.title: {"/".join(paths[id]) for id in each.folder_ids} for each in await readers.mine(user)}


async def test_a_list_becomes_subscriptions_in_their_folders(world: World, readers: Readers, alice: User) -> None:
    plan = await plan_import(world.db, alice, opml())
    feed_ids = await run_import(world.db, ENCRYPTION, alice, plan, NOW)

    assert await filed(world, readers, alice) == {"A": {"Tech/Python", "Daily"}, "B": set()}
    assert sorted(feed_ids) == sorted(each.feed_id for each in await readers.mine(alice))
    assert {each.state for each in await readers.mine(alice)} == {"queued"}


async def test_a_plan_changes_nothing(world: World, alice: User) -> None:
    plan = await plan_import(world.db, alice, opml())

    assert [set(plan.new), plan.here, plan.subscribed] == [{each.url for each in LISTED}, {}, {}]
    assert [await world.rows(table) for table in (feeds, folders, subscriptions)] == [[], [], []]


async def test_feeds_that_are_here_are_shared_and_those_one_has_are_left_as_they_are(
    world: World, readers: Readers, alice: User, bob: User
) -> None:
    url = world.web.serve("/feed", answer(item("a"), item("b"), title="News"))
    await readers.subscribe(alice, url, title="Mine")
    listed = opml(OpmlFeed(url, "Listed", None, ("F",)), OpmlFeed("https://new.example/", "New"))

    hers, his = await imported(world, alice, listed), await imported(world, bob, listed)

    assert [len(hers.new), len(hers.here), len(hers.subscribed)] == [1, 0, 1]
    assert [len(his.new), len(his.here), len(his.subscribed)] == [0, 2, 0]
    assert await filed(world, readers, alice) == {"Mine": set(), "New": set()}
    assert await filed(world, readers, bob) == {"Listed": {"F"}, "New": set()}
    assert {each.title: each.unread_count for each in await readers.mine(bob)} == {"Listed": 2, "New": 0}
    assert await readers.unread(bob) == 2


async def test_an_import_that_was_killed_goes_on_when_it_is_run_again(
    world: World, readers: Readers, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = opml(*(OpmlFeed(f"https://{n}.example/feed", f"Feed {n}", None, (f"F{n % 3}",)) for n in range(400)))
    lots = 0

    async def dies_at_the_second(*given: object) -> None:
        nonlocal lots
        lots += 1
        if lots == 2:
            raise SystemExit
        await add_subscriptions(*given)  # type: ignore[arg-type]

    monkeypatch.setattr("feedmill.library.subscriptions.import_opml.add_subscriptions", dies_at_the_second)
    with pytest.raises(SystemExit):
        await imported(world, alice, many)
    half = len(await readers.mine(alice))
    plan = await imported(world, alice, many)

    assert (half, len(plan.subscribed), len(plan.new)) == (150, 150, 250)
    assert await filed(world, readers, alice) == {f"Feed {n}": {f"F{n % 3}"} for n in range(400)}


async def test_what_can_not_be_taken_over_is_told_by_its_line(world: World, readers: Readers, alice: User) -> None:
    data = opml().replace(b"https://b.example/feed", b"gopher://b.example/")

    plan = await imported(world, alice, data)

    assert [(error.line, "gopher" in error.message) for error in plan.errors] == [(5, True)]
    assert [each.title for each in await readers.mine(alice)] == ["A"]


@pytest.mark.parametrize(
    "data", [b"", b"hello", b'<!DOCTYPE o [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><opml><outline text="&b;"/></opml>']
)
async def test_what_is_no_list_is_refused_with_its_reason(world: World, alice: User, data: bytes) -> None:
    with pytest.raises(BadOpml, match="line 1: "):
        await plan_import(world.db, alice, data)


async def test_a_list_is_taken_over_as_far_as_the_quota_goes(world: World, readers: Readers) -> None:
    charlie = await readers.person("charlie", quota_feeds=1)

    plan = await imported(world, charlie, opml())

    # Those that are in no folder come first in the file.
    assert [each.title for each in await readers.mine(charlie)] == ["B"]
    assert [error.message for error in plan.errors] == [
        "https://a.example/feed was left out: you may have at most 1 feeds"
    ]


async def test_a_login_in_a_list_makes_a_private_feed_and_is_never_exported(
    world: World, readers: Readers, alice: User
) -> None:
    data = opml(OpmlFeed("https://alice:secret@a.example/feed", "A"))
    await add_feeds(world.db, [NewFeed("https://a.example/feed")], NOW, NOW)

    await imported(world, alice, data)

    [mine] = await readers.mine(alice)
    assert (mine.url, mine.is_private) == ("https://a.example/feed", True)
    written = await export_opml(world.db, alice.id, None, NOW)
    assert b"secret" not in written
    assert b"#user" not in written


async def test_what_is_exported_can_be_imported_by_somebody_else(
    world: World, readers: Readers, alice: User, bob: User
) -> None:
    await imported(world, alice, opml())

    written = await export_opml(world.db, alice.id, None, NOW)
    await imported(world, bob, written)

    assert sorted(read_opml(written).feeds, key=str) == sorted(LISTED, key=str)
    assert await filed(world, readers, bob) == await filed(world, readers, alice)


async def test_one_folder_is_exported_with_those_inside_it(world: World, alice: User) -> None:
    await imported(world, alice, opml())
    tech = next(folder.id for folder in await folders_of(world.db, alice.id) if folder.name == "Tech")

    written = read_opml(await export_opml(world.db, alice.id, tech, NOW))

    assert written.feeds == [LISTED[0]]
