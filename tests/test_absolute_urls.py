"""Links as they are stored: absolute, in one form, with nothing in them that breaks out of an attribute."""

import re
from time import process_time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from feedmill.absolute_urls import MAX_LENGTH, OTHER_SCHEMES, absolute_url, safe_link
from feedmill.collect.entries.storable_entry import storable_entry
from feedmill.collect.parsing.parse_feed import parse_feed
from feedmill.html.sanitize import render_article_html
from feedmill.outbound import urls

NASTY = {
    "https://a.example/a b": "https://a.example/a%20b",
    " \x00\x1fhttps://a.example/\t\n\rx ": "https://a.example/x",
    'https://a.example/"onclick="x': "https://a.example/%22onclick=%22x",
    "https://a.example/it's": "https://a.example/it%27s",
    "https://a.example/`x`<b>": "https://a.example/%60x%60%3Cb%3E",
    "https://a.example/\x07\x7f\x85": "https://a.example/%07%7F%C2%85",
    "https://a.example/\u202egnp.exe": "https://a.example/%E2%80%AEgnp.exe",
    "https://a.example/\u3000\xa0\u200b": "https://a.example/%E3%80%80%C2%A0%E2%80%8B",
    "https:\\\\a.example\\x": "https://a.example/x",
    "//a.example/x": "https://a.example/x",
    "https://a.example/深?q=深#深": "https://a.example/深?q=深#深",
    "mailto:a b@a.example": "mailto:a%20b@a.example",
    "java\nscript:alert(1)": None,
    "\x01javascript:alert(1)": None,
    "data:text/html,x": None,
    "https://a b.example/": None,
    "https://a\x07.example/": None,
    "https://a%00.example/": None,
    'https://a".example/': None,
    "https://a'.example/": None,
    "https://": None,
    "https:///path": None,
    "https://a.example:0/": None,
    "https://a.example:x/": None,
    "https://[::1/": None,
    "mailto:": None,
    "/path": None,
    "path": None,
    "#x": None,
    "https://a.example/" + " " * MAX_LENGTH: "https://a.example/",
    "https://a.example/" + " x" * MAX_LENGTH: None,
}
BASES = ("javascript:alert(1)", "data:text/html,", "mailto:a@b.example", "file:///etc/", "about:blank", "//", "", "x:y")


@pytest.mark.parametrize("given", NASTY)
def test_a_nasty_link_is_normalised_or_dropped(given: str) -> None:
    assert safe_link(given) == NASTY[given]


@given(st.integers(0, 99_999).map(str) | st.text("0123456789", max_size=6), st.sampled_from(["", "/x", "?x", "#x"]))
def test_a_plain_url_keeps_its_port_exactly_if_the_port_exists(port: str, rest: str) -> None:
    address = f"https://a.example:{port}{rest}"
    # A space at the beginning is dropped, but it takes the long way.
    expected = absolute_url(f" {address}")

    assert absolute_url(address) == expected
    assert expected == (None if port and not 0 < int(port) <= 65_535 else address)


pieces = st.sampled_from(
    ["http", "https", ":", "/", "//", "\\", "a.example", "?", "#", "@", "[", "]", "%", "'", '"', " "]
)
links = st.lists(pieces | st.text(max_size=4), max_size=12).map("".join)


@example("https:" + "//" * 40, None)
@given(links, st.none() | links)
def test_a_stored_link_is_absolute_safe_and_stable(address: str, base: str | None) -> None:
    kept = safe_link(address, base)

    if kept is not None:
        assert re.match(rf"(?:https?://[^/?#]|(?:{'|'.join(OTHER_SCHEMES)}):.)", kept, re.I)
        assert not re.search(r"[\x00-\x20\x7f-\xa0\"'`<>\u2028\u2029\u202e]", kept)
        assert safe_link(kept) == kept


@pytest.mark.parametrize("path", ["it's", "a b", 'a"b', "`x`", "?q='x'"])
def test_a_redirect_and_a_link_to_one_address_have_the_same_form(path: str) -> None:
    address = f"https://a.example/{path}"

    assert urls.parse_url(address).url == absolute_url(address)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("link", ["logout", "/admin", "?x=1", "#x", "//"])
def test_a_base_that_is_no_web_address_makes_no_link_of_ours(base: str, link: str) -> None:
    shown = render_article_html(f'<a href="{link}">x</a><img src="{link}"><base href="{base}">', base)

    assert absolute_url(link, base) is None
    assert "href" not in shown
    assert "src" not in shown


@pytest.mark.parametrize("base", BASES)
def test_a_feed_with_such_a_base_stores_no_relative_link(base: str) -> None:
    feed = (
        f'<feed xmlns="http://www.w3.org/2005/Atom" xml:base="{base}"><link href="home"/><entry><id>1</id>'
        '<link href="logout"/><link rel="enclosure" href="file"/><link rel="replies" href="talk"/></entry></feed>'
    )

    [unknown] = parse_feed(feed.encode()).entries
    [known] = parse_feed(feed.encode(), url="https://a.example/feed").entries
    entry, there = storable_entry(unknown)[0], storable_entry(known)[0]

    assert (entry.link, entry.comments_url, entry.enclosures, entry.base_url) == (None, None, (), None)
    assert (there.link, there.comments_url) == ("https://a.example/logout", "https://a.example/talk")


def test_a_json_feed_with_a_script_for_a_home_page_resolves_against_its_own_address() -> None:
    feed = (
        b'{"version": "https://jsonfeed.org/version/1.1", "title": "x", "home_page_url": "javascript:alert(1)", '
        b'"items": [{"id": "1", "url": "logout"}]}'
    )

    [entry] = parse_feed(feed, url="https://a.example/feed.json").entries

    assert storable_entry(entry)[0].link == "https://a.example/logout"


@pytest.mark.parametrize("piece", [" ", "\t", "\x07", "'", '"', "\\", "/", "%", "@", ":", "深", "[", "\u3000", "feed:"])
def test_normalising_takes_linear_time(piece: str) -> None:
    # The least of three: a busy machine only adds.
    short, long = (min(_seconds("https://a.example/" + piece * n) for _ in range(3)) for n in (100_000, 400_000))

    assert long < max(short * 8, 0.05)


def _seconds(link: str) -> float:
    begun = process_time()
    safe_link(link)
    safe_link(link[8:], "https://a.example/")
    return process_time() - begun
