"""`feedmill refresh`: lines for programs, exit codes, Ctrl-C, and next to a running server."""

import asyncio
import json
import re

import pytest
from sqlalchemy import func, select

from feedmill.store.drivers.sqlite import SqliteDatabase
from feedmill.store.schema import batches, feeds
from tests.cli.command import serving
from tests.cli.command_line import CommandLine
from tests.databases import emptied, settings_of
from tests.flows.refresh_environment import answer, item
from tests.scripted_web import Answer, ClientConnection, ReceivedRequest
from tests.waiting import until


async def test_json_output_has_one_line_for_each_feed_and_one_for_all(cli: CommandLine) -> None:
    good, bad = cli.web.serve("/good", answer(item("a"), title="Good")), cli.web.serve("/bad", Answer(status=404))
    await cli.ok("add", "--no-fetch", good, bad)

    done = await cli.ok("refresh", "--all")

    *lines, summary = done.records
    by_url = {line["url"]: line for line in lines}
    assert {key: by_url[good][key] for key in ("event", "feed_id", "outcome", "new_entries", "message")} == {
        "event": "feed",
        "feed_id": 1,
        "outcome": "updated",
        "new_entries": 1,
        "message": None,
    }
    assert (by_url[bad]["outcome"], by_url[bad]["message"]) == ("failed", "HTTP 404")
    counts = {key: summary[key] for key in ("event", "feeds", "updated", "unchanged", "failed", "new_entries")}
    assert counts == {"event": "summary", "feeds": 2, "updated": 1, "unchanged": 0, "failed": 1, "new_entries": 1}


async def test_a_terminal_shows_a_progress_bar_the_new_entries_and_a_summary(cli: CommandLine) -> None:
    good, bad = cli.web.serve("/good", answer(item("a"), title="[Good]")), cli.web.serve("/bad", Answer(status=404))
    await cli.ok("add", "--no-fetch", good, bad)

    shown = await cli.on_terminal("refresh", "--all")

    assert "2/2" in shown
    assert "+1 " in shown
    assert "failed" in shown
    assert "HTTP 404" in shown
    assert re.search(r"2 feeds in [\d.]+ s: 1 updated, 1 failed; 1 new entry\n", shown)


async def test_the_exit_code_is_non_zero_when_every_feed_failed(cli: CommandLine) -> None:
    bad = cli.web.serve("/bad", Answer(status=404))
    await cli.ok("add", "--no-fetch", bad)

    assert (await cli.run("refresh", bad)).code == 1


async def test_due_feeds_are_refreshed_until_none_is_due(cli: CommandLine) -> None:
    urls = [cli.web.serve(f"/{number}", answer(item("a"))) for number in range(30)]
    await cli.ok("add", "--no-fetch", *urls)

    assert (await cli.ok("refresh", "--due")).records[-1]["updated"] == 30
    assert (await cli.ok("refresh", "--due")).records[-1]["feeds"] == 0
    assert len(cli.web.requests) == 30


async def test_due_feeds_are_compared_with_the_feeds_file_first(cli: CommandLine) -> None:
    url = cli.web.serve("/feed", answer(item("a")))
    (cli.folder / "mine.toml").write_text(f'[[feeds]]\nurl = "{url}"\n')

    done = await cli.ok("refresh", "--due", feeds_file="mine.toml")

    assert [(line.get("url"), line["new_entries"]) for line in done.records] == [(url, 1), (None, 1)]


async def test_a_broken_feeds_file_is_reported_and_the_feeds_are_still_refreshed(cli: CommandLine) -> None:
    await cli.ok("add", "--no-fetch", cli.web.serve("/feed", answer(item("a"))))
    (cli.folder / "data" / "feeds.yaml").write_text("- url: [\n")

    done = await cli.run("refresh", "--due")

    assert (done.code, done.records[-1]["updated"]) == (0, 1)
    assert "line 2, column 1" in done.err


async def test_a_feeds_file_that_is_gone_is_reported_by_the_next_command(cli: CommandLine) -> None:
    await cli.ok("migrate")
    file = cli.folder / "data" / "feeds.json"
    file.write_text(json.dumps([cli.web.serve("/feed", answer(item("a")))]))
    await cli.ok("refresh", "--due")
    file.unlink()

    done, checked = await cli.run("refresh", "--due"), await cli.run("doctor")

    assert (done.code, done.records[-1]["feeds"]) == (0, 0)
    assert "feeds_file_missing" in done.err
    assert checked.code == 1
    assert "feeds.{yaml,yml,json,toml} is missing, in which 1 feed was declared" in checked.out


