"""OPML import: its plan, its execution, and its repetition after a crash."""

import pytest

from feedmill.library.filters.filter_new_subscription import add_filtered_subscriptions
from feedmill.library.subscriptions.export_opml import export_opml
from feedmill.library.subscriptions.folders import folder_paths
from feedmill.library.subscriptions.import_opml import BadOpml, ImportPlan, plan_import, run_import
from feedmill.library.subscriptions.opml import OpmlFeed, read_opml, write_opml
from feedmill.model.user import User
from feedmill.store.feeds.add_feeds import NewFeed, add_feeds
from feedmill.store.schema import feeds, folders, subscriptions
from feedmill.store.subscriptions.folders import folders_of
from tests.flows.refresh_environment import NOW, RefreshEnvironment, answer, item
from tests.library.subscribers import Subscribers

LISTED = [
    OpmlFeed("https://a.example/feed", "A", None, ("Tech", "Python")),
    OpmlFeed("https://a.example/feed", "A", None, ("Daily",)),
    OpmlFeed("https://b.example/feed", "B", "https://b.example/"),
]


def opml(*listed: OpmlFeed) -> bytes:
    return write_opml(listed or LISTED, title="List")


async def imported(env: RefreshEnvironment, user: User, data: bytes) -> ImportPlan:
    plan = await plan_import(env.db, user, data)
    await run_import(env.tools, user, plan)
    return plan


async def filed(env: RefreshEnvironment, subscribers: Subscribers, user: User) -> dict[str, set[str]]:
    paths = folder_paths(await folders_of(env.db, user.id))
    return {each.title: {"/".join(paths[id]) for id in each.folder_ids} for each in await subscribers.mine(user)}


async def test_a_list_becomes_subscriptions_in_their_folders(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User
) -> None:
    plan = await plan_import(env.db, alice, opml())
    feed_ids = await run_import(env.tools, alice, plan)

    assert await filed(env, subscribers, alice) == {"A": {"Tech/Python", "Daily"}, "B": set()}
    assert sorted(feed_ids) == sorted(each.feed_id for each in await subscribers.mine(alice))
    assert {each.state for each in await subscribers.mine(alice)} == {"queued"}


async def test_a_plan_changes_nothing(env: RefreshEnvironment, alice: User) -> None:
    plan = await plan_import(env.db, alice, opml())

    assert [set(plan.new), plan.here, plan.subscribed] == [{each.url for each in LISTED}, {}, {}]
    assert [await env.rows(table) for table in (feeds, folders, subscriptions)] == [[], [], []]


async def test_existing_feeds_are_shared_and_existing_subscriptions_are_not_changed(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User, bob: User
) -> None:
    url = env.web.serve("/feed", answer(item("a"), item("b"), title="News"))
    await subscribers.subscribe(alice, url, title="Mine")
    listed = opml(OpmlFeed(url, "Listed", None, ("F",)), OpmlFeed("https://new.example/", "New"))

    hers, his = await imported(env, alice, listed), await imported(env, bob, listed)

    assert [len(hers.new), len(hers.here), len(hers.subscribed)] == [1, 0, 1]
    assert [len(his.new), len(his.here), len(his.subscribed)] == [0, 2, 0]
    assert await filed(env, subscribers, alice) == {"Mine": set(), "New": set()}
    assert await filed(env, subscribers, bob) == {"Listed": {"F"}, "New": set()}
    assert {each.title: each.unread_count for each in await subscribers.mine(bob)} == {"Listed": 2, "New": 0}
    assert await subscribers.unread(bob) == 2


async def test_an_import_that_was_killed_continues_when_it_is_run_again(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = opml(*(OpmlFeed(f"https://{n}.example/feed", f"Feed {n}", None, (f"F{n % 3}",)) for n in range(400)))
    chunks = 0

    async def dies_at_the_second(*given: object) -> None:
        nonlocal chunks
        chunks += 1
        if chunks == 2:
            raise SystemExit
        await add_filtered_subscriptions(*given)  # type: ignore[arg-type]

    monkeypatch.setattr("feedmill.library.subscriptions.import_opml.add_filtered_subscriptions", dies_at_the_second)
    with pytest.raises(SystemExit):
        await imported(env, alice, many)
    half = len(await subscribers.mine(alice))
    plan = await imported(env, alice, many)

    assert (half, len(plan.subscribed), len(plan.new)) == (100, 100, 300)
    assert await filed(env, subscribers, alice) == {f"Feed {n}": {f"F{n % 3}"} for n in range(400)}


async def test_what_cannot_be_imported_is_reported_with_its_line(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User
) -> None:
    data = opml().replace(b"https://b.example/feed", b"gopher://b.example/")

    plan = await imported(env, alice, data)

    assert [(error.line, "gopher" in str(error.message)) for error in plan.errors] == [(5, True)]
    assert [each.title for each in await subscribers.mine(alice)] == ["A"]


@pytest.mark.parametrize(
    "data", [b"", b"hello", b'<!DOCTYPE o [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><opml><outline text="&b;"/></opml>']
)
async def test_a_file_that_is_not_opml_is_refused_with_its_reason(
    env: RefreshEnvironment, alice: User, data: bytes
) -> None:
    with pytest.raises(BadOpml, match="line 1: "):
        await plan_import(env.db, alice, data)


async def test_a_list_is_imported_up_to_the_quota(env: RefreshEnvironment, subscribers: Subscribers) -> None:
    charlie = await subscribers.person("charlie", quota_feeds=1)

    plan = await imported(env, charlie, opml())

    # Feeds without a folder come first in the file.
    assert [each.title for each in await subscribers.mine(charlie)] == ["B"]
    assert [str(error.message) for error in plan.errors] == [
        "https://a.example/feed was left out: you can have at most 1 feeds"
    ]


async def test_a_login_in_a_list_makes_a_private_feed_and_is_never_exported(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User
) -> None:
    data = opml(OpmlFeed("https://alice:secret@a.example/feed", "A"))
    await add_feeds(env.db, [NewFeed("https://a.example/feed")], NOW, NOW)

    await imported(env, alice, data)

    [mine] = await subscribers.mine(alice)
    assert (mine.url, mine.is_private) == ("https://a.example/feed", True)
    written = await export_opml(env.db, alice.id, None, NOW)
    assert b"secret" not in written
    assert b"#user" not in written


async def test_an_export_can_be_imported_by_another_user(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User, bob: User
) -> None:
    await imported(env, alice, opml())

    written = await export_opml(env.db, alice.id, None, NOW)
    await imported(env, bob, written)

    assert sorted(read_opml(written).feeds, key=str) == sorted(LISTED, key=str)
    assert await filed(env, subscribers, bob) == await filed(env, subscribers, alice)


async def test_one_folder_is_exported_with_its_subfolders(env: RefreshEnvironment, alice: User) -> None:
    await imported(env, alice, opml())
    tech = next(folder.id for folder in await folders_of(env.db, alice.id) if folder.name == "Tech")

    written = read_opml(await export_opml(env.db, alice.id, tech, NOW))

    assert written.feeds == [LISTED[0]]
