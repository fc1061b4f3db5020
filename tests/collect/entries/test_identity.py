"""What makes an entry the same entry at the next fetch."""

from datetime import UTC, datetime

from msgspec.structs import replace

from feedmill.collect.entries.identity import identify_entries
from feedmill.model.parsed_feed import Enclosure, ParsedEntry

ENTRY = ParsedEntry(guid="tag:1", link="https://example.org/1", title="One", published_raw="10 Jan", content_html="x")
NAMELESS = replace(ENTRY, guid=None, link=None)


def test_the_guid_is_the_identity() -> None:
    assert identify_entries([ENTRY]) == ["tag:1"]


def test_without_a_guid_the_link_is_the_identity() -> None:
    assert identify_entries([replace(ENTRY, guid=None)]) == ["https://example.org/1"]


def test_without_both_the_identity_is_made_of_title_and_raw_date() -> None:
    [identity] = identify_entries([NAMELESS])

    assert identity == identify_entries([replace(NAMELESS, content_html="changed")])[0]
    assert identity != identify_entries([replace(NAMELESS, title="Two")])[0]
    assert identity != identify_entries([replace(NAMELESS, published_raw="11 Jan")])[0]


def test_a_date_that_was_made_up_changes_nothing() -> None:
    assert identify_entries([NAMELESS]) == identify_entries(
        [replace(NAMELESS, published_at=datetime(2020, 1, 1, tzinfo=UTC))]
    )


def test_with_nothing_but_content_the_identity_is_made_of_it() -> None:
    bare = ParsedEntry(content_html="<p>one</p>")
    episode = ParsedEntry(enclosures=(Enclosure("https://example.org/1.mp3"),))

    assert (
        len(
            {
                *identify_entries([bare]),
                *identify_entries([ParsedEntry(content_html="two")]),
                *identify_entries([episode]),
            }
        )
        == 3
    )


def test_the_identity_is_never_empty() -> None:
    assert all(identify_entries([ParsedEntry(), ParsedEntry(guid="", link="", title="")]))


def test_repeated_guids_are_distinguished_by_their_links() -> None:
    other = replace(ENTRY, link="https://example.org/2")

    assert identify_entries([ENTRY, other]) == ["tag:1#https://example.org/1", "tag:1#https://example.org/2"]


def test_a_true_duplicate_has_the_identity_of_the_first() -> None:
    first, second = identify_entries([ENTRY, replace(ENTRY, title="One again")])

    assert first == second == "tag:1"


def test_one_repeated_guid_leaves_the_others_alone() -> None:
    other = replace(ENTRY, link="https://example.org/2")
    third = replace(ENTRY, guid="tag:3", link="https://example.org/3")

    assert identify_entries([ENTRY, other, third])[2] == "tag:3"


def test_a_long_identity_is_shortened_and_stays_unique() -> None:
    long, longer = identify_entries([replace(ENTRY, guid="g" * 5_000), replace(ENTRY, guid="g" * 5_001)])

    assert long != longer
    assert len(long) <= 500
    assert long.startswith("ggg")


def test_an_identity_of_five_hundred_characters_is_left_as_it_is() -> None:
    assert identify_entries([replace(ENTRY, guid="g" * 500)]) == ["g" * 500]
