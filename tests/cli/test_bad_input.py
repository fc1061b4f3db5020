"""Bad input gives one clear line and a non-zero exit code through the real command line, and loses nothing."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from feedmill.store.drivers.sqlite import SqliteDatabase
from feedmill.store.feeds.add_feeds import add_feed
from feedmill.store.feeds.read_feeds import all_feeds
from tests.cli.command import assert_one_line, feedmill
from tests.cli.tmpfs import fill_disk, make_read_only, make_writable, small_disk
from tests.services.d1 import TOKEN
from tests.services.server import Service, free_port

URL = "https://example.org/feed"

# What makes a setting bad is in tests/test_settings.py and tests/test_app.py; here is how each kind is reported.
BAD = {
    "unknown database": ({"database": "oracle://host/name"}, "oracle://"),
    "no URL": ({"database": "just-words"}, "just-words"),
    "token missing": ({"database": "d1+https://proxy.example"}, "database_token"),
    "objects": ({"objects": "gopher://host/bucket"}, "objects"),
    "out of range": ({"port": "70000"}, "FEEDMILL_PORT"),
    "unknown setting": ({"databse": "sqlite:///a.db"}, "FEEDMILL_DATABSE"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_setting_prevents_the_start_and_is_named(tmp_path: Path, kind: str) -> None:
    settings, word = BAD[kind]

    done = feedmill("serve", cwd=tmp_path, settings=settings)

    assert_one_line(done, word, code=2)
    assert not (tmp_path / "data" / "feedmill.db").exists()


def test_a_bad_option_is_named(tmp_path: Path) -> None:
    assert_one_line(feedmill("--set", "colour=red", "serve", cwd=tmp_path), "colour", code=2)


def test_a_bad_line_in_the_file_is_reported_with_the_file(tmp_path: Path) -> None:
    (tmp_path / "feedmill.toml").write_text("port = 'words'")

    assert_one_line(feedmill("migrate", cwd=tmp_path), "port", "feedmill.toml", code=2)


def test_a_broken_file_is_reported_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "feedmill.toml").write_text("port = 8000\nlisten = = 1\n")

    assert_one_line(feedmill("migrate", cwd=tmp_path), "feedmill.toml", "line 2", code=2)


def test_debug_shows_where_an_error_came_from(tmp_path: Path) -> None:
    done = feedmill("--debug", "migrate", cwd=tmp_path, settings={"database": "oracle://host"})

    assert "Traceback" in done.stderr
    assert done.returncode != 0


def test_a_wrong_proxy_token_is_reported_without_the_token(tmp_path: Path, d1_service: Service) -> None:
    wrong = "not-the-token-of-this-worker"

    done = feedmill("migrate", cwd=tmp_path, settings={"database": f"d1+{d1_service.url}", "database_token": wrong})

    assert_one_line(done, "token", d1_service.url, code=1)
    assert wrong not in done.stderr
    again = feedmill("migrate", cwd=tmp_path, settings={"database": f"d1+{d1_service.url}", "database_token": TOKEN})
    assert again.returncode == 0, again.stderr


@pytest.mark.parametrize("login", ["postgresql://alice:secret@", "mysql://alice:secret@", "d1+http://"])
def test_a_dead_database_server_is_reported(tmp_path: Path, login: str) -> None:
    port = free_port()
    settings = {"database": f"{login}127.0.0.1:{port}/feedmill", "database_token": TOKEN}

    done = feedmill("serve", cwd=tmp_path, settings=settings)

    assert_one_line(done, str(port), code=1)
    assert "secret" not in done.stderr


def test_a_wrong_password_is_reported_without_the_password(tmp_path: Path, mariadb_service: Service) -> None:
    url = mariadb_service.url.replace("root@", "root:hunter2@")

    done = feedmill("migrate", cwd=tmp_path, settings={"database": url})

    assert_one_line(done, "Access denied", code=1)
    assert "hunter2" not in done.stderr


async def test_a_file_that_is_not_a_database_is_reported_and_left_alone(tmp_path: Path) -> None:
    text = "These are my notes, not a database. " * 100
    (tmp_path / "notes.db").write_text(text)

    done = feedmill("migrate", cwd=tmp_path, settings={"database": f"sqlite:///{tmp_path / 'notes.db'}"})

    assert_one_line(done, "notes.db", "is not an SQLite database", code=1)
    assert (tmp_path / "notes.db").read_text() == text


@pytest.mark.parametrize("command", ["serve", "migrate"])
async def test_a_read_only_data_folder_is_reported_and_nothing_is_lost(tmp_path: Path, command: str) -> None:
    with small_disk(tmp_path / "disk", "8m") as disk:
        await _keep_a_feed(disk / "data")
        make_read_only(disk)

        done = feedmill("--data", str(disk / "data"), command, cwd=tmp_path)

        assert_one_line(done, str(disk / "data"), code={"serve": 2, "migrate": 1}[command])
        make_writable(disk)
        assert await _kept_feeds(disk / "data") == [URL]


@pytest.mark.parametrize("command", ["serve", "migrate"])
def test_a_data_folder_that_cannot_be_created_is_reported(tmp_path: Path, command: str) -> None:
    with small_disk(tmp_path / "disk", "1m") as disk:
        make_read_only(disk)

        done = feedmill("--data", str(disk / "data"), command, cwd=tmp_path)

    assert_one_line(done, str(disk / "data"), "ead-only", code=2)


@pytest.mark.parametrize("command", ["serve", "migrate"])
def test_a_disk_too_small_for_the_schema_is_reported(tmp_path: Path, command: str) -> None:
    with small_disk(tmp_path / "disk", "200k") as disk:
        done = feedmill("--data", str(disk / "data"), command, cwd=tmp_path)

    assert_one_line(done, "disk is full", code=1)


@pytest.mark.parametrize("command", ["serve", "doctor"])
async def test_a_full_disk_is_reported_and_nothing_is_lost(tmp_path: Path, command: str) -> None:
    with small_disk(tmp_path / "disk", "8m") as disk:
        await _keep_a_feed(disk / "data")
        ballast = fill_disk(disk)

        done = feedmill("--data", str(disk / "data"), command, cwd=tmp_path)

        assert done.returncode == 1
        assert "full" in done.stdout + done.stderr or "No space" in done.stdout + done.stderr
        assert "Traceback" not in done.stdout + done.stderr
        ballast.unlink()
        assert await _kept_feeds(disk / "data") == [URL]
        assert feedmill("--data", str(disk / "data"), "migrate", cwd=tmp_path).returncode == 0


async def _keep_a_feed(data: Path) -> None:
    data.mkdir()
    assert feedmill("--data", str(data), "migrate", cwd=data).returncode == 0
    db = SqliteDatabase(data / "feedmill.db")
    await add_feed(db, URL, datetime(2100, 1, 1, tzinfo=UTC))
    await db.close()


async def _kept_feeds(data: Path) -> list[str]:
    db = SqliteDatabase(data / "feedmill.db")
    feeds = await all_feeds(db)
    await db.close()
    return [feed.url for feed in feeds]
