import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedmill.collect.discovery.page_feeds import DiscoveredFeed, candidate_urls, find_page_feeds

URL = "https://example.org/blog/post.html"
CHANNEL = "UC" + "x" * 22


def found(html: str | bytes, url: str = URL, content_type: str | None = "text/html") -> list[DiscoveredFeed]:
    page = html.encode() if isinstance(html, str) else html
    return [feed for feed in find_page_feeds(page, content_type=content_type, url=url) if not feed.is_guess]


def addresses(html: str, url: str = URL) -> list[str]:
    return [feed.url for feed in found(html, url)]


@pytest.mark.parametrize(
    ("media_type", "kind"),
    [
        ("application/rss+xml", "rss"),
        ("application/atom+xml", "atom"),
        ("application/feed+json", "json"),
        ("Application/RSS+XML; charset=utf-8", "rss"),
        ("text/xml", None),
    ],
)
def test_every_type_of_feed_link_is_found(media_type: str, kind: str | None):
    page = f'<link rel="alternate" type="{media_type}" title="My feed" href="/feeds/1">'

    assert found(page) == [DiscoveredFeed("https://example.org/feeds/1", "My feed", kind, "named by the page")]


@pytest.mark.parametrize(
    "link",
    [
        '<link rel="alternate" hreflang="de" href="/de/">',
        '<link rel="alternate stylesheet" type="text/xml" href="/feed.css">',
        '<link rel="alternate" type="application/json" href="/wp-json/wp/v2/posts/1">',
        '<link rel="alternate" type="application/json+oembed" href="/oembed?feed">',
        '<link rel="alternate" type="text/xml" href="/sitemap.xml">',
        '<link rel="search" type="application/opensearchdescription+xml" href="/osd.xml">',
        '<!-- <link rel="alternate" type="application/rss+xml" href="/rss"> -->',
        '<link rel="alternate" type="application/rss+xml" href="javascript:rss()">',
        '<a href="https://feedly.com/i/subscription/feed/https://example.org/feed">Feedly</a>',
        '<a href="/feedback">Feedback</a>',
    ],
)
def test_other_links_are_ignored(link: str):
    assert addresses(link) == []


def test_a_feed_without_a_title_gets_the_title_of_the_page():
    page = "<title> Caf&eacute;\n Blog </title><link rel=feed href=/all>"

    assert found(page)[0].title == "Café Blog"


def test_urls_are_relative_to_the_base_of_the_page():
    page = '<base href="https://cdn.example.org/x/"><link rel=alternate type=application/rss+xml href=rss>'

    assert addresses(page) == ["https://cdn.example.org/x/rss"]


def test_declared_feeds_come_before_ordinary_links_and_comment_feeds_last():
    page = """
      <a href="/news.rss">News</a>
      <link rel=alternate type=application/rss+xml title="Example &raquo; Comments Feed" href="/c">
      <link rel=alternate type=application/rss+xml title="Example" href="/feed/">
    """

    feeds = found(page)

    assert [feed.url for feed in feeds] == [f"https://example.org{path}" for path in ("/feed/", "/news.rss", "/c")]
    assert [feed.rank for feed in feeds] == [0, 1, 2]


def test_a_feed_is_offered_once_however_it_is_spelled():
    page = """
      <link rel=alternate type=application/rss+xml href="https://example.org/feed/">
      <a href="http://www.example.org/feed">RSS</a><a href="/feed/#top">RSS</a>
    """

    assert addresses(page) == ["https://example.org/feed/"]


@pytest.mark.parametrize(
    "href",
    [
        "/rss",
        "/a/feed/",
        "/x.atom",
        "/?feed=rss2",
        "/index.xml",
        "https://feeds.example.com/x",
        "/blog?format=rss",
    ],
)
def test_ordinary_links_to_feeds_are_found(href: str):
    assert [feed.why for feed in found(f'<a href="{href}">here</a>')] == ["linked from the page"]


def test_a_link_called_feed_counts_only_when_it_leads_to_data():
    assert addresses('<a href="/all.xml">RSS feed</a><a href="/what-is-rss">RSS</a><a href="/b.xml">Map</a>') == [
        "https://example.org/all.xml"
    ]


def test_the_feed_scheme_is_read_as_http():
    assert addresses('<a href="feed://h.example/rss">x</a><a href="feed:https://i.example/rss">y</a>') == [
        "http://h.example/rss",
        "https://i.example/rss",
    ]


@pytest.mark.parametrize(
    ("url", "page", "feed"),
    [
        (f"https://www.youtube.com/channel/{CHANNEL}/videos", "", f"channel_id={CHANNEL}"),
        ("https://www.youtube.com/user/alice", "", "user=alice"),
        ("https://m.youtube.com/playlist?list=PL123", "", "playlist_id=PL123"),
        ("https://www.youtube.com/@alice", f'{{"externalId":"{CHANNEL}"}}', f"channel_id={CHANNEL}"),
        ("https://youtu.be/abc", f'{{"channelId":"{CHANNEL}"}}', f"channel_id={CHANNEL}"),
    ],
)
def test_youtube_pages_have_feeds(url: str, page: str, feed: str):
    assert addresses(page, url) == [f"https://www.youtube.com/feeds/videos.xml?{feed}"]


