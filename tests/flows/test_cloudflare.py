"""The collector on Cloudflare: rows in D1 behind the proxy worker, objects in a bucket, nothing on our own disk."""

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import select

from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Step
from feedmill.store.schema import entries, image_tasks, raw_bodies, revisions, tombstones
from tests.cli.command_line import CommandLine
from tests.databases import emptied, settings_of
from tests.flows.refresh_environment import NOW, answer, item
from tests.scripted_web import Web
from tests.services.s3 import s3_config
from tests.services.server import Service, free_port

# What the free plan lets one request to the worker do.
FREE_PLAN = "50"
MANY = 120


@pytest.fixture
async def d1(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    async with emptied(request, "d1", tmp_path) as db:
        yield db


@pytest.fixture
async def cloud(
    request: pytest.FixtureRequest, d1: Database, s3_service: Service, tmp_path: Path
) -> AsyncIterator[CommandLine]:
    """The command line in an empty folder, with everything elsewhere."""
    folder = tmp_path / "stateless"
    folder.mkdir()
    s3 = s3_config(s3_service)
    settings = settings_of(request, "d1", folder) | {
        "objects": f"s3://{s3.bucket}/cloud/{uuid4().hex}?endpoint={s3.endpoint}",
        "s3_access_key": s3.access_key,
        "s3_secret_key": s3.secret_key,
        "d1_statements": FREE_PLAN,
        "allow_private": "127.0.0.0/8",
        "host_gap": "0",
    }
    async with Web() as web:
        yield CommandLine(folder, web, settings)


def many(text: str) -> list[str]:
    return [item(f"n{number}", f'{text} <img src="/{number}.png">') for number in range(MANY)]


async def test_collect_read_purge_and_restore_with_nothing_on_disk(cloud: CommandLine, d1: Database) -> None:
    url = cloud.web.serve("/feed", answer(*many("first"), item("old", date=NOW), title="Cloudy"))
    await cloud.ok("doctor")
    await cloud.ok("add", url)
    cloud.web.serve("/feed", answer(*many("second"), title="Cloudy"))
    await cloud.ok("refresh", "--all")
    assert len(await d1.query(select(revisions.c.id))) == MANY
    assert len(await d1.query(select(image_tasks.c.id))) == MANY

    [shown] = (await cloud.ok("show", url, "--json", "--entries", "1")).records
    assert (shown["title"], shown["entries"]) == ("Cloudy", MANY + 1)

    await long_ago(d1, "old")
    [foreseen] = (await cloud.ok("purge", "--dry-run", "--json")).records
    [purged] = (await cloud.ok("purge", "--sweep", "--json")).records
    assert (foreseen["entries"], purged["entries"], purged["raw_bodies"], purged["orphans"]) == (1, 1, 0, 0)
    assert [row["guid"] for row in await d1.query(select(tombstones.c.guid))] == ["guid-old"]

    await lose(d1, "n1", "n2")
    [would] = (await cloud.ok("restore", url, "--dry-run", "--json")).records
    [done] = (await cloud.ok("restore", "--all", "--json")).records
    [again] = (await cloud.ok("restore", "--all", "--json")).records
    assert (would["added"], would["revised"]) == (done["added"], done["revised"]) == (2, 2)
    assert (again["bodies"], again["added"], again["revised"]) == (2, 0, 0)
    assert len(await d1.query(select(entries.c.id).where(entries.c.in_feed == 1))) == MANY
    assert list(cloud.folder.iterdir()) == []


async def test_a_lost_database_is_rebuilt_from_the_bucket(
    cloud: CommandLine, d1: Database, request: pytest.FixtureRequest
) -> None:
    urls = [cloud.web.serve(f"/{name}", answer(item(name), title=name)) for name in ("one", "two")]
    await cloud.ok("add", *urls)
    await cloud.ok("purge")
    async with emptied(request, "d1", cloud.folder):
        pass

    refused = await cloud.run("purge", "--sweep")
    restored = await cloud.run("restore", "--from-store", "--take-ownership", "--json")
    [rebuilt] = restored.records

    assert (restored.code, restored.err) == (0, "the object store belongs to this database now\n")
    assert (refused.code, refused.err.count("another database")) == (2, 1)
    assert (rebuilt["bodies"], rebuilt["added"]) == (2, 2)
    assert sorted(record["url"] for record in (await cloud.ok("feeds", "--json")).records) == sorted(urls)
    await cloud.ok("purge", "--sweep")
    assert len(await d1.query(select(raw_bodies.c.key))) == 2
    assert list(cloud.folder.iterdir()) == []


async def test_a_backup_of_d1_is_sound(cloud: CommandLine, tmp_path: Path) -> None:
    await cloud.ok("add", cloud.web.serve("/feed", answer(item("a"))))

    done = await cloud.run("backup", "--with-objects", str(tmp_path / "backup"))

    assert (done.code, done.err.count("has no snapshots")) == (0, 1)
    assert (await cloud.ok("backup", "--check", str(tmp_path / "backup"))).out.startswith("intact")


async def test_the_doctor_tells_a_wrong_token_a_wrong_key_and_a_dead_endpoint(cloud: CommandLine) -> None:
    token = await cloud.run("doctor", database_token="x" * 40)
    key = await cloud.run("doctor", s3_secret_key="wrong")
    nobody = f"http://127.0.0.1:{free_port()}"
    dead = await cloud.run("doctor", objects=f"s3://feedmill?endpoint={nobody}")

    assert (token.code, key.code, dead.code) == (1, 1, 1)
    assert "FAIL the database can't be used, so nothing works: the proxy worker" in token.out
    assert "refuses our token" in token.out
    assert "can't be stored: bucket feedmill" in key.out
    assert f"can't be stored: bucket feedmill at {nobody}: no answer" in dead.out


async def long_ago(db: Database, title: str) -> None:
    """The entry has left its feed years ago."""
    there = entries.update().where(entries.c.title == title)
    await db.batch([Step(there.values(last_seen_at=to_iso(NOW.replace(year=2020))))])


async def lose(db: Database, *titles: str) -> None:
    """As if a broken parser had never found them."""
    await db.batch([Step(entries.delete().where(entries.c.title == title)) for title in titles])
