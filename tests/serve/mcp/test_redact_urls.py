"""URLs without passwords and tokens, before a model sees them."""

import pytest

from feedmill.serve.mcp.redact_urls import redact_feed_url, redact_urls, secrets_of_feed_url


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("https://alice:hunter2@a.example/x", "https://a.example/x"),
        ("see https://k3y@a.example/ now", "see https://a.example/ now"),
        ("ftp://a:b@c.example", "ftp://c.example"),
        ("https://a.example/?token=abc&page=2", "https://a.example/?token=***&page=2"),
        ("[x](https://a.example/?api_key=abc) 中文", "[x](https://a.example/?api_key=***) 中文"),
        ("https://a.example/#access_token=abc", "https://a.example/#access_token=***"),
        ("https://a.example/?author=bob&q=pass", "https://a.example/?author=bob&q=pass"),
        ("mail alice@a.example", "mail alice@a.example"),
    ],
)
def test_logins_and_secret_parameters_are_left_out(text: str, redacted: str) -> None:
    assert redact_urls(text) == redacted


@pytest.mark.parametrize(
    ("url", "redacted"),
    [
        ("https://a.example/feed.xml", "https://a.example/feed.xml"),
        ("https://a.example/python-weekly-news-2026/rss", "https://a.example/python-weekly-news-2026/rss"),
        ("https://a:b@a.example/rss?list=1&auth=x", "https://a.example/rss?list=***&auth=***"),
        ("https://a.example/0a1b2c3d4e5f6a7b/rss", "https://a.example/***/rss"),
        ("https://a.example/u/0f8fad5b-d9cb-469f-a165-70867728950e.xml", "https://a.example/u/***"),
        ("https://a.example/feed#user=7", "https://a.example/feed"),
        ("https://[broken/feed", "***"),
    ],
)
def test_the_address_of_a_feed_has_neither_values_nor_random_parts(url: str, redacted: str) -> None:
    assert redact_feed_url(url) == redacted


def test_what_looks_like_a_key_is_found() -> None:
    url = "https://a.example/0a1b2c3d4e5f6a7b/rss?auth=Zx9Zx9Zx9Zx9&format=rss"

    assert secrets_of_feed_url(url) == ["0a1b2c3d4e5f6a7b", "Zx9Zx9Zx9Zx9"]
    assert secrets_of_feed_url("https://a.example/feed?format=rss") == []
