"""Parsing a document: what is refused, what is ill-formed, and what the strict and the recovering parser share."""

from datetime import timedelta

import pytest

from feedmill.collect.parsing.decode import decode
from feedmill.collect.parsing.parse_feed import parse_feed, read_recovered, read_well_formed
from feedmill.errors import FeedError, NotAFeed

RSS = """<rss version="2.0"><channel><title>Notes</title><link>https://example.org/</link>
<item><guid>1</guid><title>A &amp; B</title><link>/1</link><description>&lt;p&gt;one&lt;/p&gt;</description></item>
<item><guid>2</guid><title>Second</title><link>/2</link><description><![CDATA[<p>two</p>]]></description></item>
</channel></rss>"""


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"", "empty"),
        (b" \r\n\t", "empty"),
        (b"<!DOCTYPE html><html><title>x</title></html>", "html"),
        (b"<!-- note --><html><body>x</body></html>", "html"),
        (b'{"error": "none"}', "json"),
        (b"[1, 2]", "json"),
        (b"{", "json"),
        (b"\x89PNG\r\n\x1a\n" + bytes(50), "binary"),
        (b"\x1f\x8b\x08\x00", "binary"),
        (b'<opml version="2.0"><body/></opml>', "xml"),
        (b"<" * 1000, "xml"),
        (b"Not found", "text"),
    ],
)
def test_a_document_that_is_not_a_feed_is_refused_with_what_it_looks_like(data: bytes, kind: str) -> None:
    with pytest.raises(NotAFeed) as caught:
        parse_feed(data)

    assert caught.value.looks_like == kind
    assert isinstance(caught.value, FeedError)


@pytest.mark.parametrize(
    "broken",
    [
        "\n\n" + RSS,
        "<b>Warning</b>: mysql\n" + RSS,
        '<?xml version="1.0"?>\n<?xml version="1.0"?>' + RSS,
        '<!DOCTYPE rss PUBLIC "x" "http://example.org/rss.dtd">' + RSS,
        RSS.replace("</channel></rss>", ""),
        RSS.replace("</channel>", "<extra></channel>"),
        RSS.replace("<channel>", "<channel>a & b < c &nbsp; &bogus; \x01"),
        RSS.replace("<channel>", "<channel><foo:bar/>"),
        RSS.replace("<channel>", "<channel><oops></opos>"),
        RSS.replace("<channel>", "<channel a=1 b='2' b='3'>"),
        RSS.replace("</item>\n<item>", "<item>"),
        RSS.replace("<channel>", "<channel><description>x<ttps://example.org/</description>"),
        RSS + "<!-- generated in 3 ms --> trailing",
    ],
)
def test_a_syntax_error_loses_no_entry(broken: str) -> None:
    assert parse_feed(broken.encode()).entries == parse_feed(RSS.encode()).entries


def test_a_truncated_document_loses_only_its_missing_part() -> None:
    half = RSS[: RSS.index("Second") + 3]

    assert parse_feed(half.encode()).entries == parse_feed(RSS.encode()).entries[:1]


def test_the_recovering_parser_gives_the_same_result_as_the_strict_one() -> None:
    document = decode(RSS.encode())

    assert read_recovered(document, None) == read_well_formed(document, None)


def test_an_unclosed_text_does_not_swallow_the_rest() -> None:
    feed = parse_feed(RSS.replace("one&lt;/p&gt;</description>", "one <pubDate>2020-01-10</pubDate>").encode())

    assert [entry.guid for entry in feed.entries] == ["1", "2"]
    assert feed.entries[0].published_raw == "2020-01-10"


def test_relative_urls_resolve_against_the_feeds_link_then_its_url() -> None:
    linkless = RSS.replace("<link>https://example.org/</link>", "")

    assert parse_feed(RSS.encode(), url="https://other.example/f.xml").entries[0].link == "https://example.org/1"
    assert parse_feed(linkless.encode(), url="https://other.example/f.xml").entries[0].link == "https://other.example/1"


def test_the_publishers_polling_hints_are_read() -> None:
    wishes = """<ttl>90</ttl><skipHours><hour>0</hour><hour>24</hour><hour>7</hour></skipHours>
    <skipDays><day>Sunday</day></skipDays>
    <sy:updatePeriod xmlns:sy="http://purl.org/rss/1.0/modules/syndication/">hourly</sy:updatePeriod>
    <sy:updateFrequency xmlns:sy="http://purl.org/rss/1.0/modules/syndication/">2</sy:updateFrequency>"""

    feed = parse_feed(RSS.replace("<channel>", "<channel>" + wishes).encode())

    assert feed.ttl == timedelta(minutes=90)
    assert feed.update_period == timedelta(minutes=30)
    assert feed.skip_hours == {0, 7}
    assert feed.skip_days == {6}


def test_a_plain_text_becomes_html_and_an_html_one_stays_raw() -> None:
    atom = '<feed xmlns="http://www.w3.org/2005/Atom"><entry><content{}>a &lt;b> c</content></entry></feed>'

    assert parse_feed(atom.format(' type="text"').encode()).entries[0].content_html == "a &lt;b&gt; c"
    assert parse_feed(atom.format(' type="html"').encode()).entries[0].content_html == "a <b> c"


def test_of_two_descriptions_the_first_is_the_summary_and_the_second_the_content() -> None:
    item = "<rss><channel><item><{0}>one</{0}><{1}>two</{1}></item></channel></rss>"

    for names in (("description", "summary"), ("summary", "description")):
        [entry] = parse_feed(item.format(*names).encode()).entries
        assert (entry.summary, entry.content_html) == ("one", "two")


def test_an_unknown_attribute_loses_nothing() -> None:
    itunes = 'xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"'
    item = """<item><comments a="1">/c</comments><itunes:duration a="1">90</itunes:duration>
    <itunes:keywords a="1">sea,sky</itunes:keywords><enclosure url="/1.mp3" type="audio/mpeg"/></item>"""

    [entry] = parse_feed(f"<rss {itunes}><channel>{item}</channel></rss>".encode(), url="https://example.org/").entries

    assert entry.comments_url == "https://example.org/c"
    assert entry.categories == ("sea", "sky")
    assert entry.enclosures[0].duration == timedelta(seconds=90)


def test_an_empty_entry_inside_another_is_ignored() -> None:
    feed = parse_feed(
        b"<rss><channel><item><title>1</title><item/></item><item><title>2</title></item></channel></rss>"
    )

    assert [entry.title for entry in feed.entries] == ["1", "2"]


@pytest.mark.parametrize("around", ["{}", "<author>{}</author>", "<description>lost {}</description>"])
def test_an_entry_inside_another_becomes_a_separate_one(around: str) -> None:
    inner = around.format("<item><title>2</title></item>")

    feed = parse_feed(f"<rss><channel><item><title>1</title>{inner}</item></channel></rss>".encode())

    assert [entry.title for entry in feed.entries] == ["1", "2"]
