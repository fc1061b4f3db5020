"""`feedmill demo`: a reader with feeds of its own, of which nothing stays."""

import http.cookiejar
import os
import pty
import re
import signal
import subprocess
import tempfile
import urllib.request
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from sqlalchemy import func, select

from feedmill.app import App, build_app
from feedmill.cli.demo import command, demo
from feedmill.cli.demo.demo_feeds import FOLDER, picture_file, read_demo_feeds
from feedmill.cli.demo.feed_server import LOOPBACK, DemoWeb, run_demo_web
from feedmill.cli.demo.prepare_reader import NAME, prepare_reader
from feedmill.cli.demo.water_gauge import EVERY, gauge_entries
from feedmill.cli.startup.context import Context
from feedmill.collect.parsing.parse_feed import parse_feed
from feedmill.model.fetch_outcome import Refused, Response
from feedmill.settings import Settings
from feedmill.stop_signals import stop_signals
from feedmill.store.feeds.read_feeds import all_feeds
from feedmill.store.schema import image_tasks, pool_items, states, story_entries
from tests.cli import new_interpreter
from tests.cli.command import LONGEST_COMMAND, Process, Server, assert_one_line, environment, feedmill
from tests.scripted_web import Answer, Web
from tests.waiting import LONGEST_WAIT, wait_until

NOON = datetime(2026, 2, 18, 12, tzinfo=UTC)
LARGEST = 150_000


@dataclass(frozen=True)
class PreparedDemo:
    app: App
    web: DemoWeb

    async def count(self, table: object, *conditions: object) -> int:
        [row] = await self.app.db.query(select(func.count().label("rows")).select_from(table).where(*conditions))  # type: ignore[call-overload]
        return int(row["rows"])


@pytest.fixture
async def prepared(tmp_path: Path) -> AsyncIterator[PreparedDemo]:
    async with run_demo_web() as web:
        settings = Settings(data=tmp_path, own_servers=frozenset({(LOOPBACK, web.port)}))
        async with build_app(settings) as app:
            await prepare_reader(app, web, "correct horse battery")
            yield PreparedDemo(app, web)


async def test_the_reader_has_feeds_of_each_format_and_a_broken_one(prepared: PreparedDemo) -> None:
    feeds = {feed.url: feed for feed in await all_feeds(prepared.app.db)}

    assert len(feeds) >= 12
    assert {feed.format for feed in prepared.web.feeds.values()} == {"rss", "atom", "json"}
    broken = [url for url, feed in feeds.items() if feed.consecutive_failures]
    assert broken == [prepared.web.url(feed) for feed in prepared.web.feeds.values() if feed.is_broken]
    assert feeds[broken[0]].last_error is not None


@pytest.mark.parametrize("jitter", [0.0, 0.5, 1.0])
async def test_the_last_fetch_of_the_broken_feed_is_past_and_the_next_is_not(jitter: float, tmp_path: Path) -> None:
    async with run_demo_web() as web:
        settings = Settings(data=tmp_path, own_servers=frozenset({(LOOPBACK, web.port)}))
        async with build_app(settings) as built:
            app = replace(built, tools=replace(built.tools, jitter=lambda: jitter))
            await prepare_reader(app, web, "correct horse battery")
            [broken] = [feed for feed in await all_feeds(app.db) if feed.consecutive_failures]

    assert broken.last_fetched_at is not None
    assert broken.next_fetch_at is not None
    assert broken.last_fetched_at < web.start < broken.next_fetch_at


async def test_the_reader_has_stars_pictures_a_story_and_a_pool(prepared: PreparedDemo) -> None:
    assert await prepared.count(states, states.c.starred_at.is_not(None)) >= 4
    assert await prepared.count(image_tasks, image_tasks.c.status == "success") == 7
    assert await prepared.count(story_entries) == 2
    assert await prepared.count(pool_items, pool_items.c.status == 0) == 3


async def test_of_loopback_only_the_server_of_the_demo_is_fetched(prepared: PreparedDemo) -> None:
    async with Web() as other:
        url = other.serve("/feed", Answer(b"<rss/>"))

        refused = await prepared.app.client.get(url)
        fetched = await prepared.app.client.get(prepared.web.url(read_demo_feeds()[0]))

    assert isinstance(refused, Refused)
    assert isinstance(fetched, Response)
    assert other.requests == []


def test_every_feed_is_read_as_it_was_written() -> None:
    web = DemoWeb(1, NOON)

    for feed in web.feeds.values():
        parsed = parse_feed(web.renderer.render(feed, web.entries(feed)), url=web.url(feed))

        assert (parsed.title, parsed.language) == (feed.title, feed.language)
        assert [entry.title for entry in parsed.entries] == [entry.title for _, entry in web.entries(feed)]


def test_every_picture_that_is_named_exists() -> None:
    feeds = read_demo_feeds()
    names = {entry.picture for feed in feeds for entry in feed.entries if entry.picture}

    assert [
        name for name in [*names, *(f"icon-{feed.icon}" for feed in feeds)] if not picture_file(name).is_file()
    ] == []


def test_the_gauge_writes_an_entry_every_minute_and_changes_none() -> None:
    before, after = gauge_entries(NOON, NOON + 40 * EVERY), gauge_entries(NOON, NOON + 41 * EVERY)

    assert after[1:] == before[:-1]
    [(number, newest)] = set(after) - set(before)
    assert (number, newest.published(NOON)) == (before[0][0] + 1, before[0][1].published(NOON) + EVERY)


