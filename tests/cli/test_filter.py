"""`feedmill filter`: filters of a user are tried, made, changed, applied, undone and removed."""

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import text

from feedmill.library.entries.list_entries import EntryListQuery, list_entries
from feedmill.model.entry_lists import EntryView
from feedmill.model.user import User
from feedmill.store.archive.database_load import end_loading
from feedmill.store.database import Step
from feedmill.store.drivers.sqlite import SqliteDatabase
from feedmill.store.migrations import migrate
from feedmill.store.users.users import add_user
from tests.cli.command_line import CommandLine, CommandResult
from tests.flows.refresh_environment import answer, item


@pytest.fixture
async def alice(cli: CommandLine) -> User:
    """Alice reads two feeds, one of them in a folder."""
    (cli.folder / "data").mkdir()
    db = SqliteDatabase(cli.folder / "data" / "feedmill.db")
    await migrate(db)
    user = await add_user(db, "alice", None, False, datetime.now(UTC))
    await db.close()
    news = answer(item("kiln one"), item("kiln two"), item("oats"), title="News")
    other = answer(item("kiln three"), title="Other")
    await cli.ok("add", "--user", "alice", cli.web.serve("/feed", news))
    await cli.ok("add", "--user", "alice", "--folder", "Craft", cli.web.serve("/other", other))
    return user


async def listed(cli: CommandLine, user: User, view: EntryView, **wanted: Any) -> list[str]:
    db = SqliteDatabase(cli.folder / "data" / "feedmill.db")
    page = await list_entries(db, user.id, EntryListQuery(view, **wanted), datetime.now(UTC))
    await db.close()
    return sorted(entry.title for entry in page.items)


async def refused(cli: CommandLine, *args: str) -> str:
    done = await cli.run("filter", *args)
    assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1), done
    return done.err


async def filters(cli: CommandLine) -> list[dict[str, Any]]:
    return (await cli.ok("filter", "list", "alice", "--json")).records


async def test_a_condition_is_tried_before_it_is_saved(cli: CommandLine, alice: User) -> None:
    tried = await cli.ok("filter", "try", "alice", "in:title kiln", "--first", "1")
    record = (await cli.ok("filter", "try", "alice", "in:title kiln", "--json")).records[0]
    in_folder = await cli.ok("filter", "try", "alice", "in:title kiln", "--folder", "Craft")
    of_feed = await cli.ok("filter", "try", "alice", "in:title kiln", "--feed", "1")

    head, *lines = tried.out.splitlines()
    assert head == "3 entries would match"
    assert [line.split() for line in lines[:2]] == [["2", "News"], ["1", "Other"]]
    assert len(lines) == 3
    assert (record["total"], record["is_complete"], len(record["entries"])) == (3, True, 3)
    assert [each["count"] for each in record["feeds"]] == [2, 1]
    assert in_folder.out.startswith("1 entry would match\n")
    assert of_feed.out.startswith("2 entries would match\n")
    assert await filters(cli) == []


async def test_a_filter_is_made_shown_changed_switched_and_removed(cli: CommandLine, alice: User) -> None:
    empty = await cli.ok("filter", "list", "alice")
    made = await cli.ok("filter", "add", "alice", "kiln", "--name", "Kilns", "--star", "--label", "clay", "--stop")
    [first] = await filters(cli)
    changed = await cli.ok(
        "filter", "edit", "alice", "1", "--condition", "oven", "--hide", "--folder", "Craft", "--until", "2099-01-01"
    )
    [second] = await filters(cli)
    await cli.ok("filter", "edit", "alice", "1", "--everywhere", "--no-stop", "--for-good")
    [third] = await filters(cli)
    off = await cli.ok("filter", "disable", "alice", "1")
    shown = await cli.ok("filter", "show", "alice", "1")
    on = await cli.ok("filter", "enable", "alice", "1")
    removed = await cli.ok("filter", "remove", "alice", "1")

    assert "'feedmill filter add USER CONDITION' creates one" in empty.out
    assert made.out == "filter 1 is created: Kilns\n"
    assert (first["condition"], first["actions"], first["stops"]) == ("kiln", ["star", "label"], True)
    assert (first["scope"], first["enabled"], first["label_ids"]) == ("all", True, [1])
    assert changed.out == "filter 1 is changed: Kilns\n"
    assert (second["name"], second["condition"], second["actions"]) == ("Kilns", "oven", ["hide"])
    assert (second["scope"], second["stops"], second["expires_at"]) == ("folder", True, "2099-01-01T00:00:00.000Z")
    assert (third["scope"], third["stops"], third["expires_at"], third["actions"]) == ("all", False, None, ["hide"])
    assert (off.out, on.out, removed.out) == ("filter 1 is off\n", "filter 1 is on\n", "filter 1 is deleted\n")
    assert "state      off" in shown.out
    assert await filters(cli) == []


