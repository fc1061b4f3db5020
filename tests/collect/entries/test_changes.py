"""Comparing the entries of a feed with those that are stored."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedmill.collect.entries.changes import (
    MAX_REVISIONS,
    compare_entries,
    entries_by_identity,
    identities_to_look_up,
    ids_that_may_be_gone,
)
from feedmill.collect.entries.storable_entry import storable_entry
from feedmill.collect.entries.storable_text import LONGEST_LINE, storable_identity, storable_language, storable_text
from feedmill.collect.parsing.formats.dates import parse_date
from feedmill.model.parsed_feed import Enclosure, ParsedEntry, ParsedFeed
from feedmill.model.refresh import EntryDiff, GoneEntry, KnownEntry

NOW = datetime(2026, 2, 18, 8, 30, tzinfo=UTC)
HOUR = timedelta(hours=1)


def entry(guid: str | None, link: str | None = None, title: str = "t", **more: object) -> ParsedEntry:
    return ParsedEntry(guid=guid, link=link, title=title, **more)  # type: ignore[arg-type]


def known(number: int, like: ParsedEntry, in_feed: bool = True, revisions: int = 0) -> KnownEntry:
    return KnownEntry(number, storable_entry(like)[1], in_feed, revisions)


def changes(
    offer: list[ParsedEntry],
    have: dict[str, KnownEntry] | None = None,
    purged: set[str] | None = None,
    **more: Any,
) -> EntryDiff:
    entries = entries_by_identity(ParsedFeed(entries=tuple(offer)))
    site_url = "https://example.org/"
    return compare_entries(entries, have or {}, purged or set(), NOW, site_url=site_url, with_images=True, **more)


def test_the_oldest_new_entry_is_stored_first() -> None:
    assert [new.guid for new in changes([entry("2"), entry("1")]).new] == ["1", "2"]


@pytest.mark.parametrize(
    ("published", "updated", "sorted_at", "shown_at"),
    [
        (NOW - HOUR, None, NOW - HOUR, NOW - HOUR),
        (NOW + HOUR, None, NOW, NOW + HOUR),
        (None, NOW - HOUR, NOW - HOUR, NOW - HOUR),
        (None, None, NOW, NOW),
    ],
)
def test_an_entry_sorts_by_its_date_but_never_later_than_first_seen(
    published: datetime | None, updated: datetime | None, sorted_at: datetime, shown_at: datetime
) -> None:
    [new] = changes([entry("1", published_at=published, updated_at=updated)]).new

    assert (new.sort_at, new.published_at) == (sorted_at, shown_at)
    assert new.undated == (published is None and updated is None)


def test_what_a_first_fetch_brings_without_dates_sorts_below_all_dates() -> None:
    earliest = parse_date("1900-01-01T00:00:00+14:00")
    undated, dated = changes([entry("dated", published_at=earliest), entry("undated")], is_first=True).new

    assert undated.sort_at < dated.sort_at
    assert (undated.published_at, undated.date, undated.undated) == (NOW, NOW, True)
    assert (dated.date, dated.undated) == (earliest, False)


def test_an_unchanged_feed_changes_nothing() -> None:
    one = entry("1", content_html="x")

    assert changes([one], {"1": known(7, one)}) == EntryDiff()


def test_a_changed_text_is_a_revision_with_the_next_number() -> None:
    have = {"1": known(7, entry("1", content_html="x"), revisions=2)}

    [revision] = changes([entry("1", content_html="y")], have).revised

    assert (revision.entry_id, revision.number, revision.content_html) == (7, 3, "y")


def test_the_number_of_revisions_is_limited() -> None:
    have = {"1": known(7, entry("1", content_html="x"), revisions=MAX_REVISIONS)}

    assert changes([entry("1", content_html="y")], have).revised == ()


def test_entries_that_left_the_feed_and_that_came_back_are_noticed() -> None:
    stayed, left, back = entry("stayed"), entry("left"), entry("back")
    have = {"stayed": known(1, stayed), "left": known(2, left), "back": known(3, back, in_feed=False)}

    found = changes([stayed, back], have)

    assert (found.new, found.dropped, found.returned, found.overflows) == ((), (2,), (3,), False)


def test_an_entry_that_is_found_is_not_taken_for_another_under_a_new_guid() -> None:
    """Its guid repeats now. The other one has its title, page and date, at another host."""
    stored = entry("g", "https://one.example/a", published_at=NOW)
    other = entry("g", "https://two.example/a", published_at=NOW, content_html="Another text.")
    have = {"g": known(1, stored)}
    gone = GoneEntry(1, "g", have["g"].digest, "t", "https://one.example/a", NOW)

    found = changes([stored, other], have, gone=[gone])

    assert ([new.link for new in found.new], found.changed_guids) == (["https://two.example/a"], ())


def test_nothing_is_sought_under_other_guids_without_a_guid_that_is_new() -> None:
    have = {"a": known(1, entry("a")), "b": known(2, entry("b")), "c": known(3, entry("c"), in_feed=False)}

    assert ids_that_may_be_gone({"a": entry("a")}, have) == []
    assert ids_that_may_be_gone({"a": entry("a"), "x": entry("x")}, have) == [2]


@pytest.mark.parametrize(
    ("offer", "overflows"), [(["a", "x"], False), (["x", "y"], True), ([], False), (["gone", "x"], True)]
)
def test_a_feed_overflows_when_it_shares_nothing_with_its_last_body(offer: list[str], overflows: bool) -> None:
    have = {"a": known(1, entry("a")), "b": known(2, entry("b")), "gone": known(3, entry("gone"), in_feed=False)}

    assert changes([entry(guid) for guid in offer], have).overflows is overflows


def test_a_new_feed_does_not_overflow() -> None:
    assert not changes([entry("a")]).overflows


def test_a_purged_entry_is_not_new() -> None:
    assert [new.guid for new in changes([entry("a"), entry("b")], purged={"a"}).new] == ["b"]


def test_a_guid_that_starts_to_repeat_is_looked_up_under_both_identities() -> None:
    old, new = entry("x", "https://e/a", "a"), entry("x", "https://e/b", "b")
    entries = entries_by_identity(ParsedFeed(entries=(new, old)))

    found = compare_entries(entries, {"x": known(1, old)}, set(), NOW, site_url=None, with_images=False)

    assert set(identities_to_look_up(entries)) == {"x#https://e/a", "x#https://e/b", "x"}
    assert [one.guid for one in found.new] == ["x#https://e/b"]
    assert (found.revised, found.dropped, found.overflows) == ((), (), False)


def test_a_guid_that_no_longer_repeats_is_still_the_entry_with_that_link() -> None:
    old, new = entry("x", "https://e/a", "a"), entry("x", "https://e/b", "b")
    have = {"x": known(1, old), "x#https://e/b": known(2, new)}

    found = changes([new], have)

    assert (found.new, found.revised, found.dropped) == ((), (), (1,))


def test_images_are_collected_only_when_they_are_archived() -> None:
    offer = {"1": entry("1", "https://e/post", content_html='<img src="a.png">')}

    with_images = compare_entries(offer, {}, set(), NOW, site_url=None, with_images=True).new[0].images
    without = compare_entries(offer, {}, set(), NOW, site_url=None, with_images=False).new[0].images

    assert (with_images, without) == (("https://e/a.png",), ())


def test_a_text_that_is_both_summary_and_content_is_stored_once() -> None:
    [new] = changes([entry("1", content_html="x", summary="x")]).new

    assert (new.content_html, new.summary) == ("x", None)


@pytest.mark.parametrize(
    ("given_text", "kept"),
    [
        (None, None),
        ("", ""),
        ("a\x00b", "ab"),
        ("a\ud800b", "ab"),
        ("x" * 30_000, "x" * LONGEST_LINE),
        ("é" * 10_001, "é" * 10_000),
    ],
)
def test_a_text_is_cleaned_and_truncated_by_bytes(given_text: str | None, kept: str | None) -> None:
    assert storable_text(given_text) == kept


@pytest.mark.parametrize(
    ("said", "kept"), [("en", "en"), ("x" * 64, "x" * 64), ("x" * 65, None), ("中文", None), ("", None), (None, None)]
)
def test_a_language_is_short_and_ascii_or_none(said: str | None, kept: str | None) -> None:
    assert storable_language(said) == kept


@given(st.text(max_size=300))
def test_an_identity_is_never_empty_and_can_be_stored(guid: str) -> None:
    kept = storable_identity(guid)

    assert kept == kept.strip()
    assert kept
    assert "\x00" not in kept
    assert kept.encode()


anything = st.none() | st.text(max_size=40) | st.just("深" * 400_000) | st.just("\x00\ud83d")


@given(anything, anything, anything, st.lists(st.text(max_size=5).map(lambda one: one * 5000), max_size=20))
def test_any_entry_fits_into_a_row_of_every_database(
    content: str | None, summary: str | None, line: str | None, categories: list[str]
) -> None:
    monster = ParsedEntry(
        guid="1",
        title=line,
        link=line,
        author=line,
        image_url=line,
        comments_url=line,
        base_url=line,
        language=line,
        content_html=content,
        summary=summary,
        categories=tuple(categories),
        enclosures=(Enclosure(line or "u", line),) * 50,
    )

    kept, digest = storable_entry(monster)

    words = [getattr(kept, name) for name in ParsedEntry.__struct_fields__ if isinstance(getattr(kept, name), str)]
    words += [*kept.categories, *(one.url for one in kept.enclosures)]
    assert sum(len(word.encode()) for word in words) < 1_900_000
    assert not any("\x00" in word for word in words)
    assert storable_entry(kept) == (kept, digest)
