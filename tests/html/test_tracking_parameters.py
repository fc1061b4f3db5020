"""Tracking parameters are taken off links; everything that a site may need stays."""

import pytest

from feedmill.html.tracking_parameters import without_trackers

SHORTER = {
    "https://example.org/a?utm_source=rss&utm_medium=feed": "https://example.org/a",
    "https://example.org/a?id=7&utm_campaign=x&page=2#end": "https://example.org/a?id=7&page=2#end",
    "https://example.org/a?fbclid=IwAR0": "https://example.org/a",
    "https://example.org/a?x=1&gclid=abc&mc_cid=1&mc_eid=2": "https://example.org/a?x=1",
    "https://example.org/a?UTM_Source=rss": "https://example.org/a",
    "https://example.org/a?utm%5Fsource=rss&b": "https://example.org/a?b",
    "https://example.org/a?x=1&amp;utm_source=rss": "https://example.org/a?x=1",
    "https://example.org/a#utm_source=rss": "https://example.org/a",
    "https://example.org/a#Echobox=1700000000": "https://example.org/a",
    "https://example.org/a?x=1#xtor=RSS-1": "https://example.org/a?x=1",
    "https://example.org/story?source=rss----3a4b---4": "https://example.org/story",
    "https://example.org/a?ref=rss&from=RSS_feed&id=1": "https://example.org/a?id=1",
    "https://www.nytimes.com/a.html?partner=rss&emc=rss": "https://www.nytimes.com/a.html",
    "https://www.youtube.com/watch?v=abc&si=xyz": "https://www.youtube.com/watch?v=abc",
    "https://open.spotify.com/track/1?si=xyz": "https://open.spotify.com/track/1",
    "https://www.bilibili.com/video/BV1?spm_id_from=333.1&vd_source=1": "https://www.bilibili.com/video/BV1",
    "https://mp.weixin.qq.com/s?__biz=M&mid=1&idx=1&sn=2&chksm=3&scene=27": (
        "https://mp.weixin.qq.com/s?__biz=M&mid=1&idx=1&sn=2"
    ),
    "http://例え.jp/中文?utm_source=rss&q=中": "http://例え.jp/中文?q=中",
    "https://[2001:db8::1]:8080/a?utm_source=x": "https://[2001:db8::1]:8080/a",
}

KEPT = [
    "",
    "https://example.org",
    "https://example.org/a?id=7&page=2",
    "https://example.org/a?&a=%20+1&&b=;c=#frag",
    "https://example.org/a?source=paper&ref=v1.2&from=2024&cid=4",
    # What begins with `rss` may also be the number or the subject of an article.
    "https://example.org/a?ref=rss-0042&source=rss-readers&from=rssi",
    # What tracks on one site is needed on another one.
    "https://example.org/watch?v=abc&si=xyz",
    "https://example.org/s?t=20&s=1",
    # Gift links and friend links need theirs.
    "https://www.nytimes.com/a.html?unlocked_article_code=abc",
    "https://medium.com/p/1?sk=abc",
    # A signature covers all parameters.
    "https://cdn.example.org/a.mp3?utm_source=rss&X-Amz-Signature=abc",
    "https://example.org/a?sig=abc&utm_source=rss",
    # Their addresses have the address of another page.
    "https://web.archive.org/web/2020/https://example.org/a?utm_source=rss",
    # The page knows its reader by the parameter.
    "https://example.org/unsubscribe?mkt_tok=abc",
    "https://x.us1.list-manage.com/profile?mc_eid=abc",
    # A fragment that is no list of parameters.
    "https://example.org/a#utm_source",
    "https://example.org/#/route?utm_source=rss",
    "mailto:a@example.org?subject=utm_source=1",
    "/relative?utm_source=rss",
]


@pytest.mark.parametrize(("link", "shown"), SHORTER.items())
def test_tracking_parameters_are_taken_off(link: str, shown: str) -> None:
    assert without_trackers(link) == shown
    assert without_trackers(shown) == shown


@pytest.mark.parametrize("link", KEPT)
def test_what_a_site_may_need_stays(link: str) -> None:
    assert without_trackers(link) == link