async def test_a_filter_is_applied_to_what_is_there_and_undone(cli: CommandLine, alice: User) -> None:
    await cli.ok("filter", "add", "alice", "in:title kiln", "--star")
    applied = await cli.ok("filter", "apply", "alice", "1")
    starred = await listed(cli, alice, EntryView.STARRED)
    shown = (await cli.ok("filter", "show", "alice", "1", "--json")).records[0]
    undone = await cli.ok("filter", "undo", "alice", "1", "--json")

    assert applied.out == "job 1: 3 entries changed\n'feedmill filter undo USER 1' takes it back\n"
    assert starred == ["kiln one", "kiln three", "kiln two"]
    assert (len(shown["last"]), shown["jobs"][0]["status"], shown["jobs"][0]["changed"]) == (3, "done", 3)
    assert (undone.records[-1]["status"], undone.records[-1]["changed"]) == ("done", 3)
    assert await listed(cli, alice, EntryView.STARRED) == []
    assert (await cli.run("filter", "undo", "alice", "2")).code == 2


async def test_a_filter_is_applied_after_a_backup_was_loaded_without_a_server(cli: CommandLine, alice: User) -> None:
    db = SqliteDatabase(cli.folder / "data" / "feedmill.db")
    await db.batch([Step(text("DELETE FROM search_texts"))])
    await end_loading(db)
    await db.close()
    await cli.ok("filter", "add", "alice", "in:title kiln", "--star")

    applied = await cli.run("filter", "apply", "alice", "1")

    assert (applied.code, applied.out.splitlines()[0]) == (0, "job 1: 3 entries changed")
    assert "missing in the search index" in applied.err


async def test_what_a_filter_did_is_taken_back_when_it_is_switched_off(cli: CommandLine, alice: User) -> None:
    added = await cli.ok("filter", "add", "alice", "in:title kiln", "--later", "--apply")
    waiting = await listed(cli, alice, EntryView.LATER)
    off = await cli.ok("filter", "disable", "alice", "1", "--revert")

    assert added.out.splitlines()[:2] == ["filter 1 is created: in:title kiln", "job 1: 3 entries changed"]
    assert len(waiting) == 3
    assert off.out == "filter 1 is off\njob 2: 3 entries restored\n"
    assert await listed(cli, alice, EntryView.LATER) == []


async def test_filters_are_put_in_order(cli: CommandLine, alice: User) -> None:
    for condition in ("one", "two", "three"):
        await cli.ok("filter", "add", "alice", condition, "--star")

    ordered = await cli.ok("filter", "order", "alice", "3", "1")

    assert ordered.out == "the order is now: 3 three, 1 one, 2 two\n"


async def test_a_word_is_muted_and_muted_no_longer(cli: CommandLine, alice: User) -> None:
    muted = await cli.ok("filter", "mute", "alice", "kiln", "--apply")
    unread = await listed(cli, alice, EntryView.UNREAD)
    again = await cli.ok("filter", "mute", "alice", "kiln", "--until", "2099-01-01")
    removed = await cli.ok("filter", "unmute", "alice", "kiln")
    followed = await cli.ok("filter", "follow", "alice", "example.org", "--kind", "site", "--json")

    assert muted.out.startswith("kiln is muted\njob 1: 3 entries changed\n")
    assert unread == ["oats"]
    assert again.out == "kiln is muted until 2099-01-01T00:00:00.000Z (before: for good)\n"
    assert removed.out == "kiln is no longer muted\n"
    assert len(await listed(cli, alice, EntryView.UNREAD)) == 4
    assert (followed.records[0]["kind"], followed.records[0]["actions"]) == ("follow", ["raise"])


async def test_what_cannot_be_is_said_in_one_line_with_what_to_do(cli: CommandLine, alice: User) -> None:
    assert "'feedmill user list'" in await refused(cli, "list", "nobody")
    assert "such as --star" in await refused(cli, "add", "alice", "kiln")
    assert "there are: Craft" in await refused(cli, "add", "alice", "kiln", "--star", "--folder", "Attic")
    assert "'feedmill feeds'" in await refused(cli, "add", "alice", "kiln", "--star", "--feed", "99")
    assert "'feedmill pool grant --fill'" in await refused(cli, "add", "alice", "kiln", "--pool", "news")
    assert "there are: none" in await refused(cli, "add", "alice", "kiln", "--save", "wallabag")
    assert "'feedmill filter list alice'" in await refused(cli, "unmute", "alice", "kiln")
    for arguments in (
        ("add", "alice", '"open', "--star"),
        ("try", "alice", "is:unread"),
        ("add", "alice", "kiln", "--star", "--feed", "1", "--folder", "Craft"),
        ("show", "alice", "9"),
        ("apply", "alice", "9"),
        ("undo", "alice", "9"),
        ("order", "alice", "9"),
        ("remove", "alice", "9"),
        ("mute", "alice", "…"),
    ):
        await refused(cli, *arguments)


async def test_a_table_of_filters_fits_a_terminal(cli: CommandLine, alice: User) -> None:
    await cli.ok("filter", "add", "alice", "in:title kiln", "--name", "Kilns", "--raise")

    shown: str = await cli.on_terminal("filter", "list", "alice", columns=100)
    piped: CommandResult = await cli.ok("filter", "list", "alice")

    assert "Kilns" in shown
    assert "raise" in shown
    assert piped.out.splitlines()[1] == "1\tKilns\tin:title kiln\tall\traise\ton\t0\tnever"
