"""Links to the same article become equal, links to different ones do not."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from feedmill.html.canonical_link import canonical_link
from feedmill.html.redirect_targets import redirect_target
from tests.examples import examples

PAGE = "https://example.org/2026/a-story"

SAME = [
    PAGE,
    "http://example.org/2026/a-story",
    "https://www.example.org/2026/a-story/",
    "https://EXAMPLE.org:443/2026/a-story",
    "http://example.org:80/2026/a-story",
    "https://m.example.org/2026/a-story",
    "https://amp.example.org/2026/a-story",
    "https://example.org/2026/a-story/amp/",
    "https://example.org/2026/a-story.amp",
    "https://example.org/2026/a-story?amp=1",
    "https://example.org/2026/a-story/index.html",
    "https://example.org/2026/a-story?utm_source=rss&fbclid=1",
    "https://example.org/2026/a-story?ref=example.com",
    "https://example.org/2026/a-story?source=newsletter",
    "https://example.org/2026/a-story;jsessionid=ABC?PHPSESSID=1",
    "https://example.org/2026/a-story#comments",
    "https://example.org/2026/a-story#more-123",
    "https://example.org/2026/a-story#:~:text=some",
    "https://example.org/2026/%61%2Dstory",
    "https://user:password@example.org/2026/a-story",
    "  https://example.org/2026/a-story\n",
    "https://www.google.com/url?rct=j&sa=t&url=https://example.org/2026/a-story&ct=ga",
    "https://www.google.co.uk/url?q=https%3A%2F%2Fexample.org%2F2026%2Fa-story%3Futm_source%3Dx&sa=D",
    "http://www.bing.com/news/apiclick.aspx?ref=FexRss&aid=&url=https%3a%2f%2fexample.org%2f2026%2fa-story&c=1",
    "https://l.facebook.com/l.php?u=https%3A%2F%2Fexample.org%2F2026%2Fa-story&h=AT0",
    "https://feedproxy.example.com/?url=https%3A%2F%2Fexample.org%2F2026%2Fa-story",
    "https://feeds.feedblitz.com/~/t/0/0/example/~https://example.org/2026/a-story",
    "https://news.example.com/redirect?target=https://example.org/2026/a-story",
    "https://www.google.com/amp/s/example.org/2026/a-story/amp",
    "https://example-org.cdn.ampproject.org/c/s/example.org/2026/a-story?amp=1",
    "https://href.li/?https://example.org/2026/a-story",
    "https://out.reddit.com/t3?url=https%3A%2F%2Fwww.google.com%2Furl%3Fq%3Dhttps%253A%252F%252Fexample.org%252F2026"
    "%252Fa-story",
]

PAIRS = [
    ("https://example.org/?b=2&a=1", "https://example.org/?a=1&b=2"),
    ("https://example.org", "http://www.example.org/#"),
    ("https://example.org/中文?q=一", "https://example.org/%e4%b8%ad%E6%96%87?q=%E4%B8%80"),
    ("https://example.org/?q=a+b", "https://example.org/?q=a%20b"),
    ("https://bücher.example/a", "https://xn--bcher-kva.example/a"),
    ("https://youtu.be/dQw4w9WgXcQ?si=1", "https://m.youtube.com/watch?app=desktop&v=dQw4w9WgXcQ&t=5s"),
    ("https://en.m.wikipedia.org/wiki/Feed", "https://en.wikipedia.org/wiki/Feed"),
    ("https://x.com/a/status/1?s=20", "https://mobile.twitter.com/a/status/1"),
    ("https://old.reddit.com/r/a/comments/1/", "https://www.reddit.com/r/a/comments/1"),
]

DIFFERENT = [
    ("https://example.org/a", "https://example.org/b"),
    ("https://example.org/a", "https://example.org/A"),
    ("https://example.org/?p=1", "https://example.org/?p=2"),
    ("https://example.org/a", "https://example.org:8080/a"),
    ("https://example.org/a", "https://blog.example.org/a"),
    # Comments and releases share a page.
    ("https://example.org/a#comment-1", "https://example.org/a#comment-2"),
    ("https://example.org/log#v1.0", "https://example.org/log#v2.0"),
    ("https://example.org/#/one", "https://example.org/#/two"),
    ("https://example.org/?ref=v1.0", "https://example.org/?ref=v2.0"),
    # A slash of the path, and one that belongs to a name.
    ("https://example.org/a/b", "https://example.org/a%2Fb"),
    # The target is not in the link.
    ("https://feeds.feedburner.com/~r/one/~3/1", "https://feeds.feedburner.com/~r/one/~3/2"),
    # A page about another page is not that page.
    ("https://validator.example.com/check?url=https://example.org/a", "https://example.org/a"),
    ("https://example.org/redirect?url=/local", "https://example.org/local"),
    ("https://www.google.com/search?q=https://example.org/a", "https://example.org/a"),
]

# fmt: off
PARTS = [
    "https://", "http://", "www.", "m.", "example.org", "/", "?", "#", "&", "=", ";jsessionid=", "%", "%2f",
    "%E4%B8%AD", "中", "utm_source=x", "amp", "/amp", "index.html", "ref=a.com", "url=", "google.com/url?q=", ":", "80",
    "[", "]", "@", "~", "+", "a",
]
# fmt: on
ODD = ["", "  ", "/relative", "mailto:a@example.org", "https://", "https://[::1", "https://[::1]:80/", "javascript:1"]


@pytest.mark.parametrize("link", SAME)
def test_forms_of_a_link_become_equal(link: str) -> None:
    assert canonical_link(link) == PAGE


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_two_forms_of_a_link_become_equal(one: str, other: str) -> None:
    assert canonical_link(one) == canonical_link(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_links_to_different_pages_stay_different(one: str, other: str) -> None:
    assert canonical_link(one) != canonical_link(other)


@pytest.mark.parametrize("link", ODD)
def test_what_is_no_link_is_returned(link: str) -> None:
    assert canonical_link(canonical_link(link)) == canonical_link(link)


def test_a_redirect_to_another_kind_of_address_is_not_followed() -> None:
    assert redirect_target("https://www.google.com/url?q=javascript:alert(1)") is None
    assert redirect_target("https://www.google.com/url?q=") is None


def test_links_that_lead_through_each_other_end() -> None:
    link = PAGE
    for _ in range(200):
        link = f"https://www.google.com/url?q={link}"

    assert len(canonical_link(link)) <= len(link)


@given(st.lists(st.sampled_from(PARTS), max_size=20).map("".join))
@settings(max_examples=examples(500))
def test_a_canonical_link_is_its_own_canonical_link(link: str) -> None:
    canonical = canonical_link(link)

    assert canonical_link(canonical) == canonical
