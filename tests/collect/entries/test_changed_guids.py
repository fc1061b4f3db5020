"""Which entries are stored already, under another guid."""

from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from msgspec.structs import replace

from feedmill.collect.entries.changed_guids import OfferedEntry, match_changed_guids, match_returned_entries
from feedmill.collect.entries.storable_entry import storable_entry
from feedmill.model.parsed_feed import Enclosure, ParsedEntry
from feedmill.model.refresh import GoneEntry

NOW = datetime(2026, 2, 18, 8, 30, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
ARTICLE = ParsedEntry(
    guid="old", link="https://example.org/a-fire", title="A fire", content_html="It burnt.", published_at=NOW
)
EPISODE = replace(ARTICLE, title="News", enclosures=(Enclosure("https://example.org/8.mp3", "audio/mpeg"),))
_ids = count(1)


def gone(entry: ParsedEntry) -> GoneEntry:
    stored, digest = storable_entry(entry)
    files = tuple(enclosure.url for enclosure in stored.enclosures)
    date = stored.published_at or stored.updated_at
    return GoneEntry(next(_ids), stored.guid or "", digest, stored.title, stored.link, date, files)


def offered(entry: ParsedEntry, guid: str = "new") -> OfferedEntry:
    return OfferedEntry(guid, *storable_entry(entry))


def matches(offer: ParsedEntry, stored: ParsedEntry) -> bool:
    return bool(match_changed_guids([offered(offer)], [gone(stored)]))


@pytest.mark.parametrize(
    "offer",
    [
        ARTICLE,
        replace(ARTICLE, content_html="It burnt again."),
        replace(ARTICLE, link="http://www.example.org/a-fire/?utm_source=feed"),
        replace(ARTICLE, link="https://new.example/a-fire"),
        replace(ARTICLE, author="Somebody"),
    ],
    ids=["the same", "another text", "a tracker", "another host", "another author"],
)
def test_title_link_and_date_tell_an_entry(offer: ParsedEntry) -> None:
    assert matches(offer, ARTICLE)


@pytest.mark.parametrize(
    "offer",
    [
        replace(ARTICLE, title="Two fires", content_html="More."),
        replace(ARTICLE, link="https://example.org/another-fire"),
        replace(ARTICLE, published_at=NOW + HOUR),
        replace(ARTICLE, published_at=NOW + HOUR, content_html="More."),
        replace(ARTICLE, published_at=None),
    ],
    ids=["title", "link", "date", "date and text", "no date"],
)
def test_an_entry_with_another_title_link_or_date_is_another(offer: ParsedEntry) -> None:
    assert not matches(offer, ARTICLE)


def test_an_episode_with_another_file_or_date_is_another() -> None:
    """A news program has one title, one link and one text all day."""
    later = replace(EPISODE, published_at=NOW + HOUR)
    another_file = replace(EPISODE, enclosures=(Enclosure("https://example.org/9.mp3", "audio/mpeg"),))

    assert matches(EPISODE, EPISODE)
    assert matches(replace(EPISODE, content_html="The news."), EPISODE)
    assert not matches(later, EPISODE)
    assert not matches(another_file, EPISODE)


def test_entries_without_dates_must_be_equal_in_all() -> None:
    undated = replace(ARTICLE, published_at=None)

    assert matches(undated, undated)
    assert not matches(replace(undated, content_html="The word of today."), undated)


def test_a_post_without_a_title_must_be_equal_in_all() -> None:
    post = replace(ARTICLE, title=None)

    assert matches(post, post)
    assert not matches(replace(post, content_html="Another post."), post)


def test_entries_that_share_title_link_and_date_are_not_told_apart() -> None:
    stored = [gone(replace(ARTICLE, content_html=text)) for text in ("One.", "Two.")]

    assert match_changed_guids([offered(replace(ARTICLE, content_html="Three."))], stored) == {}


def test_of_entries_that_share_title_link_and_date_the_text_tells() -> None:
    stored = [gone(replace(ARTICLE, content_html=text)) for text in ("One.", "Two.")]

    assert match_changed_guids([offered(replace(ARTICLE, content_html="Two."))], stored) == {"new": stored[1]}


def old_articles(number: int) -> list[ParsedEntry]:
    """Articles of as many days."""
    return [
        replace(
            ARTICLE, title=f"A fire {place}", link=f"https://example.org/{place}", published_at=NOW - DAY * (place + 1)
        )
        for place in range(number)
    ]


@pytest.mark.parametrize(("number", "found"), [(2, 0), (3, 3), (30, 30)])
def test_many_equal_entries_with_the_date_of_an_import_are_the_same(number: int, found: int) -> None:
    """Software that is moved may date all entries anew; one or two may be a message that is sent again."""
    stored = old_articles(number)
    offer = [offered(replace(one, published_at=NOW), f"new{place}") for place, one in enumerate(stored)]

    assert len(match_changed_guids(offer, [gone(one) for one in stored])) == found


@pytest.mark.parametrize("period", [HOUR, DAY, 7 * DAY], ids=["hour", "day", "week"])
@pytest.mark.parametrize("gap", [timedelta(0), DAY], ids=["at once", "on many days"])
def test_what_is_published_again_each_time_is_new(period: timedelta, gap: timedelta) -> None:
    """The courses of a club, the menu of a day: the same titles, links and texts with other dates."""
    stored = [replace(one, published_at=NOW + gap * place) for place, one in enumerate(old_articles(5))]
    again = [replace(one, published_at=NOW + gap * place + period) for place, one in enumerate(stored)]
    offer = [offered(one, f"new{place}") for place, one in enumerate(again)]

    assert match_changed_guids(offer, [gone(one) for one in stored]) == {}


def test_another_text_at_a_date_without_a_time_is_another_entry() -> None:
    """A feed that gives days may publish the same title and link twice a day."""
    today = replace(ARTICLE, published_at=datetime(2026, 2, 18, tzinfo=UTC))

    assert matches(today, today)
    assert not matches(replace(today, content_html="The news of the evening."), today)


MIDNIGHT = datetime(2026, 2, 18, tzinfo=UTC)


def dated_by_day(number: int) -> list[ParsedEntry]:
    """Articles of as many days, of a site that gives no times."""
    return [replace(one, published_at=MIDNIGHT - DAY * place) for place, one in enumerate(old_articles(number))]


@pytest.mark.parametrize(("number", "found"), [(1, 0), (2, 0), (3, 3), (30, 30)])
def test_many_entries_of_several_days_are_the_same_by_headline_and_day(number: int, found: int) -> None:
    """Software that is moved may also write the texts in another way."""
    stored = dated_by_day(number)
    offer = [offered(replace(one, content_html="<p>It burnt.</p>"), f"new{n}") for n, one in enumerate(stored)]

    matched = match_changed_guids(offer, [gone(one) for one in stored])

    assert {guid: each.title for guid, each in matched.items()} == {
        each.guid: each.entry.title for each in offer[:found]
    }


def test_new_texts_of_one_day_are_new_entries() -> None:
    """Weather, traffic and markets, in the morning and in the evening, each at its own page."""
    morning = [replace(one, published_at=MIDNIGHT) for one in old_articles(5)]
    evening = [offered(replace(one, content_html="Now."), f"new{n}") for n, one in enumerate(morning)]

    assert match_changed_guids(evening, [gone(one) for one in morning]) == {}


def test_of_two_with_one_headline_and_day_neither_is_taken_for_the_other() -> None:
    others = dated_by_day(4)
    [first, *_] = others
    morning, noon = first, replace(first, content_html="At noon.")
    offer = [offered(replace(one, content_html="<p>It burnt.</p>"), f"new{n}") for n, one in enumerate(others[1:])]
    offer += [offered(morning, "morning"), offered(replace(first, content_html="At night."), "night")]

    matched = match_changed_guids(offer, [gone(one) for one in (*others, noon)])

    assert sorted(matched) == ["morning", "new0", "new1", "new2"]


def test_what_left_the_feed_before_is_the_same_with_its_date_alone() -> None:
    undated = replace(ARTICLE, published_at=None)

    assert match_returned_entries([offered(ARTICLE)], [gone(ARTICLE)]) != {}
    assert match_returned_entries([offered(undated)], [gone(undated)]) == {}
    assert match_returned_entries([offered(replace(ARTICLE, published_at=NOW + 7 * DAY))], [gone(ARTICLE)]) == {}


def test_a_few_equal_entries_among_many_new_ones_are_no_change_of_guids() -> None:
    """Messages that are sent again, in a feed that publishes much."""
    stored = old_articles(3)
    again = [offered(replace(one, published_at=NOW), f"again{place}") for place, one in enumerate(stored)]
    new = [offered(replace(ARTICLE, title=f"News {place}"), f"new{place}") for place in range(4)]

    assert match_changed_guids([*again, *new], [gone(one) for one in stored]) == {}


def test_a_stored_entry_is_found_once() -> None:
    twice = [offered(ARTICLE, "new1"), offered(ARTICLE, "new2")]

    assert match_changed_guids(twice, [gone(ARTICLE)]) == {}