def test_the_data_of_the_demo_is_small() -> None:
    files = [path for path in FOLDER.rglob("*") if path.is_file() and path.suffix != ".pyc"]

    assert sum(path.stat().st_size for path in files) < LARGEST


@pytest.mark.parametrize("given", [["--data", "data"], ["--set", "port=1"]])
def test_settings_are_refused_in_one_line(given: list[str], tmp_path: Path) -> None:
    assert_one_line(feedmill(*given, "demo", cwd=tmp_path), "feedmill serve", code=2)


@pytest.mark.external
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_visitor_is_signed_in_and_nothing_is_left_at_the_end(
    how: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    # The database of a real installation, which must not be touched.
    elsewhere = {"database": "postgresql://nobody@127.0.0.1:1/none", "data": str(tmp_path / "real")}

    with new_interpreter.serving(cwd=tmp_path, command="demo", settings=elsewhere) as server:
        page, url = _open(server)
        assert len(list(tmp_path.glob("feedmill-demo-*"))) == 1
        code = server.stop(how)

    assert url == f"{server.address}/unread"
    assert NAME in page
    assert "The herons are back, and they brought an argument" in page
    assert code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["serve.log", "serve.out"]
    assert (tmp_path / "serve.log").read_text() == ""


def _open(server: Server) -> tuple[str, str]:
    """The page that the printed address leads to, and its URL."""
    [printed] = re.findall(r"open (\S+)", server.printed())
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
    with browser.open(printed, timeout=LONGEST_WAIT) as response:
        return response.read().decode(), response.url


@pytest.mark.external
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_demo_that_is_stopped_while_it_starts_leaves_nothing(how: signal.Signals, tmp_path: Path) -> None:
    run = [*new_interpreter.COMMAND, "demo"]
    process = subprocess.Popen(
        run, env=environment(TMPDIR=str(tmp_path)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )

    with process:
        # The database is there before the feeds are fetched.
        wait_until(lambda: any(tmp_path.glob("feedmill-demo-*/feedmill.db")), otherwise="the demo does not start")
        process.send_signal(how)
        _, errors = process.communicate(timeout=LONGEST_COMMAND)

    assert "Traceback" not in errors
    assert list(tmp_path.iterdir()) == []


@pytest.mark.external
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_further_signals_leave_nothing_of_the_demo(
    how: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    with new_interpreter.serving(cwd=tmp_path, command="demo") as server:
        code = _send_until_it_ends(server.process, how)

    assert code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["serve.log", "serve.out"]


def _send_until_it_ends(process: Process, how: signal.Signals) -> int:
    def has_ended() -> bool:
        process.send_signal(how)
        return process.poll() is not None

    wait_until(has_ended, otherwise="the demo does not end")
    return process.wait()


@pytest.mark.external
def test_a_demo_whose_terminal_was_closed_ends_well(tmp_path: Path) -> None:
    terminal, inside = pty.openpty()
    run = [*new_interpreter.COMMAND, "demo"]
    process = subprocess.Popen(run, env=environment(TMPDIR=str(tmp_path)), stdout=inside, stderr=inside)
    os.close(inside)

    with process:
        with open(terminal, encoding="utf-8") as screen:
            address = next(found[1] for line in screen if (found := re.search(r"open (\S+)", line)))
            assert any("everything is deleted then" in line for line in screen)
            urllib.request.urlopen(address, timeout=LONGEST_WAIT).close()
        process.send_signal(signal.SIGHUP)
        code = process.wait(LONGEST_COMMAND)

    assert code == 0
    assert list(tmp_path.iterdir()) == []


@dataclass
class DemoEnd:
    """What is true when the data is deleted, and when the end is announced."""

    handlers: dict[int, object] = field(default_factory=dict)
    handlers_at_deletion: dict[int, object] = field(default_factory=dict)
    files_at_message: list[Path] | None = None


@pytest.fixture
def demo_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DemoEnd:
    end, delete = DemoEnd(), tempfile.TemporaryDirectory.cleanup

    def observe(folder: tempfile.TemporaryDirectory[str]) -> None:
        end.handlers_at_deletion |= end.handlers
        delete(folder)

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(tempfile.TemporaryDirectory, "cleanup", observe)
    monkeypatch.setattr(signal, "signal", end.handlers.__setitem__)
    monkeypatch.setattr(click, "echo", lambda text, **where: setattr(end, "files_at_message", list(tmp_path.iterdir())))
    return end


def test_the_data_is_gone_when_that_is_said(demo_end: DemoEnd, monkeypatch: pytest.MonkeyPatch) -> None:
    async def run(folder: Path, port: int) -> None:
        (folder / "feedmill.db").touch()

    monkeypatch.setattr(command, "_run", run)

    CliRunner().invoke(demo, obj=Context(), catch_exceptions=False)

    assert demo_end.files_at_message == []


def test_no_signal_interrupts_the_deletion_of_the_data(demo_end: DemoEnd, monkeypatch: pytest.MonkeyPatch) -> None:
    async def run(folder: Path, port: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "_run", run)

    CliRunner().invoke(demo, obj=Context(), standalone_mode=False)

    assert demo_end.handlers_at_deletion == dict.fromkeys(stop_signals(), signal.SIG_IGN)
