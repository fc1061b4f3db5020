"""`feedmill purge`: what is deleted, what would be, and the lifecycle rule for a bucket."""

import json
from pathlib import Path

from sqlalchemy import select

from feedmill.store.database import Step
from feedmill.store.drivers.sqlite import SqliteDatabase
from feedmill.store.schema import entries
from tests.cli.command import assert_one_line, feedmill, serving
from tests.cli.command_line import CommandLine
from tests.flows.refresh_environment import answer, item
from tests.waiting import until


async def one_left_long_ago(cli: CommandLine) -> None:
    """A feed with two entries, one of which left it years ago."""
    await cli.ok("add", cli.web.serve("/feed", answer(item("a"), item("b"))))
    db = SqliteDatabase(cli.folder / "data" / "feedmill.db")
    await db.batch([Step(entries.update().where(entries.c.title == "b").values(in_feed=0, last_seen_at="2020-01-01"))])
    await db.close()


async def titles(cli: CommandLine) -> list[str]:
    db = SqliteDatabase(cli.folder / "data" / "feedmill.db")
    rows = await db.query(select(entries.c.title))
    await db.close()
    return [row["title"] for row in rows]


async def test_a_dry_run_reports_what_a_purge_then_does(cli: CommandLine) -> None:
    await one_left_long_ago(cli)

    would = (await cli.ok("purge", "--dry-run")).out
    assert sorted(await titles(cli)) == ["a", "b"]
    done = (await cli.ok("purge")).out

    assert would.splitlines()[:2] == ["would drop:", "         1  entries that left their feed long ago"]
    assert done == would.replace("would drop", "dropped")
    assert await titles(cli) == ["a"]


async def test_json_output_is_one_object(cli: CommandLine) -> None:
    await one_left_long_ago(cli)

    [first] = (await cli.ok("purge", "--sweep", "--json")).records
    [second] = (await cli.ok("purge", "--json")).records

    nothing = {"entries": 0, "raw_bodies": 0, "log_lines": 0, "batches": 0, "unread_lists": 0, "objects": 0}
    assert first == nothing | {"entries": 1, "orphans": 0}
    assert second == nothing


async def test_the_settings_decide_how_long_entries_are_kept(cli: CommandLine) -> None:
    await one_left_long_ago(cli)

    [kept] = (await cli.ok("purge", "--json", retention_days="9999")).records

    assert kept["entries"] == 0


async def test_a_server_purges_by_itself(cli: CommandLine) -> None:
    await one_left_long_ago(cli)

    log = cli.folder / "serve.log"

    async def is_purged() -> bool:
        return await titles(cli) == ["a"]

    with serving(cwd=cli.folder, settings=cli.settings) as server:
        await until(is_purged, otherwise="the server has not purged")
        await until(lambda: "maintenance_task_finished" in log.read_text(), otherwise="the server did not log it")
        server.stop()


def test_the_lifecycle_rule_for_a_bucket_is_printed_and_nothing_changed(tmp_path: Path) -> None:
    done = feedmill("purge", "--lifecycle", cwd=tmp_path, settings={"objects": "s3://bucket/mill", "raw_days": "7"})

    [rule] = json.loads(done.stdout)["Rules"]
    assert (rule["Filter"]["Prefix"], rule["Expiration"]["Days"]) == ("mill/backups/", 8)
    assert list(tmp_path.iterdir()) == []


def test_there_is_no_lifecycle_rule_for_a_folder(tmp_path: Path) -> None:
    assert_one_line(feedmill("purge", "--lifecycle", cwd=tmp_path), "only a bucket", code=2)
