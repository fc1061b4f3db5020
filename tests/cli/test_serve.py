"""`feedmill serve` as a process: it starts, responds, stops on a signal, and only commands share its folder."""

import asyncio
import signal
import socket
import sqlite3
import time
from datetime import UTC, datetime
from pathlib import Path

from feedmill import __version__
from feedmill.model.feed import Feed
from feedmill.store.drivers.sqlite import SqliteDatabase
from feedmill.store.feeds.add_feeds import add_feed
from feedmill.store.feeds.read_feeds import all_feeds
from tests.cli import new_interpreter
from tests.cli.command import assert_one_line, feedmill, serving
from tests.services.server import free_port

SECOND_START_CPU_SECONDS = 3
LONGEST_START_SECONDS = 25
# So that the server does not fetch the feeds of these tests.
NEVER = datetime(2100, 1, 1, tzinfo=UTC)


def test_a_server_responds_and_stops_cleanly_on_a_signal(tmp_path: Path) -> None:
    with new_interpreter.serving(cwd=tmp_path) as server:
        status, health = server.get("/health")
        assert (status, health["status"], health["database"]) == (200, "ok", "ok")

        assert server.stop() == 0

    assert (tmp_path / "data" / "feedmill.db").exists()


def test_ctrl_c_ends_a_server_without_a_traceback(tmp_path: Path) -> None:
    with serving(cwd=tmp_path) as server:
        assert server.stop(signal.SIGINT) == 0

    assert "Traceback" not in (tmp_path / "serve.log").read_text()


def test_a_terminal_that_is_closed_ends_a_server_cleanly(tmp_path: Path) -> None:
    with serving(cwd=tmp_path) as server:
        assert server.stop(signal.SIGHUP) == 0

    with sqlite3.connect(tmp_path / "data" / "feedmill.db") as db:
        [still_there] = db.execute("SELECT count(*) FROM locks WHERE name LIKE 'process:%'").fetchone()
    assert still_there == 0


def test_a_server_started_with_nohup_outlives_its_terminal(tmp_path: Path) -> None:
    ignored = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with new_interpreter.serving(cwd=tmp_path) as server:
            server.process.send_signal(signal.SIGHUP)

            assert server.get("/health")[0] == 200
            assert server.stop() == 0
    finally:
        signal.signal(signal.SIGHUP, ignored)


def test_a_server_prints_the_address_to_open(tmp_path: Path) -> None:
    with serving(cwd=tmp_path) as server:
        server.stop()
        assert f"open {server.address}\n" in server.printed()


def test_the_first_line_of_a_server_says_where_its_data_is(tmp_path: Path) -> None:
    with serving(cwd=tmp_path) as server:
        assert server.printed().splitlines()[0] == f"Feedmill {__version__} keeps its data in {tmp_path / 'data'}"


def test_a_second_start_is_fast(tmp_path: Path) -> None:
    feedmill("migrate", cwd=tmp_path)
    begun = time.monotonic()
    new_interpreter.feedmill("--version", cwd=tmp_path)
    used, started = new_interpreter.cpu_seconds_of_children(), time.monotonic()

    with new_interpreter.serving(cwd=tmp_path) as server:
        assert server.get("/health")[0] == 200
        waited = time.monotonic() - started

    # CPU time is our work alone. The limit of the other is so long that only a wait of our own exceeds it: a start
    # takes ten times as long as the shortest command, also on a busy machine.
    assert new_interpreter.cpu_seconds_of_children() - used < SECOND_START_CPU_SECONDS
    assert waited < LONGEST_START_SECONDS + 20 * (started - begun)


def test_a_second_server_on_the_same_folder_is_refused(tmp_path: Path) -> None:
    with serving(cwd=tmp_path) as server:
        second = feedmill("serve", "--port", "1", cwd=tmp_path)

        assert_one_line(second, "another server", str(server.process.pid), "--data", code=2)
        assert server.get("/health")[0] == 200


def test_a_server_that_was_killed_leaves_the_folder_free(tmp_path: Path) -> None:
    with serving(cwd=tmp_path) as server:
        server.stop(signal.SIGKILL)

    with serving(cwd=tmp_path) as server:
        assert server.get("/health")[0] == 200


def test_a_port_in_use_is_reported_in_one_line_before_anything_is_changed(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])

        done = feedmill("serve", "--port", port, cwd=tmp_path)

    assert_one_line(done, f"127.0.0.1:{port}", "--port", code=2)
    assert not (tmp_path / "data" / "feedmill.db").exists()


def test_a_key_that_is_unusable_is_reported_before_the_server_says_that_it_runs(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    key = tmp_path / "data" / "secret.key"
    key.touch(0o600)
    key.write_text("short")

    done = feedmill("serve", "--port", str(free_port()), cwd=tmp_path)

    assert_one_line(done, "secret.key holds no key", code=2)
    assert done.stdout == ""


def test_commands_run_next_to_a_server(tmp_path: Path) -> None:
    with serving(cwd=tmp_path) as server:
        assert feedmill("migrate", cwd=tmp_path).stdout == "nothing to do: the schema is up to date\n"
        assert feedmill("doctor", cwd=tmp_path).returncode == 0
        assert server.get("/health")[0] == 200


async def test_many_processes_write_next_to_a_server_and_nothing_is_lost(tmp_path: Path) -> None:
    with serving(cwd=tmp_path) as server:
        checks = asyncio.gather(*(asyncio.to_thread(feedmill, "doctor", cwd=tmp_path) for _ in range(3)))
        urls = await _add_feeds(tmp_path, 100)

        assert [check.returncode for check in await checks] == [0, 0, 0]
        assert server.get("/health")[0] == 200

    assert {feed.url for feed in await _feeds(tmp_path)} == urls


async def _add_feeds(folder: Path, how_many: int) -> set[str]:
    db = SqliteDatabase(folder / "data" / "feedmill.db")
    added = {(await add_feed(db, f"http://example.invalid/{number}", NEVER)).url for number in range(how_many)}
    await db.close()
    return added


async def _feeds(folder: Path) -> list[Feed]:
    db = SqliteDatabase(folder / "data" / "feedmill.db")
    feeds = await all_feeds(db)
    await db.close()
    return feeds
