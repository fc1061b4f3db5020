"""Truncated documents, and documents that are ill-formed but complete."""

import json
import time

import pytest

from feedmill.collect.parsing.parse_feed import parse_feed
from feedmill.collect.parsing.truncation import is_truncated, read_truncated_json, unfinished_entry
from feedmill.errors import NotAFeed

RSS = """<?xml version="1.0"?>
<rss version="2.0"><channel><title>Notes</title><link>https://example.org/</link>
<item><title>first</title><guid>1</guid><description>one</description></item>
<item><title>second</title><guid>2</guid><description><![CDATA[<p>two</p>]]></description></item>
</channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Notes</title><id>x</id>
<entry><id>1</id><title>first</title><content>one</content></entry>
<entry><id>2</id><title>second</title><content>two</content></entry></feed>"""
RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">
<channel rdf:about="https://example.org/"><title>Notes</title><items><rdf:Seq/></items></channel>
<item rdf:about="1"><title>first</title><link>https://example.org/1</link></item>
<item rdf:about="2"><title>second</title><link>https://example.org/2</link></item></rdf:RDF>"""
JSON = json.dumps(
    {
        "version": "https://jsonfeed.org/version/1.1",
        "title": "Notes",
        "items": [{"id": "1", "title": "first", "content_text": "one"}, {"id": "2", "title": "second", "tags": ["a"]}],
    }
)
FORMATS = {"rss": RSS, "atom": ATOM, "rdf": RDF, "json": JSON}


@pytest.mark.parametrize("name", FORMATS)
def test_a_document_cut_anywhere_is_truncated_and_gives_only_complete_entries(name: str) -> None:
    document = FORMATS[name].encode()
    complete = parse_feed(document).entries

    for end in range(len(document)):
        try:
            feed = parse_feed(document[:end])
        except NotAFeed:
            continue
        assert feed.is_truncated, document[:end]
        assert feed.entries == complete[: len(feed.entries)], document[:end]


@pytest.mark.parametrize("name", FORMATS)
def test_a_complete_document_is_not_truncated(name: str) -> None:
    assert not parse_feed(FORMATS[name].encode()).is_truncated


@pytest.mark.parametrize(
    "ill_formed",
    [
        RSS.replace("Notes", "Notes &nbsp; & more"),
        RSS.replace("<title>first", "<title>first<br>"),
        RSS.replace("</item>\n<item>", "<item>"),
        RSS.replace("two</p>]]>", "two</p> <item>]]>").replace("Notes", "&nbsp;"),
        RSS.replace("one", "one <!-- never closed"),
        RSS + "<script>advertisement</script>",
        "<!DOCTYPE rss>" + RSS,
        RDF.replace("Notes", "&nbsp;").replace("rdf:RDF>", "rdf:rdf>"),
        ATOM.replace("Notes", "&nbsp;"),
    ],
)
def test_an_ill_formed_but_complete_document_is_not_truncated(ill_formed: str) -> None:
    feed = parse_feed(ill_formed.encode())

    assert (feed.is_truncated, len(feed.entries)) == (False, 2)


@pytest.mark.parametrize("fault", ["&nbsp;", "<br>", "\x01", "a & b"])
def test_an_ill_formed_document_can_be_truncated_too(fault: str) -> None:
    feed = parse_feed(RSS.replace("Notes", fault).partition("<p>")[0].encode())

    assert feed.is_truncated
    assert [entry.guid for entry in feed.entries] == ["1"]


def test_half_a_title_is_not_used_as_the_feeds_title() -> None:
    assert parse_feed(b"<rss><channel><title>Half a ti").title is None


def test_a_document_that_ends_with_the_first_tag_of_an_item_has_no_entries() -> None:
    feed = parse_feed(b"<rss><channel><item>")

    assert (feed.is_truncated, feed.entries) == (True, ())


def test_an_entry_inside_a_comment_is_ignored() -> None:
    text = "<rss><channel><item><title>a</title></item><!-- <item> --><ttl>6"

    assert is_truncated(text, text.encode())
    assert unfinished_entry(text) is None


@pytest.mark.parametrize("text", ["", "[", '{"items": [1, 2', '{"items": [1, 2]', '{"items": {"a": 1', "{[", '{"a" 1}'])
def test_truncated_json_is_parsed_without_an_error(text: str) -> None:
    read = read_truncated_json(text)

    assert read is None or read.get("items", [1, 2]) in ([1, 2], [1])


@pytest.mark.parametrize(
    "piece",
    ["<item>", "</item>", "<![CDATA[", "]]>", "<!--", "-->", "</rss", "</rss ", "<a:", "[", '{"a":', '"', ",", " "],
)
def test_the_time_is_linear_in_the_length(piece: str, size_share: float) -> None:
    def seconds(times: int) -> float:
        text = "<rss>" + piece * times
        begun = time.process_time()
        is_truncated(text, text.encode())
        unfinished_entry(text)
        read_truncated_json('{"items": [' + piece * times)
        return time.process_time() - begun

    # The minimum of three: a busy machine only adds time.
    short, long = (min(seconds(int(times * size_share)) for _ in range(3)) for times in (20_000, 80_000))
    assert long < 8 * max(short, 0.02 * size_share)
