"""Which candidates are the same article, and in which order they are returned."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from feedmill.collect.stories.same_story import find_same_story, is_same_story
from feedmill.collect.stories.sign_entry import sign_entry
from feedmill.model.parsed_feed import Enclosure, ParsedEntry
from feedmill.model.stories.signature import STORY_WINDOW, StoryEntry

NOW = datetime(2026, 2, 18, 8, 30, tzinfo=UTC)
TEXT = (
    "The only ferry to the island stays in port for four days after a fire broke out in its engine room on Tuesday. "
    "All passengers were brought ashore by two fishing boats. The fire started shortly after the vessel had left the "
    "harbour. Crew members closed the engine room and flooded it with gas, which put out the flames within minutes. "
    "The island will be supplied by a chartered landing craft until the ferry is repaired, its owners said on Monday. "
    "Tickets for crossings that were cancelled will be refunded without a fee, and school begins an hour later for all "
    "children who live on the mainland and whose way to school leads across the water every single day of the week."
)
ENTRY = ParsedEntry(link="https://example.org/news/ferry-fire", title="Fire on the island ferry", content_html=TEXT)


ENTRY_AT_ANOTHER_PAGE = replace(ENTRY, link="https://example.org/news/ferry-fire-2")


def story(entry: ParsedEntry, feed_id: int = 1, at: datetime = NOW) -> StoryEntry:
    return StoryEntry(0, feed_id, at, sign_entry(entry).sketch)


def elsewhere(title: str | None, text: str | None = TEXT) -> ParsedEntry:
    return ParsedEntry(link=f"https://other.example/{title}", title=title, content_html=text)


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
    unlike = story(ParsedEntry(title="Something else altogether", content_html=TEXT[::-1]), 4)

    assert find_same_story(story(ENTRY), [later, unlike, earlier]) == [earlier, later]


def test_a_common_link_is_surer_than_a_title_and_a_title_than_a_text() -> None:
    by_text = story(elsewhere("Passengers of a ferry saved from a fire"), 2, NOW - timedelta(hours=3))
    by_title = story(elsewhere("Fire on the island ferry"), 3, NOW - timedelta(hours=2))
    by_link = story(ParsedEntry(link=ENTRY.link, title="Breaking"), 4, NOW - timedelta(hours=1))

    assert find_same_story(story(ENTRY), [by_text, by_title, by_link]) == [by_link, by_title, by_text]


def test_a_text_that_a_feed_has_under_many_titles_is_a_template() -> None:
    names = ("northern", "southern", "western")
    posts = [story(elsewhere(f"The {name} ferry after the fire"), 2) for name in names]

    assert find_same_story(story(ENTRY), posts[:2]) == posts[:2]
    assert find_same_story(story(ENTRY), posts) == []


def test_a_link_that_many_entries_of_a_feed_have_leads_to_a_list() -> None:
    posts = [story(ParsedEntry(link=ENTRY.link, title=f"Post number {number}"), 2) for number in range(3)]

    assert find_same_story(story(ENTRY), posts[:2]) == posts[:2]
    assert find_same_story(story(ENTRY), posts) == []


def test_a_feed_with_many_copies_keeps_no_other_feed_from_the_story() -> None:
    posts = [story(ParsedEntry(link=ENTRY.link, title=f"Post number {number}"), 2) for number in range(3)]
    other = story(ParsedEntry(link=ENTRY.link, title="Breaking"), 3)

    assert find_same_story(story(ENTRY), [*posts, other]) == [other]


def test_one_feed_publishes_an_article_twice_only_with_the_very_same_title_and_text() -> None:
    again = replace(ENTRY_AT_ANOTHER_PAGE, title=ENTRY.title)

    assert is_same_story(story(ENTRY), story(again, 1, NOW + timedelta(hours=1)))
    assert not is_same_story(story(ENTRY), story(replace(again, title="Fire on the island's ferry")))
    assert not is_same_story(story(ENTRY), story(again, 1, NOW + timedelta(days=3)))
    assert not is_same_story(story(ENTRY), story(replace(again, content_html=TEXT.replace("Tuesday", "Friday"))))


@pytest.mark.parametrize("feed_id", [1, 2])
def test_two_pages_of_a_site_are_compared_as_strictly_as_two_entries_of_a_feed(feed_id: int) -> None:
    cut = replace(ENTRY_AT_ANOTHER_PAGE, content_html=TEXT[:300])

    assert not is_same_story(story(ENTRY), story(cut, feed_id))
    assert is_same_story(story(ENTRY), story(elsewhere(ENTRY.title, TEXT[:300]), 2))


def test_a_comment_on_an_article_that_has_its_link_is_not_the_article() -> None:
    own = " ".join(f"opinion{number}" for number in range(40))
    comment = ParsedEntry(link=ENTRY.link, title="Why we need two ships", content_html=own)

    assert not is_same_story(story(ENTRY), story(comment, 2))
    assert is_same_story(story(ENTRY), story(replace(comment, content_html="Worth reading."), 2))


def test_comparing_is_symmetric() -> None:
    entries = [story(elsewhere(title, text), 2) for title in (None, ENTRY.title, "x") for text in (None, TEXT, "y")]

    for one in entries:
        for other in entries:
            assert is_same_story(one, other) == is_same_story(other, one)


def test_a_title_that_says_little_needs_the_very_same_text() -> None:
    one = story(elsewhere("Daily links"), 1)

    assert is_same_story(one, story(replace(ENTRY, title="Daily links"), 2))
    assert not is_same_story(one, story(replace(ENTRY, title="Daily links", content_html=TEXT[:300]), 2))
    assert is_same_story(
        story(elsewhere("Daily links from the harbour")),
        story(replace(ENTRY, title="Daily links from the harbour", content_html=TEXT[:300]), 2),
    )


@pytest.mark.parametrize(
    ("text", "days"), [(None, 3), ("What nobody expected, and what comes next for all who need it.", 1)]
)
def test_a_title_without_the_text_is_enough_for_some_days(text: str | None, days: int) -> None:
    title = "Fire on the island ferry: all passengers saved"
    one, other = replace(ENTRY, title=title), elsewhere(title, text)

    assert is_same_story(story(one), story(other, 2, NOW + timedelta(days=days)))
    assert not is_same_story(story(one), story(other, 2, NOW + timedelta(days=days, hours=1)))


def test_posts_that_differ_in_a_number_alone_are_two() -> None:
    post = "The 8:14 to the main station is cancelled because of works. " + " ".join(TEXT.split()[:30])
    one, same, other = (elsewhere(None, text) for text in (post, post, post.replace("8:14", "9:47")))

    assert is_same_story(story(one), story(replace(same, link="https://third.example/x"), 2))
    assert not is_same_story(story(one), story(replace(other, link="https://third.example/x"), 2))


def episode(host: str, notes: str, file: str | None = None) -> ParsedEntry:
    audio = Enclosure(file or f"https://{host}.example/audio/1.mp3", "audio/mpeg")
    title = "The morning news from the coast and the islands"
    return ParsedEntry(link=f"https://{host}.example/show", title=title, content_html=notes, enclosures=(audio,))


SHORT_NOTES = "The latest headlines from around the region, read by our newsroom at seven."


def test_episodes_with_the_same_title_and_short_notes_are_told_apart_by_their_audio() -> None:
    own, mirrored = story(episode("one", SHORT_NOTES)), story(episode("two", SHORT_NOTES), 2)
    same_file = story(episode("three", SHORT_NOTES, "https://one.example/audio/1.mp3?utm_source=three"), 3)
    article = story(replace(episode("four", SHORT_NOTES), enclosures=()), 4)

    assert not is_same_story(own, mirrored)
    assert is_same_story(own, same_file)
    assert is_same_story(own, article)


def test_an_episode_that_is_uploaded_again_is_known_by_its_notes() -> None:
    assert is_same_story(story(episode("one", TEXT)), story(episode("two", TEXT), 2))
