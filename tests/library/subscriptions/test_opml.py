import time
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedmill.library.subscriptions.opml import MAX_BYTES, OpmlDocument, OpmlFeed, read_opml, write_opml

NAMES = st.text(max_size=20)
FEEDS = st.builds(
    OpmlFeed,
    url=st.sampled_from([f"https://example.org/{path}" for path in ("", "a?b=1&c=2", "é/%27", "x;y", "%22", "&amp;")]),
    title=NAMES,
    site_url=st.sampled_from([None, "https://example.org/", "http://h/?a&b"]),
    folder=st.lists(NAMES, max_size=3).map(tuple),
)


def read(body: str) -> OpmlDocument:
    return read_opml(f'<?xml version="1.0"?>\n<opml version="2.0"><body>\n{body}\n</body></opml>'.encode())


def lines(document: OpmlDocument) -> list[int]:
    return [error.line for error in document.errors]


def test_folders_nest_and_a_feed_knows_its_path():
    document = read("""
        <outline text="News"><outline text="Local">
          <outline type="rss" text="Alice" xmlUrl="https://a.example/feed" htmlUrl="https://a.example/"/>
        </outline></outline>
        <outline text="Bob" xmlUrl="https://b.example/feed"></outline>
    """)

    assert document.errors == []
    assert document.feeds == [
        OpmlFeed("https://a.example/feed", "Alice", "https://a.example/", ("News", "Local")),
        OpmlFeed("https://b.example/feed", "Bob"),
    ]


@pytest.mark.parametrize("attribute", ["xmlUrl", "xmlurl", "XMLURL", "xmlURL", "url", "feedUrl"])
@pytest.mark.parametrize("name", ["text", "title", "TITLE"])
def test_attributes_are_read_in_every_spelling(attribute: str, name: str):
    document = read(f"<outline {name}='Alice' {attribute}='https://a.example/feed'/>")

    assert document.feeds == [OpmlFeed("https://a.example/feed", "Alice")]


def test_a_category_is_the_folder_of_a_feed_without_one():
    document = read("""
        <outline text="A" xmlUrl="https://a.example/" category="/Boston/Weather,/Tech"/>
        <outline text="News"><outline text="B" xmlUrl="https://b.example/" category="Tech"/></outline>
    """)

    assert [feed.folder for feed in document.feeds] == [("Boston", "Weather"), ("News",)]


def test_feeds_that_cannot_be_imported_are_reported_with_their_lines():
    document = read(
        '<outline text="No address" type="rss"/>\n'
        '<outline text="Bad" xmlUrl="ftp://h/x"/>\n'
        '<outline text="Good" xmlUrl="https://a.example/"/>\n'
        '<outline text="Again" xmlUrl="https://a.example/"/>\n'
        '<outline text="Page" type="link" url="https://a.example/page"/>'
    )

    assert [feed.title for feed in document.feeds] == ["Good"]
    assert lines(document) == [3, 4, 6, 7]
    assert "line 5" in str(document.errors[2].message)


def test_a_feed_in_two_folders_is_not_a_duplicate():
    feed = '<outline text="A" xmlUrl="https://a.example/"/>'
    document = read(f'<outline text="X">{feed}</outline><outline text="Y">{feed}</outline>')

    assert [feed.folder for feed in document.feeds] == [("X",), ("Y",)]
    assert document.errors == []


@pytest.mark.parametrize(
    ("broken", "line"),
    [
        ('<outline text="Lost" xmlUrl="https://l.example/ />', 3),
        ('<outline text="Lost xmlUrl=https://l.example/ />', 3),
        ('<outline text="Lost" xmlUrl="https://l.example/"', 3),
        ("</outline>", 3),
    ],
)
def test_one_broken_outline_does_not_affect_others(broken: str, line: int):
    others = "\n".join(f'<outline text="{name}" xmlUrl="https://{name}.example/"/>' for name in ("a", "b"))

    document = read(f"{broken}\n{others}")

    assert [feed.title for feed in document.feeds] == ["a", "b"]
    assert lines(document) == [line]


def test_a_truncated_file_keeps_its_complete_outlines():
    document = read_opml(
        b'<opml><body><outline text="F">\n<outline text="A" xmlUrl="https://a.example/"/>\n<outline te'
    )

    assert [feed.folder for feed in document.feeds] == [("F",)]
    assert lines(document) == [3, 3]


def test_bare_ampersands_and_markup_in_titles_are_accepted():
    document = read('<outline text="R&D <b>&eacute;</b> &amp;amp;" xmlUrl="https://a.example/?a=1&b=2"/>')

    assert document.feeds == [OpmlFeed("https://a.example/?a=1&b=2", "R&D <b>é</b> &amp;")]


@pytest.mark.parametrize("data", [b"", b"<html><title>x</title>", b"\x00\xff\x00", b"{}"])
def test_a_document_that_is_not_opml_is_an_error_and_no_exception(data: bytes):
    document = read_opml(data)

    assert document.feeds == []
    assert "not an OPML file" in str(document.errors[0].message)


