"""Keys find candidates, and the sketch is small: what every database must be able to store and index."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from feedmill.collect.stories.same_story import find_same_story, is_same_story
from feedmill.collect.stories.sign_entry import sign_entries, sign_entry
from feedmill.model.parsed_feed import Enclosure, ParsedEntry
from feedmill.model.stories.signature import MAX_SKETCH, MAX_STORY_KEYS, STORY_WINDOW, StoryEntry
from tests.examples import examples

NOW = datetime(2026, 2, 18, 8, 30, tzinfo=UTC)
TEXT = "The only ferry to the island stays in port for four days after a fire broke out in its engine room on Tuesday."
ENTRY = ParsedEntry(link="https://example.org/news/ferry-fire", title="Fire on the island ferry", content_html=TEXT)


def story(entry: ParsedEntry, feed_id: int = 1, at: datetime = NOW) -> StoryEntry:
    return StoryEntry(0, feed_id, at, sign_entry(entry).sketch)


any_text = st.none() | st.text(max_size=300)


@given(any_text, any_text, any_text)
@settings(max_examples=examples(200))
def test_keys_and_sketch_fit_every_database(link: str | None, title: str | None, text: str | None) -> None:
    enclosures = (Enclosure(link or "x", "audio/mpeg"),)

    signature = sign_entry(ParsedEntry(link=link, title=title, content_html=text, enclosures=enclosures))

    assert len(signature.keys) == len(set(signature.keys)) <= MAX_STORY_KEYS
    assert all(0 <= key < 2**53 for key in signature.keys)
    assert 0 < len(signature.sketch) <= MAX_SKETCH
    assert signature.sketch.isascii()


def test_the_longest_sketch_fits() -> None:
    words = " ".join(f"word{number}" for number in range(5000))
    links = "".join(f'<a href="https://example.org/{number}-x">[link]</a>' for number in range(9))

    signature = sign_entry(ParsedEntry(link="https://example.org/a-b", title=words, content_html=links + words))

    assert len(signature.sketch) <= MAX_SKETCH
    assert len(signature.keys) <= MAX_STORY_KEYS


def test_an_entry_without_anything_has_no_keys_and_equals_nothing() -> None:
    assert sign_entry(ParsedEntry()).keys == ()
    assert not is_same_story(story(ParsedEntry()), story(ParsedEntry(), feed_id=2))


def test_a_link_that_several_entries_of_a_document_share_is_no_key() -> None:
    other = ParsedEntry(link=ENTRY.link, title="Another title", content_html="Another text")

    [alone] = sign_entries([ENTRY])
    shared, _ = sign_entries([ENTRY, other])

    assert len(alone.keys) == len(shared.keys) + 1


@pytest.mark.parametrize("sketch", ["", "x", "AQ==", "////", "é", "AgAAAAAAAAAA"])
def test_a_damaged_sketch_or_one_of_another_version_equals_nothing(sketch: str) -> None:
    damaged = StoryEntry(1, 2, NOW, sketch)

    assert find_same_story(story(ENTRY), [damaged]) == []
    assert find_same_story(damaged, [story(ENTRY)]) == []


def test_entries_far_apart_in_time_are_not_the_same() -> None:
    within, beyond = NOW + STORY_WINDOW, NOW + STORY_WINDOW + timedelta(seconds=1)

    assert is_same_story(story(ENTRY), story(ENTRY, 2, within))
    assert not is_same_story(story(ENTRY), story(ENTRY, 2, beyond))


def test_all_matches_are_found_the_earliest_first() -> None:
    later, earlier = story(ENTRY, 2, NOW + timedelta(hours=2)), story(ENTRY, 3, NOW - timedelta(hours=2))
    unlike = replace(story(ParsedEntry(title="Something else altogether", content_html=TEXT[::-1])), feed_id=4)

    assert find_same_story(story(ENTRY), [later, unlike, earlier]) == [earlier, later]
