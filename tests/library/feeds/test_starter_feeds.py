"""The list of starter feeds; they are not requested here."""

from collections import Counter
from urllib.parse import urlsplit

import pytest

from feedmill.i18n.catalogue import language_names
from feedmill.i18n.translator import translator
from feedmill.library.feeds.starter_feeds import TOPICS, StarterFeed
from feedmill.outbound.user_urls import parse_user_url

EVERY = [feed for topic in TOPICS for feed in topic.feeds]


def test_there_are_twelve_feeds_in_four_topics() -> None:
    assert [len(topic.feeds) for topic in TOPICS] == [3, 3, 3, 3]
    assert Counter(feed.url for feed in EVERY).most_common(1)[0][1] == 1


@pytest.mark.parametrize("feed", EVERY, ids=lambda feed: feed.title)
def test_each_feed_has_a_name_and_a_normalized_https_url(feed: StarterFeed) -> None:
    parts = urlsplit(feed.url)

    assert (parts.scheme, parts.port, parts.username, parts.fragment) == ("https", None, None, "")
    assert parse_user_url(feed.url).url == feed.url
    assert feed.title.strip() == feed.title != ""
    assert feed.language in ("en", "zh-CN")


@pytest.mark.parametrize("language", language_names())
def test_every_topic_has_its_translations(language: str) -> None:
    names = [translator(language)(f"starter_feeds.{topic.key}") for topic in TOPICS]

    assert len(set(names)) == len(names)