@pytest.mark.parametrize(
    ("url", "page", "first"),
    [
        ("https://github.com/alice/tool", "", "https://github.com/alice/tool/releases.atom"),
        ("https://github.com/alice/tool/tags", "", "https://github.com/alice/tool/tags.atom"),
        ("https://github.com/alice/tool/commits/dev", "", "https://github.com/alice/tool/commits/dev.atom"),
        ("https://github.com/alice", "", "https://github.com/alice.atom"),
        ("https://codeberg.org/alice/tool/src", "", "https://codeberg.org/alice/tool/releases.rss"),
        ("https://old.reddit.com/r/python/top", "", "https://www.reddit.com/r/python/top/.rss"),
        ("https://www.reddit.com/r/python/comments/1/x/", "", "https://www.reddit.com/r/python/.rss"),
        ("https://social.example/@bob/1", '<div id="mastodon">', "https://social.example/@bob.rss"),
        ("https://medium.com/@bob/story", "", "https://medium.com/feed/@bob"),
        ("https://bob.medium.com/story", "", "https://bob.medium.com/feed"),
        ("https://bob.substack.com/p/1", "", "https://bob.substack.com/feed"),
        ("https://bob.example/p/1", '<img src="https://substackcdn.com/i">', "https://bob.example/feed"),
        ("https://bob.blogspot.com/2020/", "", "https://bob.blogspot.com/feeds/posts/default"),
        ("https://bob.tumblr.com/post/1", "", "https://bob.tumblr.com/rss"),
        ("https://b.example/x", '<meta name=generator content="WordPress 6.5">', "https://b.example/feed/"),
        (
            "https://b.example/x",
            '<link rel="https://api.w.org/" href="https://b.example/blog/wp-json/">',
            "https://b.example/blog/feed/",
        ),
        ("https://b.example/tag/py/", '<img src="/wp-content/a.png">', "https://b.example/tag/py/feed/"),
        ("https://b.example/x", '<meta name=generator content="Hugo 0.1">', "https://b.example/index.xml"),
        ("https://stackoverflow.com/questions/tagged/rss", "", "https://stackoverflow.com/feeds/tag/rss"),
    ],
)
def test_feeds_of_known_sites_are_derived_from_their_urls(url: str, page: str, first: str):
    assert (found(page, url)[0].url, found(page, url)[0].why) == (first, "known site")


def test_a_path_with_an_at_sign_alone_is_not_mastodon():
    assert addresses("<p>hello", "https://shop.example/@bob") == []


def test_common_paths_are_guesses_and_come_last():
    feeds = find_page_feeds(b"<link rel=feed href=/all>", content_type=None, url=URL)

    assert not feeds[0].is_guess
    assert {feed.why for feed in feeds[1:]} == {"common path"}
    assert [feed.url for feed in feeds[1:]] == candidate_urls(URL)
    assert candidate_urls("https://example.org")[0] == "https://example.org/feed"


@pytest.mark.parametrize(
    ("codec", "content_type", "head"),
    [
        ("gb18030", "text/html; charset=gb2312", ""),
        ("gb18030", None, '<meta charset="gb2312">'),
        ("gb18030", None, '<meta http-equiv="Content-Type" content="text/html; charset=gbk">'),
        ("gb18030", None, ""),
        ("utf-8", "text/html; charset=iso-8859-1", ""),
        ("utf-8-sig", None, ""),
        ("utf-16", None, ""),
    ],
)
def test_titles_are_decoded_in_any_encoding(codec: str, content_type: str | None, head: str):
    title = "人民日报的最新文章和评论员观察"
    page = f"<html>{head}<title>{title}</title><p>{title * 3}<link rel=feed href=/all>"

    assert found(page.encode(codec), content_type=content_type)[0].title == title


def test_the_declared_encoding_wins_over_a_guess():
    page = '<meta charset="iso-8859-4"><title>ŋ</title><link rel=feed href=/all>'.encode("iso-8859-4")

    assert found(page)[0].title == "ŋ"


@pytest.mark.parametrize(
    ("count", "before", "piece"),
    [
        (300_000, b"", b"<a href=/rss>x"),
        (800_000, b"", b"<div>"),
        (500_000, b"", b"<title>"),
        (1_000_000, b"<link ", b"a=1 "),
        (15_000, b"", bytes(range(256))),
        (300_000, b"", b'<meta name="'),
    ],
    ids=["links", "elements", "titles", "attributes", "all bytes", "open quotes"],
)
def test_hostile_pages_take_bounded_time(count: int, before: bytes, piece: bytes, size_share: float):
    page = before + piece * int(count * size_share)
    began = time.process_time()

    feeds = find_page_feeds(page, content_type=None, url=URL)

    assert time.process_time() - began < 10 * size_share
    assert len(feeds) <= 120


@given(
    st.binary(max_size=300),
    st.sampled_from([URL, "https://youtube.com/@x", "https://github.com//a", "nonsense"]),
)
def test_arbitrary_bytes_give_only_web_addresses(page: bytes, url: str):
    feeds = find_page_feeds(b"<a href='" + page + b"' type=application/rss+xml>", content_type=None, url=url)

    assert all(feed.url.startswith(("http://", "https://")) for feed in feeds)
