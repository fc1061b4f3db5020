"""`GET /metrics`: what Prometheus reads there, and who has access."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette

from feedmill import __version__
from feedmill.app import App, build_app
from feedmill.model.refresh import FETCH_OUTCOMES
from feedmill.model.timestamps import to_iso
from feedmill.serve.http import metrics
from feedmill.settings import load_settings
from feedmill.store.database import Step
from feedmill.store.dialect import insert
from feedmill.store.drivers.postgres import PostgresDatabase
from feedmill.store.feeds.add_feeds import add_feed
from feedmill.store.schema import fetch_log
from tests.services.redis import own_redis
from tests.services.server import free_port
from tests.sqlite_template import copy_template

LINE = re.compile(r"(# (HELP|TYPE) \w+ .+)|(\w+(\{(\w+=\"[^\"]*\",?)+\})? [-+.\de]+)")
HERE, ELSEWHERE = "127.0.0.1", "192.0.2.7"


@asynccontextmanager
async def _world(folder: Path, **settings: str) -> AsyncIterator[App]:
    await copy_template(folder / "feedmill.db")
    async with build_app(load_settings(data=str(folder), **settings)) as app:
        yield app


async def _get(app: App, client: str = HERE, **headers: str) -> httpx.Response:
    asgi = Starlette(routes=metrics.routes)
    asgi.state.app, asgi.state.metrics = app, metrics.Metrics(app)
    transport = httpx.ASGITransport(asgi, client=(client, 12345))
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    async with httpx.AsyncClient(transport=transport, base_url="http://feedmill.test", headers=named) as browser:
        return await browser.get("/metrics")


async def test_every_line_is_valid_for_prometheus(tmp_path: Path) -> None:
    async with _world(tmp_path) as app:
        await add_feed(app.db, "https://example.org/", datetime.now(UTC))
        answer = await _get(app)

    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert [line for line in answer.text.splitlines() if not LINE.fullmatch(line)] == []
    assert f'feedmill_info{{version="{__version__}"}} 1\n' in answer.text


async def test_feeds_and_their_lateness_are_shown(tmp_path: Path) -> None:
    async with _world(tmp_path) as app:
        await add_feed(app.db, "https://example.org/", datetime(2026, 1, 1, tzinfo=UTC))
        text = (await _get(app)).text

    assert 'feedmill_feeds{status="active"} 1\n' in text
    assert "feedmill_feeds_due 1\nfeed" in re.sub(r"# .*\n", "", text)
    assert "feedmill_feeds_late 1\n" in text
    assert re.search(r"feedmill_lateness_seconds \d{5,}", text)
    assert 'feedmill_up{dependency="database"} 1\n' in text


async def test_fetches_are_counted_since_the_process_started(tmp_path: Path) -> None:
    async with _world(tmp_path) as app:
        shown = metrics.Metrics(app)
        shown._fetches.until = datetime(2026, 1, 1, tzinfo=UTC)
        feed = await add_feed(app.db, "https://example.org/", datetime.now(UTC))
        row = {"feed_id": feed.id, "at": to_iso(datetime(2026, 1, 2, tzinfo=UTC)), "outcome": "updated", "ms": 120}
        await app.db.batch([Step(insert(fetch_log, *row), row)])
        text = await shown.text()

    assert 'feedmill_fetches_total{outcome="updated"} 1\n' in text
    assert [name for name in FETCH_OUTCOMES if f'feedmill_fetches_total{{outcome="{name}"}} ' not in text] == []
    assert 'feedmill_fetch_seconds_bucket{le="0.1"} 0\n' in text
    assert 'feedmill_fetch_seconds_bucket{le="0.25"} 1\n' in text
    assert "feedmill_fetch_seconds_sum 0.12\n" in text


@pytest.mark.external
async def test_queues_and_processes_are_shown_when_there_is_a_redis(tmp_path: Path) -> None:
    with own_redis() as redis:
        async with _world(tmp_path, redis=redis.service.url) as app:
            await app.coordination.presence.announce("worker", "alice:1")
            text = (await _get(app)).text

    assert 'feedmill_processes{role="worker"} 1\n' in text
    assert 'feedmill_queue_messages{queue="high"} 0\n' in text


async def test_without_a_database_the_rest_is_still_shown(tmp_path: Path) -> None:
    async with _world(tmp_path) as app:
        lost = replace(app, db=PostgresDatabase(f"postgresql://127.0.0.1:{free_port()}/feedmill"))
        answer = await _get(lost)
        await lost.db.close()

    assert answer.status_code == 200
    assert 'feedmill_up{dependency="database"} 0\n' in answer.text
    assert "process_cpu_seconds_total" in answer.text
    assert "feedmill_feeds" not in answer.text


async def test_without_a_token_only_this_machine_has_access(tmp_path: Path) -> None:
    async with _world(tmp_path) as app:
        from_here, from_elsewhere = await _get(app), await _get(app, ELSEWHERE)
        through_a_proxy = await _get(app, HERE, X_Forwarded_For=ELSEWHERE)

    assert [from_here.status_code, from_elsewhere.status_code, through_a_proxy.status_code] == [200, 403, 403]
    assert "feedmill_" not in from_elsewhere.text


async def test_a_configured_token_is_required(tmp_path: Path) -> None:
    async with _world(tmp_path, metrics_token="a long secret") as app:
        with_it = await _get(app, ELSEWHERE, Authorization="Bearer a long secret")
        without, with_another = await _get(app), await _get(app, HERE, Authorization="Bearer another")

    assert [with_it.status_code, without.status_code, with_another.status_code] == [200, 401, 401]
    assert without.headers["WWW-Authenticate"] == "Bearer"
