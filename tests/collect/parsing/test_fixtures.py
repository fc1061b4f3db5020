"""Feeds in tests/data, each with a file of the fields that the specifications require."""

import json
import re
from datetime import datetime, timedelta
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from feedmill.collect.parsing.parse_feed import parse_feed
from feedmill.errors import NotAFeed

DATA = Path(__file__).parents[2] / "data"
PAIRS = sorted(path for path in DATA.glob("*/*.json") if path.with_suffix("").exists())
WELL_FORMED = {"rss", "rdf", "atom", "extensions", "dates", "identity", "base-and-links"}
ROOT = re.compile(rb"<(?:\w+:)?(?:rss|feed|RDF)\b[^>]*>")
FAULTS = {"repairable": b" & ", "beyond repair": b"<oops></opos>"}


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def as_json(value: Any) -> Any:
    match value:
        case datetime():
            return value.isoformat().replace("+00:00", "Z")
        case timedelta():
            return value.total_seconds()
        case frozenset():
            return sorted(value)
        case _:
            return value


def seen(value: Any, expected: Any) -> Any:
    """Reduces the parser's result to the fields that the expectation names."""
    match expected:
        case dict() if value is not None:
            return {name: seen(getattr(value, name), want) for name, want in expected.items()}
        case list() if isinstance(value, tuple):
            return [seen(item, want) for item, want in zip_longest(value, expected)]
        case _:
            return as_json(value)


@pytest.mark.parametrize("path", PAIRS, ids=name_of)
def test_a_feed_is_parsed_as_its_expectation_says(path: Path) -> None:
    expected = json.loads(path.read_text(encoding="utf-8"))
    data = path.with_suffix("").read_bytes()
    circumstances = {name: expected.get(name) for name in ("content_type", "url")}

    if expected.get("raises") == "NotAFeed":
        with pytest.raises(NotAFeed) as caught:
            parse_feed(data, **circumstances)
        assert caught.value.looks_like == expected["looks_like"], expected["why"]
    else:
        feed = parse_feed(data, **circumstances)
        assert seen(feed, expected.get("feed", {})) == expected.get("feed", {}), expected["why"]
        assert seen(feed.entries, expected["entries"]) == expected["entries"], expected["why"]


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize("path", [path for path in PAIRS if path.parent.name in WELL_FORMED], ids=name_of)
def test_an_error_elsewhere_in_the_feed_changes_no_field(path: Path, fault: bytes) -> None:
    url = json.loads(path.read_text(encoding="utf-8")).get("url")
    data = path.with_suffix("").read_bytes()

    faulty = ROOT.sub(lambda root: root.group() + fault, data, count=1)

    assert parse_feed(faulty, url=url) == parse_feed(data, url=url)


def test_every_feed_in_a_group_has_its_expectation() -> None:
    groups = {path.parent for path in PAIRS}
    feeds = {path for group in groups for path in group.iterdir()} - set(PAIRS)

    assert {path.with_suffix("") for path in PAIRS} == feeds
