"""Which URLs may receive a login that was given for another one."""

import pytest

from feedmill.outbound.urls import may_share_secrets

HOME = "https://example.org/feed"


@pytest.mark.parametrize(
    ("url", "other", "may"),
    [
        (HOME, "https://example.org/other?page=2", True),
        (HOME, "https://EXAMPLE.org.:443/feed", True),
        ("http://example.org/feed", HOME, True),
        (HOME, "http://example.org/feed", False),
        (HOME, "https://example.org:8443/feed", False),
        ("http://example.org:8080/feed", "https://example.org:8080/feed", False),
        (HOME, "https://www.example.org/feed", False),
        (HOME, "https://example.com/feed", False),
        (HOME, "ftp://example.org/feed", False),
        ("http://[::1", "http://[::1", False),
    ],
)
def test_a_login_is_sent_to_the_same_server_and_never_without_encryption(url: str, other: str, may: bool) -> None:
    assert may_share_secrets(url, other) is may
