"""Keys find candidates, and the sketch is small: what every database must be able to store and index."""

from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from feedmill.collect.stories.same_story import is_same_story
from feedmill.collect.stories.sign_entry import sign_entries, sign_entry
from feedmill.collect.stories.sketch import SKETCH_VERSION, keys_of_sketch
from feedmill.model.parsed_feed import Enclosure, ParsedEntry
from feedmill.model.stories.signature import MAX_SKETCH, MAX_STORY_KEYS, StoryEntry, StorySignature
from feedmill.store.search.index import tokenize_entry
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


def test_keys_and_sketch_never_change() -> None:
    """They are stored. Who changes them changes `SKETCH_VERSION`, and this test."""
    assert SKETCH_VERSION == 1
    assert sign_entry(ENTRY) == StorySignature(
        keys=(320210127443949, 683263254210846, 851057629457545, 1117708442939879),
        sketch="AQQFFxgAZAAXAAAxhKoU+9oAASM6uuZX7QACbWyfjikeAAMGCEuv7IkAA/iMxrQx5wnPKcht5m/qHBNt5jNQHBNSxG3mb+oZ5w5OXcwJ"
        "+GZ9fGZOQQAACc8QgW2ZDk41yRqNUZspyDD5FjHY2KSk7Ozso6NGRgEBAQEBj0Sbm7hrODg4QKenhjE=",
    )


def test_a_link_that_several_entries_of_a_document_share_is_no_key() -> None:
    other = ParsedEntry(link=ENTRY.link, title="Another title", content_html="Another text")

    [alone] = sign_entries([ENTRY])
    shared, _ = sign_entries([ENTRY, other])

    assert len(alone.keys) == len(shared.keys) + 1


@given(any_text, any_text, any_text)
@settings(max_examples=examples(200))
def test_the_words_of_the_search_index_give_the_same_signature(
    title: str | None, summary: str | None, content: str | None
) -> None:
    reddit = f"{content} submitted by someone <a href='https://example.com/a-b'>[link]</a>"
    entries = [
        ParsedEntry(link="https://example.org/1", title=title, summary=summary, content_html=text)
        for text in (content, reddit, f"Article URL: {content}")
    ]

    assert sign_entries(entries, map(tokenize_entry, entries)) == sign_entries(entries)


def test_the_sketch_has_the_keys() -> None:
    signature = sign_entry(ENTRY)

    assert keys_of_sketch(signature.sketch) == signature.keys
    assert keys_of_sketch("") == ()