def test_a_list_in_another_encoding_is_read():
    data = '<?xml version="1.0" encoding="gb2312"?><opml><outline text="人民日报" xmlUrl="https://a.example/"/>'

    assert read_opml(data.encode("gb18030")).feeds[0].title == "人民日报"


def test_outlines_in_comments_and_cdata_are_not_read():
    outline = '<outline text="A" xmlUrl="https://a.example/"/>'

    assert read(f"<!-- {outline} --><![CDATA[ {outline} ]]>").feeds == []


def test_entity_declarations_are_refused():
    bomb = '<!DOCTYPE opml [\n<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><opml><outline text="&b;" xmlUrl="https://a.example/"/>'

    document = read_opml(bomb.encode())

    assert document.feeds == []
    assert lines(document) == [2]


# How often something is repeated, and the list with it.
HOSTILE: dict[str, tuple[int, Callable[[int], bytes]]] = {
    "open quotes": (1_000_000, lambda n: b'<outline a="' * n),
    "nested": (100_000, lambda n: b'<outline text="a">' * n + b'<outline xmlUrl="https://a.example/"/>'),
    "no address": (100_000, lambda n: b'<outline type="rss"/>' * n),
    "a long name": (MAX_BYTES, lambda n: b"<outline " + b"x" * n),
    "attributes": (300, lambda n: (b"<outline " + b"a " * 9_000 + b">") * n),
    "angle brackets": (5_000_000, lambda n: b"<outline/>" + b"<" * n),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_lists_take_bounded_time(name: str, size_share: float):
    count, make = HOSTILE[name]
    data = make(int(count * size_share))
    began = time.process_time()

    document = read_opml(data)

    # Code that read all of it again for each outline would take minutes.
    assert time.process_time() - began < 5 * size_share
    assert len(document.errors) < 1_010


def test_a_hundred_megabytes_are_read_in_part_and_that_is_reported(is_check: bool):
    row = b'<outline text="x" xmlUrl="https://a.example/"/>' + b" " * 1_000 + b"\n"
    data = row * ((2 * MAX_BYTES if is_check else 100_000_000) // len(row))
    tracemalloc.start()

    document = read_opml(data)

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(document.feeds) == 1
    assert "Only the first" in str(document.errors[-1].message)
    assert peak < 4 * MAX_BYTES


def test_a_feed_without_a_title_is_read_back_without_one():
    feed = OpmlFeed("https://a.example/")

    assert read_opml(write_opml([feed], title="x")).feeds == [feed]


def test_the_export_has_the_attributes_that_other_readers_need():
    feeds = [OpmlFeed("https://a.example/?x=1&y=2", "A & <B>", "https://a.example/", ("News",))]

    data = write_opml(feeds, title="Alice's feeds", created_at=datetime(2024, 5, 1, tzinfo=UTC))

    root = ElementTree.fromstring(data)
    outline = root.find("body/outline/outline")
    assert root.get("version") == "2.0"
    assert root.findtext("head/dateCreated") == "Wed, 01 May 2024 00:00:00 +0000"
    assert outline is not None
    assert outline.attrib == {
        "type": "rss",
        "text": "A & <B>",
        "title": "A & <B>",
        "xmlUrl": "https://a.example/?x=1&y=2",
        "htmlUrl": "https://a.example/",
    }


@given(st.lists(FEEDS, max_size=8, unique_by=lambda feed: (feed.url, feed.folder)))
def test_an_export_can_be_imported(feeds: list[OpmlFeed]):
    data = write_opml(feeds, title="x")

    document = read_opml(data)

    ElementTree.fromstring(data)
    assert {feed.url for feed in document.feeds} == {feed.url for feed in feeds}
    assert read_opml(write_opml(document.feeds, title="x")).feeds == document.feeds


@given(
    st.lists(
        st.builds(
            OpmlFeed,
            url=st.integers(0, 9).map("https://example.org/{}?a=1&b=%27;".format),
            title=st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=9),
            site_url=st.sampled_from([None, "https://example.org/"]),
            folder=st.lists(st.sampled_from(["News", "R&D", 'a"b', "中 文", "<x>"]), max_size=3).map(tuple),
        ),
        max_size=8,
        unique_by=lambda feed: (feed.url, feed.folder),
    )
)
def test_a_round_trip_keeps_titles_sites_and_folders(feeds: list[OpmlFeed]):
    document = read_opml(write_opml(feeds, title="x"))

    assert document.errors == []
    assert set(document.feeds) == set(feeds)


@given(st.binary(max_size=200), st.integers(0, 200))
def test_no_input_raises_an_exception(noise: bytes, cut: int):
    whole = write_opml([OpmlFeed("https://a.example/", "A", None, ("F",))], title="x")

    read_opml(whole[:cut] + noise + whole[cut:])
