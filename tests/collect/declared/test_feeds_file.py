"""The file that declares feeds: its formats, its errors with their position, and the changes it leads to."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec import structs

from feedmill.collect.declared.feeds_file import Declaration, find_feeds_file, read_declarations, read_interval
from feedmill.collect.declared.read_data_file import MAX_BYTES, BadDataFile
from feedmill.collect.declared.sync_feeds import compare_feeds
from feedmill.model.feed import ArchivePolicy, Feed, FeedStatus
from feedmill.outbound.user_urls import UserUrl
from feedmill.store.feeds.declared_feeds import DeclaredChanges

NOW = datetime(2026, 2, 18, 8, 30, tzinfo=UTC)
FLOOR = timedelta(minutes=15)
URL = "https://example.org/feed"
WISH = Declaration(UserUrl(URL))
FEED = Feed(1, URL, NOW, declared=True, next_fetch_at=NOW + timedelta(hours=6), last_fetched_at=NOW)

FULL = Declaration(
    UserUrl("https://b.example/x"), "B", ("Tech", "Python"), timedelta(minutes=30), ArchivePolicy.STARRED
)
YAML = """
feeds:
  - https://a.example/feed
  - url: b.example/x
    title: B
    folder: Tech/Python
    interval: 30m
    archive: starred
