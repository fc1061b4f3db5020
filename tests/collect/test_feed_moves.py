"""What happens to a feed with a permanent redirect, by its target and what is there."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from feedmill.collect.feed_moves import choose_move, is_same_site
from feedmill.model.feed import Feed, FeedStatus
from feedmill.model.refresh import FeedMove

NOW = datetime(2026, 2, 18, 8, 30, tzinfo=UTC)
HERE, THERE, ELSEWHERE = "http://www.example.org/feed", "https://example.org/rss", "https://example.net/feed"
FEED = Feed(1, HERE, NOW, last_success_at=NOW)
OTHER = Feed(2, ELSEWHERE, NOW, last_success_at=NOW)
STAYS, FOLLOWS, WAITS, MERGES = (
    FeedMove(ELSEWHERE, 3),
    FeedMove(THERE, 3, settled=True),
    FeedMove(ELSEWHERE, 3, needs_target=True),
    FeedMove(ELSEWHERE, 3, merges_with=2),
)


def chosen(feed: Feed, to: str, there: Feed | None) -> FeedMove:
    same_login = feed.http_options == (there.http_options if there else None)
    return choose_move(feed, FeedMove(to, 3, settled=True), to, there, same_login=same_login)


def test_within_a_site_the_url_changes() -> None:
    assert chosen(FEED, THERE, None) == FOLLOWS


@pytest.mark.parametrize(
    ("there", "move"),
    [
        (None, WAITS),
        (OTHER, MERGES),
        (replace(OTHER, last_success_at=None), WAITS),
        (replace(OTHER, last_success_at=NOW - timedelta(seconds=1)), WAITS),
        (replace(OTHER, status=FeedStatus.DISABLED, moved_to=THERE), STAYS),
        (replace(OTHER, status=FeedStatus.DISABLED, merged_into=1), WAITS),
        (replace(OTHER, http_options="{}"), STAYS),
    ],
)
def test_on_another_site_a_new_feed_is_created(there: Feed | None, move: FeedMove) -> None:
    assert chosen(FEED, ELSEWHERE, there) == move


def test_an_existing_feed_at_the_target_is_used_whatever_the_site() -> None:
    assert chosen(FEED, THERE, replace(OTHER, url=THERE)) == FeedMove(THERE, 3, merges_with=2)


def test_a_login_is_not_sent_to_another_site() -> None:
    assert chosen(replace(FEED, http_options="{}"), ELSEWHERE, None) == STAYS


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("http://example.org/a", "https://blog.example.org/b", True),
        ("https://example.co.uk/", "https://other.co.uk/", False),
        ("https://alice.github.io/feed", "https://bob.github.io/feed", False),
        ("https://127.0.0.1/feed", "http://127.0.0.1:8080/feed", True),
        ("https://127.0.0.1/feed", "https://127.0.0.2/feed", False),
        ("https://[::1]/feed", "https://[::2]/feed", False),
        ("https://example.org./feed", "https://example.org/feed", True),
        ("http://localhost/feed", "http://localhost/rss", True),
    ],
)
def test_a_site_is_a_registrable_domain(one: str, other: str, same: bool) -> None:
    assert is_same_site(one, other) is same