async def test_the_feeds_to_refresh_must_be_named(cli: CommandLine) -> None:
    for args in ((), ("--all", "--due"), ("--all", "1")):
        done = await cli.run("refresh", *args)
        assert done.code == 2
        assert "name the feeds" in done.err
    unknown = await cli.run("refresh", "https://example.org/none")
    assert unknown.code == 2
    assert "there is no feed https://example.org/none" in unknown.err


async def test_ctrl_c_releases_every_claim_and_ends_the_batch(cli: CommandLine) -> None:
    async def hang(seen: ReceivedRequest, wire: ClientConnection) -> None:
        await asyncio.Event().wait()

    await cli.ok("add", "--no-fetch", *[cli.web.serve(f"/{number}", hang) for number in range(60)])

    refresh = cli.start("refresh", "--all")
    await until(lambda: bool(cli.web.seen("/0")), otherwise="nobody asked for the feed")
    refresh.interrupt()
    done = await refresh.done()

    assert done.code == 130
    assert "Traceback" not in done.err
    db = SqliteDatabase(cli.folder / "data" / "feedmill.db")
    [row] = await db.query(select(func.count(feeds.c.claim_token).label("claimed")))
    [batch] = await db.query(select(batches.c.status))
    await db.close()
    assert (row["claimed"], batch["status"]) == (0, "cancelled")


async def test_a_second_refresh_of_all_joins_the_running_one(cli: CommandLine) -> None:
    second_has_joined = asyncio.Event()

    async def hold(seen: ReceivedRequest, wire: ClientConnection) -> None:
        await second_has_joined.wait()
        await wire.send(answer(item("a")).encode())

    await cli.ok("add", "--no-fetch", *[cli.web.serve(f"/{number}", hold) for number in range(3)])

    first = cli.start("refresh", "--all")
    await until(lambda: len(cli.web.requests) == 3, otherwise="the first refresh does not fetch")
    second = cli.start("refresh", "--all")
    await until(lambda: "runs already" in second.out.read_text(), otherwise="the second has not joined the first")
    second_has_joined.set()
    both = [await first.done(), await second.done()]

    assert [done.records[-1]["updated"] for done in both] == [3, 3]
    assert [done.records[0]["event"] for done in both] == ["feed", "note"]
    assert len(cli.web.requests) == 3


async def test_commands_work_next_to_a_server(cli: CommandLine) -> None:
    with serving(cwd=cli.folder, settings=cli.settings):
        url = cli.web.serve("/feed", answer(item("a"), title="News"))
        assert (await cli.ok("add", url)).out == "added feed 1 News, 1 entry\n"
        status = (await cli.ok("status", "--json")).records[0]

    assert status["server"]["running"] is True
    assert len(cli.web.requests) == 1


async def test_the_commands_work_on_postgresql(cli: CommandLine, request: pytest.FixtureRequest) -> None:
    async with emptied(request, "postgresql", cli.folder):
        postgres = settings_of(request, "postgresql", cli.folder)
        url = cli.web.serve("/feed", answer(item("a"), title="News"))
        (cli.folder / "list.opml").write_text(f'<opml><body><outline text="x" xmlUrl="{url}"/></body></opml>')

        assert (await cli.ok("import", "--json", "list.opml", **postgres)).records[0]["added"] == 1
        assert (await cli.ok("refresh", "--due", **postgres)).records[-1]["new_entries"] == 1
        assert (await cli.ok("refresh", "--all", **postgres)).records[-1]["unchanged"] == 1
        [shown] = (await cli.ok("show", url, "--json", **postgres)).records
        [status] = (await cli.ok("status", "--json", **postgres)).records
        assert "It is healthy" in (await cli.ok("why", url, **postgres)).out
        assert (await cli.ok("remove", "--yes", url, **postgres)).out.startswith("removed ")

    assert (shown["title"], [entry["title"] for entry in shown["latest"]]) == ("News", ["a"])
    assert (status["feeds"]["total"], status["entries"]) == (1, 1)