"""
JSON = """{"feeds": ["https://a.example/feed", {"url": "https://b.example/x", "title": "B",
  "group": ["Tech", "Python"], "interval": 30, "archive": "starred"}]}"""
TOML = """
[[feeds]]
url = "https://a.example/feed"
[[feeds]]
url = "https://b.example/x"
title = "B"
folder = "Tech/Python"
interval = "0.5h"
archive = "Starred"
"""


@pytest.mark.parametrize(("name", "text"), [("f.yaml", YAML), ("f.json", JSON), ("f.toml", TOML)])
def test_all_formats_give_the_same_feeds(tmp_path: Path, name: str, text: str) -> None:
    assert read_declarations(written(tmp_path, name, text)) == [Declaration(UserUrl("https://a.example/feed")), FULL]


def test_a_plain_list_of_urls_is_enough(tmp_path: Path) -> None:
    file = written(tmp_path, "feeds.yaml", "- a.example\n- https://b.example/?q=ü\n")

    assert [one.address.url for one in read_declarations(file)] == ["https://a.example/", "https://b.example/?q=%C3%BC"]


def test_a_password_in_a_url_is_not_part_of_the_feeds_url(tmp_path: Path) -> None:
    [one] = read_declarations(written(tmp_path, "feeds.yaml", "- https://me:secret@a.example/feed\n"))

    assert one.address == UserUrl("https://a.example/feed", '{"basic_auth":["me","secret"]}')


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("f.yaml", "feeds:\n  - url: 'x\n", "line 3, column 1"),
        ("f.yaml", "- a.example\n-\tb.example\n", "line 2, column 2"),
        ("f.yaml", "- a.example\n- url: b.example\n  intervall: 3m\n", "line 3, column 3: unknown key 'intervall'"),
        ("f.yaml", "feeds: []\nfolders: []\n", "line 2, column 1: unknown key 'folders'"),
        ("f.yaml", "- url: b.example\n  interval: soon\n", "line 2, column 3: interval: 'soon' is no interval"),
        ("f.yaml", "- url: b.example\n  interval: 10s\n", "not between 1 minute and 7 days"),
        ("f.yaml", "- url: b.example\n  archive: some\n", "line 2, column 3: archive: 'some' is not one of all"),
        ("f.yaml", "- url: b.example\n  title: [a]\n", "line 2, column 3: title"),
        ("f.yaml", "- ftp://b.example\n", "line 1, column 3: url: ftp://b.example can't be fetched"),
        ("f.yaml", "- title: B\n", "line 1, column 3: url: a feed needs one"),
        ("f.yaml", "- [a]\n", "line 1, column 3: a feed is a URL"),
        (
            "f.yaml",
            "- a.example\n- https://A.example:443/#x\n",
            "line 2, column 3: https://a.example/ stands here twice",
        ),
        ("f.yaml", "- url: a.example\n  url: b.example\n", "line 2, column 3: 'url' stands here twice"),
        ("f.yaml", "just words", "line 1, column 1: feeds must be a list"),
        ("f.yaml", "- a.example\n---\n- b.example\n", "line 2, column 1: a second document"),
        ("f.yaml", "? [a]\n: b\n", "line 1, column 3: a key must be plain text"),
        ("f.yaml", "- a.example\x07\n", "line 1, column 12"),
        ("f.yaml", "- a\n- b\xff".encode("latin-1"), "line 2, column 4: this is not UTF-8"),
        ("f.yaml", "- &x a.example\n- *x\n", "line 2, column 3: aliases"),
        ("f.yaml", "", "is empty"),
        ("f.json", '[\n  "a.example",\n]', "line 3, column 1"),
        ("f.json", '["a.example", {"url": "b.example", "interval": true}]', "feed 2 of the list: interval"),
        ("f.json", '["a.example", {"url": "b.example", "title": true}]', "feed 2 of the list: title"),
        ("f.toml", "[[feeds]]\nurl = b\n", "at line 2, column 7"),
    ],
)
def test_an_error_is_reported_with_its_position(tmp_path: Path, name: str, text: str | bytes, words: str) -> None:
    with pytest.raises(BadDataFile) as told:
        read_declarations(written(tmp_path, name, text))

    assert words in str(told.value)
    assert str(tmp_path / name) in str(told.value)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("f.yaml", "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"),
        ("f.yaml", "[" * 100_000),
        ("f.yaml", "- " * 100_000),
        ("f.json", "[" * 100_000),
        ("f.toml", "a = " + "[" * 100_000),
        ("f.yaml", "- a.example\n" * (MAX_BYTES // 12 + 1)),
    ],
)
def test_a_hostile_file_is_refused_quickly(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(BadDataFile):
        read_declarations(written(tmp_path, name, text))


@pytest.mark.parametrize(
    ("text", "minutes"), [("30m", 30), ("2h", 120), ("1d", 1440), ("90s", 1.5), (45, 45), ("45", 45), ("1.5 h", 90)]
)
def test_intervals_are_written_as_people_write_them(text: str | int, minutes: float) -> None:
    assert read_interval(text) == timedelta(minutes=minutes)


def test_the_configured_file_is_used_or_the_one_in_the_data_folder(tmp_path: Path) -> None:
    assert find_feeds_file(None, tmp_path) is None
    assert find_feeds_file(tmp_path / "mine.yaml", tmp_path) == tmp_path / "mine.yaml"

    there = written(tmp_path, "feeds.toml", TOML)
    assert find_feeds_file(None, tmp_path) == there

    written(tmp_path, "feeds.json", JSON)
    with pytest.raises(BadDataFile, match=r"feeds\.json and .*feeds\.toml are both there"):
        find_feeds_file(None, tmp_path)


def test_feeds_that_match_the_file_are_not_changed() -> None:
    assert compared([WISH], [FEED]) == DeclaredChanges()


def test_a_new_url_is_a_new_feed() -> None:
    comparison = compared([WISH, FULL], [FEED])

    [new] = comparison.new
    assert (new.url, new.own_title, new.folder, new.declared) == ("https://b.example/x", "B", ("Tech", "Python"), True)
    assert comparison == DeclaredChanges(new=(new,))


def test_removed_feeds_are_dropped_and_return_when_declared_again() -> None:
    assert compared([], [FEED]) == DeclaredChanges(dropped=(1,))
    assert compared([WISH], [structs.replace(FEED, declared=False, next_fetch_at=None)]) == DeclaredChanges(
        returned=(1,)
    )


def test_a_feed_that_a_person_added_is_never_changed() -> None:
    theirs = structs.replace(FEED, added_by_person=True, declared=False)

    assert compared([], [theirs]) == DeclaredChanges()
    assert (
        compared([replace(FULL, address=UserUrl(URL))], [structs.replace(theirs, declared=True)]) == DeclaredChanges()
    )


def test_a_shorter_interval_takes_effect_at_once() -> None:
    [changed] = compared([replace(WISH, interval=timedelta(hours=1))], [FEED]).changed

    assert (changed.interval, changed.sooner) == (timedelta(hours=1), NOW + timedelta(hours=1))


@pytest.mark.parametrize(
    "feed", [structs.replace(FEED, consecutive_failures=2), structs.replace(FEED, last_fetched_at=None)]
)
def test_an_interval_does_not_speed_up_a_feed_that_is_backed_off_or_new(feed: Feed) -> None:
    [changed] = compared([replace(WISH, interval=timedelta(hours=1))], [feed]).changed

    assert changed.sooner is None


def test_a_feed_that_moved_still_matches_its_declaration() -> None:
    moved = structs.replace(FEED, url="https://elsewhere.example/feed")

    assert compared([WISH], [moved], {URL: 1}) == DeclaredChanges()


def test_a_merged_feed_stands_for_its_target() -> None:
    retired = structs.replace(FEED, status=FeedStatus.DISABLED, merged_into=2, declared=False)
    other = structs.replace(FEED, id=2, url="https://elsewhere.example/feed")

    assert compared([WISH], [retired, other]) == DeclaredChanges()


def compared(wishes: list[Declaration], feeds: list[Feed], former: dict[str, int] | None = None) -> DeclaredChanges:
    return compare_feeds(wishes, feeds, former or {}, FLOOR, NOW)


def written(folder: Path, name: str, text: str | bytes) -> Path:
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file
