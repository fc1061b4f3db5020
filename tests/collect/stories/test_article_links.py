"""Which links name one article."""

import pytest

from feedmill.collect.stories.article_links import article_links
from feedmill.model.parsed_feed import Enclosure, ParsedEntry

FILE = Enclosure("https://media.example.org/episodes/12.mp3?utm_source=feed", "audio/mpeg")


@pytest.mark.parametrize(
    "link",
    [
        "https://example.org/2026/02/a-fire",
        "https://example.org/hello",
        "https://example.org/blog/hello",
        "https://example.org/?p=12",
        "https://example.org/story.php?id=12",
        "https://example.org/a.html",
        "https://example.org/标题",
        "http://www.example.org/news/12",
    ],
)
def test_a_link_to_a_page_names_an_article(link: str) -> None:
    assert article_links(ParsedEntry(link=link)).own


@pytest.mark.parametrize(
    "link",
    [
        "https://example.org",
        "https://example.org/index.html",
        "https://example.org/news/",
        "https://example.org/en/blog",
        "https://example.org/zh-cn/",
        "https://example.org/category/world",
        "https://example.org/tag/rust/",
        "https://example.org/?utm_source=rss&utm_campaign=12",
        "https://example.org/podcast",
        "mailto:somebody@example.org",
        "?0",
        "",
    ],
)
def test_a_link_to_a_site_or_a_section_names_none(link: str) -> None:
    assert article_links(ParsedEntry(link=link)).all == ()


def test_trackers_make_no_other_article() -> None:
    one, other = (ParsedEntry(link=f"https://example.org/a-fire{query}") for query in ("", "?utm_source=x&fbclid=y"))

    assert article_links(one) == article_links(other)


def test_an_aggregator_names_the_article_that_it_links_to() -> None:
    reddit = ParsedEntry(
        link="https://www.reddit.com/r/news/comments/1a/x/",
        content_html='submitted by <a href="https://www.reddit.com/user/x"> /u/x </a> <br/> <span>'
        '<a href="https://example.org/a-fire?a=1&amp;b=2">[link]</a></span>',
    )
    hacker_news = ParsedEntry(
        link="https://news.ycombinator.com/item?id=1",
        content_html='<p>Article URL: <a href="https://example.org/a-fire?a=1&amp;b=2">https://example.org/</a></p>',
    )

    assert article_links(reddit).others == article_links(hacker_news).others == ("https://example.org/a-fire?a=1&b=2",)


def test_the_file_of_an_episode_names_it() -> None:
    links = article_links(ParsedEntry(link="https://example.org/podcast", enclosures=(FILE,)))

    assert (links.own, links.others) == (None, ("https://media.example.org/episodes/12.mp3",))


def test_a_picture_names_nothing() -> None:
    picture = Enclosure("https://example.org/logo.png", "image/png")

    assert article_links(ParsedEntry(enclosures=(picture,))).all == ()


def test_links_of_other_entries_are_left_out() -> None:
    links = article_links(ParsedEntry(link="https://example.org/show-1", enclosures=(FILE,)))

    assert links.without({"https://example.org/show-1"}).all == links.others
    assert links.without({"https://example.org/show-2"}) == links
