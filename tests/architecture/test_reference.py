"""The reference pages say what the code says."""

import re
import subprocess
import sys
import tomllib
from datetime import timedelta
from pathlib import Path

import pytest
from fastapi.routing import APIRoute
from redis.asyncio import Redis

from feedmill.cli import COMMANDS
from feedmill.coordination.host_slots import HostSlotRule
from feedmill.coordination.locks import feed_lock, schedule_lock
from feedmill.coordination.pool_queues import FillLock, QueuedItem, fill_lock_name, pool_list_name, used_ids_name
from feedmill.coordination.redis_client import connect
from feedmill.coordination.redis_pool_queues import RedisPoolQueues
from feedmill.coordination.redis_presence import RedisPresence
from feedmill.coordination.redis_slots_and_locks import RedisHostSlots, RedisLocks
from feedmill.engine.celery_app import make_celery
from feedmill.model.feed_settings import FEED_SETTINGS
from feedmill.model.fetch_options import FETCH_OPTIONS
from feedmill.serve.rest import ROUTERS
from feedmill.settings import PREFIX, Settings
from feedmill.store.schema import metadata
from tests.services.server import Service

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
MEANINGS = tomllib.loads((ROOT / "tools" / "reference" / "meanings.toml").read_text())
MINUTE = timedelta(minutes=1)


def test_every_setting_is_in_the_reference() -> None:
    page = (REFERENCE / "settings.md").read_text()

    for name, field in Settings.fields.items():
        section = page.partition(f"## `{name}`\n")[2].partition("\n## ")[0]
        assert str(field.description) in section, name
        assert f"`{PREFIX}{name.upper()}`" in section, name
        assert "Default: " in section, name


def test_every_setting_of_a_feed_is_in_the_reference() -> None:
    page = (REFERENCE / "feed-settings.md").read_text()

    for name, setting in (FEED_SETTINGS | FETCH_OPTIONS).items():
        lines = re.findall(rf"^\| `{name}` .*$", page, re.MULTILINE)
        assert len(lines) == 1, name
        assert setting.options.about.replace("|", "\\|") in lines[0], name


def test_every_command_is_in_the_reference() -> None:
    page = (REFERENCE / "commands.md").read_text()

    assert [name for name in COMMANDS if f"## `feedmill {name}`\n" not in page] == []


def test_every_route_is_in_the_reference() -> None:
    routes = [route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute)]

    named = re.findall(r"^### `(.*)`$", (REFERENCE / "routes.md").read_text(), re.MULTILINE)

    assert sorted(named) == sorted(f"{method} {route.path_format}" for route in routes for method in route.methods)


def test_nothing_is_said_of_tables_and_columns_that_are_not_there() -> None:
    there = {name: {column.name for column in table.columns} for name, table in metadata.tables.items()}
    anywhere = set().union(*there.values())

    said = {name: set(columns) - {"_"} for name, columns in MEANINGS.items() if name != "*"}

    assert said.keys() == there.keys()
    assert {name: columns - there[name] for name, columns in said.items() if columns - there[name]} == {}
    assert set(MEANINGS["*"]) - anywhere == set()


async def test_every_key_that_redis_gets_has_its_form_in_the_reference(redis_service: Service) -> None:
    async with connect(redis_service.url) as client:
        await client.flushdb()
        await _leave_one_of_each(client, redis_service.url)

        keys = {str(key) for key in await client.keys()}
        await client.flushdb()

    forms = [_pattern(form) for form in re.findall(r"^\| `([^`]+)`", (REFERENCE / "keys.md").read_text(), re.MULTILINE)]
    unnamed = {key for key in keys if not any(form.fullmatch(key) for form in forms)}
    assert len(keys) == 11
    assert unnamed == set()


async def _leave_one_of_each(client: Redis, url: str) -> None:
    locks, turns, queues = RedisLocks(client), RedisHostSlots(client), RedisPoolQueues(client)
    titles = pool_list_name("titles", 1)
    for name in (feed_lock(1), schedule_lock(1), fill_lock_name(titles)):
        await locks.lock(name, "me")
    await turns.take("example.org", "me", HostSlotRule(MINUTE, MINUTE))
    for pause in ("domain:example.org", "url:0123456789abcdef"):
        await turns.pause(pause, MINUTE)
    lock = FillLock(titles, "me", "life")
    await queues.start(lock)
    await queues.push(lock, [QueuedItem(1, "a title")])
    await client.lpush(used_ids_name(titles), 1)
    await RedisPresence(client).announce("worker", "me")
    with make_celery(url) as celery:
        celery.send_task("refresh_feed", kwargs={"feed_id": 1}, queue="high")


def _pattern(form: str) -> re.Pattern[str]:
    parts = [part if part.startswith("{") else re.escape(part) for part in re.split(r"(\{[^}]*\})", form)]
    return re.compile("".join("[^:]+" if part.startswith("{") else part for part in parts))


@pytest.mark.external
def test_the_pages_made_from_the_code_are_up_to_date() -> None:
    tool = [sys.executable, ROOT / "tools" / "write-reference", "--check"]

    done = subprocess.run(tool, capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, "")
