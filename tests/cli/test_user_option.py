"""`feedmill add --user` and `feedmill import --user`."""

from datetime import UTC, datetime

import pytest

from feedmill.model.subscription import Subscription
from feedmill.model.timestamps import to_iso
from feedmill.model.user import User
from feedmill.store.drivers.sqlite import SqliteDatabase
from feedmill.store.migrations import migrate
from feedmill.store.subscriptions.folders import folders_of
from feedmill.store.subscriptions.read_subscriptions import subscriptions_of
from feedmill.store.users.users import add_user
from tests.cli.command_line import CommandLine
from tests.flows.refresh_environment import answer, item
from tests.scripted_web import Answer


@pytest.fixture
async def alice(cli: CommandLine) -> User:
    (cli.folder / "data").mkdir()
    db = _open(cli)
    await migrate(db)
    user = await add_user(db, "alice", None, False, datetime.now(UTC))
    await db.close()
    return user


async def test_a_user_is_subscribed_and_an_existing_subscription_is_reported(cli: CommandLine, alice: User) -> None:
    url = cli.web.serve("/feed", answer(item("a"), title="News"))

    first = await cli.ok("add", "--user", "alice", "--folder", "Tech", "--title", "Mine", url)
    again = await cli.ok("add", "--user", "alice", url)

    assert first.out.endswith("Mine for alice\n")
    assert "already" in again.out
    [hers], folders = await _hers(cli, alice)
    assert (hers.title, hers.unread_count, len(hers.folder_ids), folders) == ("Mine", 1, 1, ["Tech"])


async def test_a_user_is_found_however_the_name_is_typed(cli: CommandLine, alice: User) -> None:
    done = await cli.ok("add", "--user", "ALICE", cli.web.serve("/feed", answer(item("one"))))

    assert "for alice" in done.out.lower()
    assert len((await _hers(cli, alice))[0]) == 1


async def test_with_user_accounts_a_feed_without_subscribers_is_reported(cli: CommandLine, alice: User) -> None:
    done = await cli.ok("add", cli.web.serve("/feed", answer(item("one"))))

    assert "nobody subscribes to it yet" in done.out


async def test_a_failed_fetch_or_an_unknown_user_is_reported_without_a_subscription(
    cli: CommandLine, alice: User
) -> None:
    url = cli.web.serve("/feed", Answer(status=404))

    failed = await cli.run("add", "--user", "alice", url)
    unknown = await cli.run("add", "--user", "nobody", url)

    assert (failed.code, "HTTP 404" in failed.err) == (1, True)
    assert (unknown.code, unknown.err.count("no account nobody: 'feedmill user list' lists all accounts")) == (2, 1)
    assert (await _hers(cli, alice))[0] == []


async def test_a_list_is_imported_for_a_user(cli: CommandLine, alice: User) -> None:
    inside = '<outline text="F"><outline text="x" xmlUrl="https://x.example/"/></outline>'
    (cli.folder / "list.opml").write_text(f"<opml><body>{inside}</body></opml>")

    done = await cli.ok("import", "--user", "alice", "--json", "list.opml")

    assert done.records == [{"added": 1, "known": 0, "problems": []}]
    mine, folders = await _hers(cli, alice)
    assert ([each.title for each in mine], folders) == (["x"], ["F"])
    # Nothing fetches it now, so the next scan does.
    assert str(mine[0].next_fetch_at) <= to_iso(datetime.now(UTC))


async def _hers(cli: CommandLine, alice: User) -> tuple[list[Subscription], list[str]]:
    db = _open(cli)
    try:
        return await subscriptions_of(db, alice.id), [folder.name for folder in await folders_of(db, alice.id)]
    finally:
        await db.close()


def _open(cli: CommandLine) -> SqliteDatabase:
    return SqliteDatabase(cli.folder / "data" / "feedmill.db")
