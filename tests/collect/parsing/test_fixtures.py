"""Feeds in tests/data, each with a file of the fields that the specifications require."""

import json
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from feedmill.collect.parsing.parse_feed import parse_feed
from feedmill.errors import NotAFeed

DATA = Path(__file__).parents[2] / "data"
PAIRS = sorted(path for path in DATA.glob("*/*.json") if path.with_suffix("").exists())
GROUPS = sorted({path.parent.name for path in PAIRS})
WELL_FORMED = ("rss", "rdf", "atom", "extensions", "dates", "identity", "base-and-links")
ROOT = re.compile(rb"<(?:\w+:)?(?:rss|feed|RDF)\b[^>]*>")
FAULTS = {"repairable": b" & ", "beyond repair": b"<oops></opos>"}


def pairs_of(group: str) -> Iterator[tuple[str, bytes, dict[str, Any]]]:
    """The name, the feed and the expectation of each pair of a folder."""
    for path in PAIRS:
        if path.parent.name == group:
            expected = json.loads(path.read_text(encoding="utf-8"))
            yield path.stem, path.with_suffix("").read_bytes(), expected


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


def parsed(data: bytes, expected: dict[str, Any]) -> dict[str, Any]:
    """What the parser makes of a feed, in the form of its expectation."""
    try:
        feed = parse_feed(data, content_type=expected.get("content_type"), url=expected.get("url"))
    except NotAFeed as refusal:
        return expected | {"raises": "NotAFeed", "looks_like": refusal.looks_like}
    result = expected | {"entries": seen(feed.entries, expected.get("entries", []))}
    if "feed" in expected:
        result["feed"] = seen(feed, expected["feed"])
    result.pop("raises", None)
    return result


@pytest.mark.parametrize("group", GROUPS)
def test_a_feed_is_parsed_as_its_expectation_says(group: str) -> None:
    expectations = {name: (data, expected) for name, data, expected in pairs_of(group)}

    results = {name: parsed(data, expected) for name, (data, expected) in expectations.items()}

    assert results == {name: expected for name, (_, expected) in expectations.items()}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize("group", WELL_FORMED)
def test_an_error_elsewhere_in_the_feed_changes_no_field(group: str, fault: bytes) -> None:
    for name, data, expected in pairs_of(group):
        faulty = ROOT.sub(lambda root: root.group() + fault, data, count=1)

        url = expected.get("url")
        assert parse_feed(faulty, url=url) == parse_feed(data, url=url), name


def test_every_feed_in_a_group_has_its_expectation() -> None:
    groups = {path.parent for path in PAIRS}
    feeds = {path for group in groups for path in group.iterdir()} - set(PAIRS)

    assert {path.with_suffix("") for path in PAIRS} == feeds
