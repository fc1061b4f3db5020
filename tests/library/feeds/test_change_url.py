"""An admin gives a feed another URL."""

import pytest

from feedmill.library.feeds.change_url import change_feed_url
from feedmill.model.user import Actor
from feedmill.store.feeds.add_feeds import NewFeed, add_feeds
from feedmill.store.feeds.read_feeds import all_feeds
from tests.flows.refresh_environment import ENCRYPTION, NOW, RefreshEnvironment, decrypted, encrypted

LOGIN = '{"basic_auth":["me","secret"]}'


@pytest.mark.parametrize(
    ("url", "login"),
    [
        ("https://example.org/new", LOGIN),
        ("http://example.org/feed", None),
        ("https://example.org:8443/feed", None),
        ("https://elsewhere.example/feed", None),
    ],
)
async def test_the_login_of_a_feed_is_kept_only_on_the_same_server(
    env: RefreshEnvironment, url: str, login: str | None
) -> None:
    await add_feeds(env.db, [NewFeed("https://example.org/feed", http_options=encrypted(LOGIN))], NOW, NOW)
    [feed] = await all_feeds(env.db)

    await change_feed_url(env.db, ENCRYPTION, feed, url, Actor(1), NOW)

    after = await env.feed(feed)
    assert (after.url, decrypted(after)) == (url, login)
