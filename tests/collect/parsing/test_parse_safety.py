"""Hostile documents: bounded time, bounded memory, and no file or connection is opened."""

import socket
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from feedmill.collect.parsing.declared_entities import MAX_ENTITIES, MAX_EXPANSION
from feedmill.collect.parsing.formats.xmlfeed import MAX_ENTRIES
from feedmill.collect.parsing.parse_feed import ParsedFeed, parse_feed
from feedmill.errors import NotAFeed

ITEM = b"<item><title>x</title></item>"
END = b"</channel></rss>"
START = b'<rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel>'
SLOWEST = 10.0  # seconds of CPU; the worst of these takes about 2 on a slow machine


def parse_quickly(data: bytes, slowest: float = SLOWEST) -> ParsedFeed | None:
    started = time.process_time()
    try:
        return parse_feed(data)
    except NotAFeed:
        return None
    finally:
        assert time.process_time() - started < slowest


def parse_with_peak(data: bytes) -> tuple[ParsedFeed | None, int]:
    """The feed, and the most memory that Python took for it."""
    tracemalloc.start()
    try:
        return parse_quickly(data), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


# How often something is repeated, and the document with it.
HOSTILE: dict[str, tuple[int, Callable[[int], bytes]]] = {
    "open elements": (100_000, lambda n: START + b"<a>" * n),
    "nested elements": (100_000, lambda n: START + b"<a>" * n + b"</a>" * n + ITEM + END),
    "open items": (100_000, lambda n: START + b"<item>" * n),
    "nested items": (100_000, lambda n: START + b"<item>" * n + b"</item>" * n + END),
    "nested markup": (
        100_000,
        lambda n: START + b"<item><description>" + b"<div>" * n + b"</div>" * n + b"</description></item>" + END,
    ),
    "open groups": (100_000, lambda n: START + b"<item>" + b"<media:group>" * n),
    "open markup": (100_000, lambda n: START + b"<item><description>" + b"<div>" * n),
    "open sections": (200_000, lambda n: START + b"<item><title>" + b"<![CDATA[" * n),
    "open comments": (500_000, lambda n: b"<rss>" + b"<!--" * n),
    "ampersands": (1_000_000, lambda n: START + b"<title>" + b"&" * n),
    "angle brackets": (1_000_000, lambda n: START + b"<title>" + b"<" * n),
    "quotes": (500_000, lambda n: b"<rss><a " + b"\"'" * n),
    "end tags": (500_000, lambda n: b"<rss>" + b"</a>" * n),
    "open end tags": (1_500_000, lambda n: b"<rss>" + b"</" * n),
    "open tags": (300_000, lambda n: b"<rss>" + b"<br " * n),
    "nested channels of CDF": (100_000, lambda n: b"<CHANNEL HREF='/'>" * n + b"</CHANNEL>" * n),
    "items of CDF": (
        100_000,
        lambda n: b"<CHANNEL HREF='/'>" + b"<ITEM HREF='/1'><A HREF='/2'/></ITEM>" * n + b"</CHANNEL>",
    ),
    "declared entities": (
        50_000,
        lambda n: (
            b"<!DOCTYPE rss ["
            + b"".join(b'<!ENTITY e%d "text">' % number for number in range(n))
            + b"]>"
            + START
            + b"<title>"
            + b"&e1;" * n
            + END
        ),
    ),
    "open declarations": (300_000, lambda n: b"<!DOCTYPE rss [" + b"<!ENTITY a 'x" * n + b"]>" + START + END),
    "spaces in a declaration": (500_000, lambda n: b"<!DOCTYPE rss [<!ENTITY " + b" " * n + b"]>" + START + END),
    "open comments in a doctype": (300_000, lambda n: b"<!DOCTYPE rss [" + b"<!-- ]" * n + b"]>" + START + END),
    "open instructions": (500_000, lambda n: b"<?" * n),
    "attributes": (
        100_000,
        lambda n: (
            START
            + b"<item "
            + b" ".join(b'a%d="1"' % number for number in range(n))
            + b"><title>x</title></item>"
            + END
        ),
    ),
    "the same attribute": (100_000, lambda n: START + b"<item " + b'a="1" ' * n + b"/>" + END),
    "categories": (300_000, lambda n: START + b"<item>" + b"<category/>" * n + b"</item>" + END),
    "parentheses": (65_536, lambda n: START + b"<item><author>" + b"(" * n + b"</author></item>" + END),
    "digits of a date": (65_536, lambda n: START + b"<item><pubDate>" + b"1" * n + b"</pubDate></item>" + END),
    "open arrays": (100_000, lambda n: b'{"version": "https://jsonfeed.org/version/1.1", "items": ' + b"[" * n),
    "digits of a number": (100_000, lambda n: b'{"items": [], "title": ' + b"9" * n + b"}"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_document_is_parsed_in_bounded_time(name: str, size_share: float) -> None:
    count, document = HOSTILE[name]

    parse_quickly(document(int(count * size_share)), SLOWEST * size_share)


LONG = b"<rss xmlns='http://example.org/" + b"u" * 100_000 + b"'><channel><title>Alice</title>"


@pytest.mark.parametrize(
    "elements",
    [
        b"<b xmlns:p='u'/>" * 10_000,
        b"<b aaaaaaaa='1'/><baaaaaaaa/><caaaaaaaa/>" * 5_000,
        b"".join(b"<b%d/>" % n for n in range(10_000)),
        b"</x>&nbsp;" + b"".join(b"<b%d/>" % n for n in range(10_000)),
    ],
    ids=["scopes", "collisions", "names", "ill-formed"],
)
def test_a_long_namespace_is_stored_once(elements: bytes) -> None:
    tracemalloc.start()
    try:
        feed = parse_quickly(LONG + elements + END)
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()

    assert feed is not None
    assert feed.title == "Alice"


def test_only_the_first_of_very_many_entries_are_read(size_share: float) -> None:
    feed = parse_quickly(START + ITEM * int(20 * size_share) * MAX_ENTRIES + END)

    assert feed is not None
    assert len(feed.entries) == MAX_ENTRIES


def test_a_title_of_fifty_megabytes_is_truncated() -> None:
    feed = parse_quickly(START + b"<item><title>" + b"x" * 50_000_000 + b"</title></item>" + END)

    assert feed is not None
    assert len(feed.entries[0].title or "") <= 4_000


def test_an_entity_bomb_is_not_expanded() -> None:
    entities = b'<!ENTITY a0 "aaaaaaaaaa">' + b"".join(
        b'<!ENTITY a%d "%s">' % (n, b"&a%d;" % (n - 1) * 10) for n in range(1, 10)
    )

    feed = parse_quickly(b"<!DOCTYPE rss [" + entities + b"]>" + START + b'<title x="&a9;">&a9;</title>' + END)

    assert feed is not None
    assert feed.title == "&a9;"


def test_references_to_declared_entities_add_a_bounded_amount_of_text() -> None:
    declaration = b'<!ENTITY a "' + b"x" * 1_000 + b'">'
    item = b"<item><description>" + b"&a;" * 100_000 + b"</description></item>"

    _, undeclared = parse_with_peak(b"<!DOCTYPE rss []>" + START + item + END)
    feed, declared = parse_with_peak(b"<!DOCTYPE rss [" + declaration + b"]>" + START + item + END)

    assert feed is not None
    text = feed.entries[0].content_html or ""
    assert text.count("x") == MAX_EXPANSION
    assert text.endswith("&a;")
    assert declared < undeclared + 20 * MAX_EXPANSION


def test_only_the_first_declared_entities_are_replaced() -> None:
    names = [f"e{number}" for number in range(MAX_ENTITIES + 1)]
    declared = "".join(f'<!ENTITY {name} "text">' for name in names)

    feed = parse_quickly(f"<!DOCTYPE rss [{declared}]><rss><channel><title>&{names[-2]}; &{names[-1]};".encode() + END)

    assert feed is not None
    assert feed.title == f"text &{names[-1]};"


def test_a_long_entity_is_not_replaced() -> None:
    declared = b'<!DOCTYPE rss [<!ENTITY a "' + b"x" * 1_001 + b'">]>'

    feed = parse_quickly(declared + START + b"<title>&a;</title>" + END)

    assert feed is not None
    assert feed.title == "&a;"


@pytest.mark.parametrize(
    "doctype", ["<!DOCTYPE rss [{}]>", "<!-- {{}} --><!DOCTYPE rss [{}]>", "<!DOCTYPE rss SYSTEM '{}'>"]
)
def test_an_external_entity_is_never_opened(doctype: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret words")
    monkeypatch.setattr(socket, "socket", lambda *_: pytest.fail("a socket was opened"))
    entity = f'<!ENTITY file SYSTEM "file://{secret}"><!ENTITY net SYSTEM "http://127.0.0.1/x">'

    feed = parse_quickly(doctype.format(entity).encode() + START + b"<title>&file; &net;</title>" + END)

    assert "secret words" not in str(feed)


def test_an_xinclude_is_not_resolved(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret words")
    include = f'<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="{secret}" parse="text"/>'

    assert "secret words" not in str(parse_quickly(START + b"<title>" + include.encode() + b"</title>" + END))


@pytest.mark.parametrize("name", [b"/etc/passwd", b"http://127.0.0.1/feed.xml", b"file:///etc/passwd"])
def test_a_document_that_is_a_path_or_url_is_not_opened(name: bytes) -> None:
    with pytest.raises(NotAFeed):
        parse_feed(name)


def test_an_external_entity_in_another_encoding_is_not_opened_either(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret words")
    document = (
        f'<!DOCTYPE rss [<!ENTITY file SYSTEM "file://{secret}"><!ENTITY a "bomb">]><rss><channel><title>&a;&file;'
    )

    feed = parse_quickly((document + "</title></channel></rss>").encode("utf-16-le"))

    assert feed is not None
    assert feed.title == "bomb&file;"
    assert feed.encoding == "utf-16-le"


def test_a_broken_document_uses_at_most_eight_times_its_size() -> None:
    item = (
        b"<item><title>Caf\xc3\xa9 \xe2\x80\x94 news</title><description>"
        + b"text " * 200
        + b"<br></description></item>"
    )
    document = b"<rss><channel>" + item * 200 + b"</channel></rss>"
    parse_feed(document)

    tracemalloc.start()
    try:
        parse_feed(document)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak < 8 * len(document)
