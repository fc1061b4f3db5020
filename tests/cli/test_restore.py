"""`feedmill restore`: which feeds, which time, what would change."""

import shutil

import pytest

from feedmill.store.database import Step
from feedmill.store.drivers.sqlite import SqliteDatabase
from feedmill.store.schema import entries
from tests.cli.mill import Mill
from tests.flows.world import answer, item


async def lost(mill: Mill, *names: str) -> list[str]:
    """Feeds of these names whose entries are gone from the database; their URLs."""
    urls = [mill.web.serve(f"/{name}", answer(item(name), title=name)) for name in names]
    await mill.ok("add", *urls)
    db = SqliteDatabase(mill.folder / "data" / "feedmill.db")
    await db.batch([Step(entries.delete())])
    await db.close()
    return urls


async def test_a_dry_run_says_what_a_restore_then_does(mill: Mill) -> None:
    await lost(mill, "a", "b")

    would = await mill.ok("restore", "--all", "--dry-run")
    done = await mill.ok("restore", "--all")
    again = await mill.ok("restore", "--all")

    assert would.out == "2 bodies replayed: would add 2 entries, would revise 0\n"
    assert done.out == "2 bodies replayed: added 2 entries, revised 0\n"
    assert again.out == "2 bodies replayed: added 0 entries, revised 0\n"


async def test_feeds_are_named_by_id_or_url(mill: Mill) -> None:
    _, b, _ = await lost(mill, "a", "b", "c")

    [done] = (await mill.ok("restore", "1", b, "--json")).records

    assert done == {"bodies": 2, "added": 2, "revised": 0, "unreadable": 0, "missing": 0, "busy": 0}


@pytest.mark.parametrize(("when", "bodies"), [("--since", 0), ("--until", 1)])
async def test_a_time_bounds_it(mill: Mill, when: str, bodies: int) -> None:
    await lost(mill, "a")

    [done] = (await mill.ok("restore", "--all", when, "2999-01-01", "--json")).records

    assert done["bodies"] == bodies


async def test_a_person_sees_how_far_it_is(mill: Mill) -> None:
    await lost(mill, "a", "b")

    shown = await mill.on_terminal("restore", "--all")

    assert "2/2" in shown


async def test_an_empty_database_is_rebuilt_from_the_objects(mill: Mill) -> None:
    urls = await lost(mill, "a", "b")
    await mill.ok("purge")
    for file in (mill.folder / "data").glob("feedmill.db*"):
        file.unlink()

    would = await mill.ok("restore", "--from-store", "--dry-run", "--json")
    done = await mill.ok("restore", "--from-store", "--json")

    assert would.out == done.out
    assert sorted(feed["url"] for feed in (await mill.ok("feeds", "--json")).records) == sorted(urls)


async def test_bodies_without_a_card_are_told(mill: Mill) -> None:
    await lost(mill, "a")
    shutil.rmtree(mill.folder / "data" / "objects" / "feeds", ignore_errors=True)

    done = await mill.run("restore", "--from-store")

    assert (done.code, done.err) == (0, "left out: 1 feed has bodies, but no card that says where the feed is\n")


@pytest.mark.parametrize("args", [(), ("1", "--all"), ("--all", "--since", "yesterday"), ("99",)])
async def test_what_makes_no_sense_is_refused(mill: Mill, args: tuple[str, ...]) -> None:
    done = await mill.run("restore", *args)

    assert (done.code, done.out) == (2, "")
