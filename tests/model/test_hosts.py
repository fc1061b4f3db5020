"""The host of a URL, the same for everybody who asks for it."""

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedmill.model.hosts import MAX_HOST_LENGTH, host_of


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://example.org/feed", "example.org"),
        ("https://example.org", "example.org"),
        ("https://example.org?feed=rss", "example.org"),
        ("https://example.org#top", "example.org"),
        ("HTTPS://News.Example.ORG/", "news.example.org"),
        ("https://example.org:8443/", "example.org"),
        ("https://me:secret@example.org/", "example.org"),
        ("https://me@work:secret@example.org:8443/", "example.org"),
        ("https://example.org./", "example.org"),
        ("//example.org/feed", "example.org"),
        ("http://192.0.2.1:8080/", "192.0.2.1"),
        ("http://[2001:DB8::1]:8080/", "2001:db8::1"),
        ("https://bücher.example/", "bücher.example"),
        ("https://xn--bcher-kva.example/", "xn--bcher-kva.example"),
        (f"https://{'a' * MAX_HOST_LENGTH}/", "a" * MAX_HOST_LENGTH),
    ],
)
def test_the_host_of_a_url(url: str, host: str) -> None:
    assert host_of(url) == host


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.org/feed",
        "/feed",
        "https://",
        "https:///feed",
        "https://:8080/",
        "https://./",
        "mailto:me@example.org",
        "data:image/png;base64,AAAA",
        "http://[::1/",
        "https://example.org\u2100.example/",
        f"https://{'a' * (MAX_HOST_LENGTH + 1)}/",
    ],
)
def test_a_url_without_a_host_that_could_be_requested_has_an_empty_one(url: str) -> None:
    assert host_of(url) == ""


URL_PIECES = (
    "http",
    "https",
    "://",
    "//",
    ":",
    "/",
    "?",
    "#",
    "@",
    "[",
    "]",
    "\\",
    ".",
    "-",
    " ",
    "\n",
    "%41",
    "ü",
    "℀",
)


@given(st.lists(st.sampled_from([*URL_PIECES, "Example", "org", "8080", "::1"]), max_size=10).map("".join))
def test_the_quick_way_and_the_way_of_the_standard_library_agree(url: str) -> None:
    try:
        host = (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        host = ""

    assert host_of(url) == host
