"""Properties of the parser that hold for every document."""

import json
from xml.sax.saxutils import escape

from hypothesis import given, settings
from hypothesis import strategies as st

from feedmill.collect.entries.identity import identify_entries
from feedmill.collect.parsing.decode import decode
from feedmill.collect.parsing.formats.dates import parse_date
from feedmill.collect.parsing.parse_feed import ParsedFeed, parse_feed, read_recovered, read_well_formed
from feedmill.errors import NotAFeed
from tests.examples import examples

LETTERS = st.characters(codec="utf-8", exclude_categories=("Cc", "Cs"), exclude_characters="\ufffe\uffff")
TEXTS = st.text(LETTERS, max_size=40)
PIECES = st.sampled_from(
    [
        "<rss>",
        "<channel>",
        "<item>",
        "</item>",
        "<title>",
        "</title>",
        "<description>",
        "<![CDATA[",
        "]]>",
        "&amp;",
        "&",
        "<",
        ">",
        "<!--",
        "-->",
        "<br>",
        "<p>",
        "</p>",
        "&nbsp;",
        "&#0;",
        "<link/>",
        "<dc:date>",
        "2020-01-10",
        '"',
        "<entry>",
        "<feed xmlns='http://www.w3.org/2005/Atom'>",
        "<content type='xhtml'>",
        "<div>",
        "\x00",
        "\ud7ff",
        "x=1",
        "<!DOCTYPE a [",
        "]>",
        "<?xml",
        "?>",
        "<pubDate>",
        "<author>",
        "<media:group>",
        "<guid isPermaLink='false'>",
    ],
)


@st.composite
def well_formed_feeds(draw: st.DrawFn) -> str:
    items = draw(st.lists(st.dictionaries(st.sampled_from(NAMES), TEXTS), max_size=4))
    written = ("".join(f"<{name}>{escape(text)}</{name}>" for name, text in item.items()) for item in items)
    return f"<rss><channel><title>t</title>{''.join(f'<item>{item}</item>' for item in written)}</channel></rss>"


NAMES = ["title", "link", "guid", "description", "pubDate", "category", "author", "comments", "enclosure", "other"]


def parse_or_refuse(data: bytes) -> ParsedFeed | None:
    try:
        return parse_feed(data, content_type="text/xml; charset=utf-8", url="https://example.org/feed")
    except NotAFeed:
        return None


@given(st.binary(max_size=400))
def test_arbitrary_bytes_are_parsed_or_refused(data: bytes) -> None:
    parse_or_refuse(data)
    parse_or_refuse(b"<rss><channel><item>" + data)


@given(st.lists(PIECES, max_size=40).map("".join))
def test_fragments_of_feeds_are_parsed_or_refused(document: str) -> None:
    feed = parse_or_refuse(document.encode())

    assert feed is None or all(identify_entries(feed.entries)) or not feed.entries


@settings(max_examples=examples(200))
@given(well_formed_feeds())
def test_the_strict_and_the_recovering_parser_agree_on_well_formed_feeds(document: str) -> None:
    decoded = decode(document.encode())

    assert read_well_formed(decoded, None) == read_recovered(decoded, None)


@settings(max_examples=examples(200))
@given(well_formed_feeds())
def test_a_repair_changes_no_entry_of_a_well_formed_feed(document: str) -> None:
    faulty = document.replace("<channel>", "<channel> & ", 1)

    assert parse_feed(faulty.encode()).entries == parse_feed(document.encode()).entries


@given(st.text(max_size=120))
def test_any_text_is_a_date_in_utc_or_none(text: str) -> None:
    read = parse_date(text)

    assert read is None or read.utcoffset() is not None


KEYS = st.sampled_from(["items", "title", "version", "id", "url", "authors", "tags", "attachments", "date_published"])
SCALARS = st.none() | st.booleans() | st.floats() | st.text()


@given(st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner)))
def test_arbitrary_json_is_parsed_or_refused(value: object) -> None:
    parse_or_refuse(json.dumps({"version": "https://jsonfeed.org/version/1.1", "items": [value]}).encode())
