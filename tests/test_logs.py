"""Logs are one line an event, and no secret gets into them."""

import io
import json
import logging
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
import structlog

from feedmill import logs
from feedmill.lazy_loggers import bound_fields
from feedmill.settings import load_settings


@pytest.fixture(autouse=True)
def _put_back_what_was_set_up() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = handlers, level
    logging.captureWarnings(False)
    threading.excepthook = threading.__excepthook__
    structlog.reset_defaults()


def written(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    """The one event that was logged, read back from JSON."""
    [line] = capsys.readouterr().err.splitlines()
    event: dict[str, object] = json.loads(line)
    return event


def test_an_event_is_one_line_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    logs.set_up(load_settings(log_format="json"))

    structlog.get_logger("here").info("feed_fetched", feed_id=7, title="两行\n标题")

    event = written(capsys)
    assert str(event.pop("timestamp")).endswith("Z")
    assert event == {"event": "feed_fetched", "feed_id": 7, "title": "两行\n标题", "level": "info"}


@pytest.mark.parametrize("log_format", ["json", "pretty"])
def test_a_time_is_written_in_iso_8601(log_format: str, capsys: pytest.CaptureFixture[str]) -> None:
    logs.set_up(load_settings(log_format=log_format))

    structlog.get_logger("here").info("feed_failing", last_success_at=datetime(2026, 2, 18, 8, 30, tzinfo=UTC))

    line = capsys.readouterr().err
    assert "2026-02-18T08:30:00.000Z" in line
    assert "datetime" not in line


def test_a_line_has_the_fields_that_are_bound_while_it_is_logged(capsys: pytest.CaptureFixture[str]) -> None:
    logs.set_up(load_settings(log_format="json"))

    with bound_fields(job="RefreshFeed", feed_id=7), bound_fields(job_id="1"):
        structlog.get_logger("here").info("feed_fetched", feed_id=8)

    event = written(capsys)
    assert (event["job"], event["job_id"], event["feed_id"]) == ("RefreshFeed", "1", 8)


def test_a_line_has_no_fields_that_were_bound_before(capsys: pytest.CaptureFixture[str]) -> None:
    logs.set_up(load_settings(log_format="json"))

    with bound_fields(job="RefreshFeed"):
        pass
    logging.getLogger("somebody.else").warning("slow")

    assert "job" not in written(capsys)


def test_a_library_that_logs_in_its_own_way_comes_out_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    logs.set_up(load_settings(log_format="json"))

    logging.getLogger("somebody.else").warning("pool %s is slow", "postgresql://alice:hunter2@host/db")

    event = written(capsys)
    assert event["event"] == "pool postgresql://alice:***@host/db is slow"
    assert event["level"] == "warning"


def test_a_traceback_stays_in_its_line_without_passwords(capsys: pytest.CaptureFixture[str]) -> None:
    logs.set_up(load_settings(log_format="json"))

    try:
        raise ValueError("can't reach redis://:hunter2@host")
    except ValueError:
        structlog.get_logger().exception("failed")

    event = written(capsys)
    assert "Traceback" in str(event["exception"])
    assert "hunter2" not in json.dumps(event)


@pytest.mark.parametrize(
    "name", ["password", "database_token", "s3_secret_key", "Authorization", "cookie", "api_key", "old_password"]
)
def test_what_is_named_like_a_secret_is_hidden(capsys: pytest.CaptureFixture[str], name: str) -> None:
    logs.set_up(load_settings(log_format="json"))

    structlog.get_logger().info("event", **{name: "hunter2"})

    assert written(capsys)[name] == "***"


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://alice:hunter2@host/db",
        "see redis://:hunter2@host:6379/0 for more",
        "d1+https://x:hunter2@proxy",
        "mysql://alice:p:hunter2@host/db",
        "postgresql://alice:p@hunter2@host/db",
        "https://hunter2@host/feed",
        "https://host/feed?pass=hunter2",
        "https://host/feed#access_token=hunter2",
    ],
)
def test_a_password_in_a_url_is_hidden(capsys: pytest.CaptureFixture[str], text: str) -> None:
    logs.set_up(load_settings(log_format="json"))

    structlog.get_logger().info(text, nested={"url": [text], "token": "hunter2"}, error=ValueError(text))

    assert "hunter2" not in json.dumps(written(capsys))


def test_a_name_without_a_password_is_shown() -> None:
    assert logs.redact_secrets("postgresql://alice@host/db") == "postgresql://alice@host/db"


@pytest.mark.parametrize("text", ["a" * 50_000, "?" + "a" * 50_000, "http://" * 7_000])
def test_a_word_without_end_holds_nothing_up(text: str) -> None:
    began = time.process_time()

    logs.redact_secrets(text)

    # It takes a tenth of a second; to look again at each letter would take half a minute.
    assert time.process_time() - began < 10


def test_less_than_the_least_level_is_not_logged(capsys: pytest.CaptureFixture[str]) -> None:
    logs.set_up(load_settings(log_format="json", log_level="warning"))

    structlog.get_logger().info("quiet")
    logging.getLogger("somebody.else").info("quiet")

    assert capsys.readouterr().err == ""


