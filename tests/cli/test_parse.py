"""`feedmill parse`."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from feedmill import ParsedEntry, ParsedFeed, parse_feed
from feedmill.cli import parse as parse_module
from tests.cli.command import assert_one_line, environment, feedmill

DATA = Path(__file__).parents[1] / "data"
RSS = "<rss><channel><title>A</title><item><link>/a</link></item></channel></rss>"


@pytest.mark.parametrize(
    "name",
    ["rss/2.0-full.xml", "atom/1.0-full.xml", "jsonfeed/1.1-full.json", "rdf/1.0-full.xml", "encodings/gbk.xml"],
)
def test_a_file_is_printed_as_one_json_object(tmp_path: Path, name: str) -> None:
    done = feedmill("parse", str(DATA / name), cwd=tmp_path)

    assert (done.returncode, done.stderr, done.stdout.count("\n")) == (0, "", 1)
    assert msgspec.json.decode(done.stdout, type=ParsedFeed) == parse_feed((DATA / name).read_bytes())
    printed = json.loads(done.stdout)
    assert list(printed) == list(ParsedFeed.__struct_fields__)
    assert list(printed["entries"][0]) == list(ParsedEntry.__struct_fields__)
    assert list(tmp_path.iterdir()) == []


def test_standard_input_is_read_and_links_are_absolute_with_a_url(tmp_path: Path) -> None:
    done = feedmill("parse", "-", "--url", "https://example.org/feed", cwd=tmp_path, typed=RSS)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["entries"][0]["link"] == "https://example.org/a"


def test_the_content_type_gives_the_encoding(tmp_path: Path) -> None:
    (tmp_path / "feed").write_bytes("<rss><channel><title>ж</title></channel></rss>".encode("koi8-r"))

    done = feedmill("parse", "feed", "--content-type", "text/xml; charset=koi8-r", cwd=tmp_path)

    printed = json.loads(done.stdout)
    assert (printed["title"], printed["encoding"]) == ("ж", "koi8-r")


def test_control_characters_never_reach_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "feed.json").write_text(
        '{"version": "https://jsonfeed.org/version/1", "title": "\\u009b31m", "items": []}'
    )

    done = feedmill("parse", "feed.json", cwd=tmp_path)

    assert "\x9b" not in done.stdout
    assert json.loads(done.stdout)["title"] == "\x9b31m"


def test_a_file_that_is_not_a_feed_is_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<html><body>Hello</body></html>")

    assert_one_line(
        feedmill("parse", "page.html", cwd=tmp_path), "page.html: not a feed: it is a web page (HTML)", code=1
    )
    assert_one_line(feedmill("parse", "-", cwd=tmp_path), "standard input: not a feed", code=1)


def test_an_unreadable_file_is_reported_in_one_line(tmp_path: Path) -> None:
    assert_one_line(feedmill("parse", "none.xml", cwd=tmp_path), "none.xml can't be read: No such file", code=2)
    assert_one_line(feedmill("parse", ".", cwd=tmp_path), ". can't be read: Is a directory", code=2)


def test_closed_standard_input_is_reported_in_one_line(tmp_path: Path) -> None:
    command = f"exec {shlex.quote(sys.executable)} -m feedmill parse - <&-"

    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, env=environment(), capture_output=True, text=True)

    assert_one_line(done, "standard input", "closed", code=2)


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "large.xml").open("wb") as file:
        file.truncate(parse_module.MAX_BYTES + 1)

    assert_one_line(feedmill("parse", "large.xml", cwd=tmp_path), "large.xml is larger than 100 MB", code=2)