def test_a_terminal_gets_pretty_lines(capsys: pytest.CaptureFixture[str]) -> None:
    logs.set_up(load_settings(log_format="pretty"))

    structlog.get_logger().info("feed_fetched", feed_id=7)

    assert "feed_fetched" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("log_format", "level", "shown"), [("auto", "info", False), ("auto", "debug", True), ("pretty", "info", True)]
)
def test_a_terminal_is_spared_routine_work_unless_asked_for(
    monkeypatch: pytest.MonkeyPatch, log_format: str, level: str, shown: bool
) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", terminal)
    logs.set_up(load_settings(log_format=log_format, log_level=level))

    structlog.get_logger("feedmill").info("maintenance_task_finished", task="purge")
    logging.getLogger("uvicorn.error").info("Application startup complete.")
    structlog.get_logger("feedmill").info("feeds_file_applied", added=2)
    structlog.get_logger("feedmill").warning("feed_recovered", feed_id=7)

    told = terminal.getvalue()
    assert ("purge" in told, "startup complete" in told) == (shown, shown)
    assert ("feeds_file_applied" in told, "feed_recovered" in told) == (True, True)


@pytest.mark.parametrize(("no_color", "coloured"), [("1", False), ("", True)])
def test_who_wants_no_colours_gets_none(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, no_color: str, coloured: bool
) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)
    logs.set_up(load_settings(log_format="pretty"))

    structlog.get_logger("here").info("feed_fetched", title="a\x1b[2Jb")

    told = capsys.readouterr().err
    assert ("\x1b" in told) is coloured
    assert "\x1b[2J" not in told


@pytest.mark.parametrize("name", ["token", "access_token", "key", "api_key", "apikey", "X-Amz-Signature", "auth"])
def test_a_key_in_the_address_of_a_feed_is_hidden(capsys: pytest.CaptureFixture[str], name: str) -> None:
    logs.set_up(load_settings(log_format="json"))

    structlog.get_logger().info("fetched", url=f"https://example.org/feed?{name}=hunter2&page=1")

    assert written(capsys)["url"] == f"https://example.org/feed?{name}=***&page=1"


def test_words_that_only_sound_like_keys_stay(capsys: pytest.CaptureFixture[str]) -> None:
    logs.set_up(load_settings(log_format="json"))

    structlog.get_logger().info("fetched", url="https://example.org/feed?author=ada&keyword=x")

    assert written(capsys)["url"] == "https://example.org/feed?author=ada&keyword=x"


@pytest.fixture
def tail(monkeypatch: pytest.MonkeyPatch) -> logs.LogBuffer:
    made = logs.LogBuffer(most=3, max_length=100)
    monkeypatch.setattr(logs, "LOG_BUFFER", made)
    logs.set_up(load_settings(log_format="json", log_level="debug"))
    return made


def said(lines: list[logs.LogLine]) -> list[str]:
    return [line.event for line in lines]


def test_the_last_lines_are_kept_and_no_more(tail: logs.LogBuffer) -> None:
    for number in range(5):
        structlog.get_logger().info(f"line {number}")

    assert said(tail.latest()) == ["line 4", "line 3", "line 2"]
    assert said(tail.latest(most=1)) == ["line 4"]


def test_lines_are_found_by_level_text_and_feed(tail: logs.LogBuffer) -> None:
    structlog.get_logger().info("fetched", feed_id=7)
    structlog.get_logger().warning("slow", feed_id=8, reason="The Disk")
    logging.getLogger("somebody.else").error("pool %s", "is slow")

    assert said(tail.latest("warning")) == ["pool is slow", "slow"]
    assert said(tail.latest("error")) == ["pool is slow"]
    assert said(tail.latest(text="the disk")) == ["slow"]
    assert said(tail.latest(feed_id=7)) == ["fetched"]
    assert said(tail.latest(text="nothing like it")) == []


def test_whatever_an_event_says_it_can_be_kept(tail: logs.LogBuffer) -> None:
    structlog.get_logger().info("odd", values={("a", 1): object(), "b": {1, 2}}, error=ValueError("x"), path=b"bytes")

    assert said(tail.latest()) == ["odd"]


def test_neither_secrets_nor_owners_nor_endless_lines_are_kept(tail: logs.LogBuffer) -> None:
    structlog.get_logger().info(
        "fetched", url="https://alice:hunter2@example.org/feed#user=7", token="hunter2", body="x" * 10_000
    )

    [line] = tail.latest()
    assert "hunter2" not in line.more
    assert "user=7" not in line.more
    assert len(line.more) == 100


def test_warnings_and_crashes_of_threads_are_logged_like_the_rest(capsys: pytest.CaptureFixture[str]) -> None:
    def crash() -> None:
        raise ZeroDivisionError("a mistake")

    logs.set_up(load_settings(log_format="json"))
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        logging.captureWarnings(False)
        logging.captureWarnings(True)
        warnings.warn("old ways", RuntimeWarning, stacklevel=1)
    thread = threading.Thread(target=crash, name="broker")
    thread.start()
    thread.join()

    warned, crashed = (json.loads(line) for line in capsys.readouterr().err.splitlines())
    assert (warned["level"], "old ways" in warned["event"]) == ("warning", True)
    assert (crashed["event"], crashed["thread"]) == ("thread_crashed", "broker")
    assert "ZeroDivisionError" in crashed["exception"]
