"""Pairs of entries, each labelled: the same story or not, and hard or not.

The articles, templates, posts and episodes are in `tests/data/stories`; `article_edits.py` has what other feeds do to
them. All pairs of an article are in one half: thresholds are chosen on `tune`, and `report` is what counts.
"""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any
from zlib import crc32

from feedmill.collect.stories.sign_entry import SignableEntry
from feedmill.model.parsed_feed import Enclosure, ParsedEntry
from tests.collect.stories.article_edits import (
    as_heavy_html,
    as_html,
    copy_edited,
    edited_later,
    excerpt,
    follow_up,
    is_east_asian,
    shortened,
    with_dateline,
    with_footer,
    with_introduction,
)

DATA = Path(__file__).parents[2] / "data" / "stories"
AT = datetime(2026, 2, 18, 8, 30, tzinfo=UTC)
HOUR = timedelta(hours=1)
_COLUMN = {
    True: (
        "周末书桌：编辑部的来信",
        "亲爱的读者，欢迎打开这个周末的来信。每个星期六的早上，我们的编辑会挑选一个话题，和你一起慢慢聊。泡一杯茶，找一个安静的角落，我们开始吧。",
    ),
    False: (
        "Letter from the editors: the weekend desk",
        "Dear readers, welcome to the letter that we send every Saturday morning. One of our editors chooses a subject "
        "and looks at it at leisure, with a cup of tea in hand. If somebody forwarded this to you, you can sign up on "
        "our site.",
    ),
}
_DIGEST = {True: "早安新闻：今天值得读的三篇文章", False: "Morning briefing: three stories to read today"}
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """An entry of a feed."""

    feed_id: int
    at: datetime
    entry: SignableEntry


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """Two entries. `kind` says how they came about, `source` the article or template."""

    kind: str
    source: str
    one: FeedEntry
    other: FeedEntry
    same: bool
    hard: bool

    @property
    def half(self) -> str:
        return "tune" if crc32(self.source.split("-")[0].encode()) % 2 else "report"


@cache
def labelled_pairs() -> tuple[LabelledPair, ...]:
    """All pairs, always in the same order."""
    return tuple(
        pair
        for pairs in (
            *(_same_articles, _other_articles, _templates, _generic_titles, _columns),
            *(_posts, _episodes, _aggregator_entries, _links),
        )
        for pair in pairs()
    )


def _load(name: str, key: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads((DATA / f"{name}.toml").read_text())[key]
    return found


@cache
def _standfirsts() -> dict[str, str]:
    found: dict[str, str] = tomllib.loads((DATA / "standfirsts.toml").read_text())["standfirst"]
    return found


@cache
def _articles() -> list[dict[str, Any]]:
    return [article for name in ("english", "chinese", "other_languages") for article in _load(name, "article")]


def _entry(link: str | None, title: str | None, html: str | None, summary: str | None = None) -> ParsedEntry:
    return ParsedEntry(link=link, title=title, content_html=html, summary=summary)


def _url(host: str, name: str, number: int = 1) -> str:
    return f"https://{host}.example/2026/{number}/{name}-{number}"


def _original(article: dict[str, Any]) -> FeedEntry:
    return FeedEntry(1, AT, _entry(_url("gazette", article["id"]), article["title"], as_html(article["text"])))


# --- the same story ---------------------------------------------------------------------------------------


def _same_articles() -> Iterator[LabelledPair]:
    for article in _articles():
        original = _original(article)
        for kind, hard, other in _copies(article):
            yield LabelledPair(kind, article["id"], original, other, same=True, hard=hard)
        yield _two_excerpts(article)


def _copies(article: dict[str, Any]) -> Iterator[tuple[str, bool, FeedEntry]]:
    """What other feeds make of an article."""
    name, title, text = article["id"], article["title"], article["text"]
    other_title = article["other_title"]
    url = _url("herald", name)
    site = "先锋报" if is_east_asian(text) else "The Herald"

    def at(hours: int, link: str | None, title: str | None, html: str | None) -> FeedEntry:
        return FeedEntry(2, AT + HOUR * hours, _entry(link, title, html))

    with_tracker = f"{_url('gazette', name)}?utm_source=feed&utm_medium=rss"
    brief = as_html(excerpt(text, 35))
    longer = as_html(excerpt(text, 60))
    yield "link with trackers, excerpt", False, at(1, with_tracker, title, brief)
    yield "link with trackers, other title", False, at(2, with_tracker, other_title, None)
    yield "planet, other markup", False, at(3, _url("planet", name, 7), title, as_heavy_html(text))
    yield "excerpt", False, at(5, url, title, longer)
    yield "short excerpt", True, at(5, url, title, as_html(excerpt(text, 20)))
    yield "excerpt, site in title", True, at(-4, url, f"{title} | {site}", longer)
    yield "title alone", True, at(6, url, title, None)
    yield "agency", True, at(9, url, other_title, as_html(with_footer(copy_edited(with_dateline(text)))))
    yield "agency, same title", False, at(30, url, title, as_html(copy_edited(with_dateline(text))))
    yield "edited later", True, at(20, url, f"Update: {title}", as_html(edited_later(text)))
    yield "edited later, other title", True, at(20, url, other_title, as_html(edited_later(text)))
    yield "cut", False, at(-7, url, title, as_html(shortened(text, 0.6)))
    yield "cut, other title", True, at(-7, url, other_title, as_html(with_dateline(shortened(text, 0.65))))
    yield "no title", True, at(2, url, None, as_html(text))
    yield "repeated title", False, at(2, url, title, f"<h1>{title}</h1>{as_heavy_html(with_footer(text))}")
    yield "excerpt, other title", True, at(4, url, other_title, longer)
    yield "own introduction", True, at(8, url, other_title, as_html(with_introduction(text)))
    if name in _standfirsts():
        yield "standfirst", True, at(3, url, title, as_html(_standfirsts()[name]))
    twice = _entry(_url("gazette", name, 2), title, as_html(text))
    yield "published twice", True, FeedEntry(1, AT + HOUR, twice)


def _two_excerpts(article: dict[str, Any]) -> LabelledPair:
    name, title, text = article["id"], article["title"], article["text"]
    one = _entry(_url("herald", name), title, as_html(excerpt(text, 50)))
    post = f"{as_html(excerpt(text, 35))}<p>The post {title} appeared first on The Courier.</p>"
    other = _entry(_url("courier", name), title, post)
    return LabelledPair(
        "two excerpts", name, FeedEntry(2, AT, one), FeedEntry(3, AT + HOUR, other), same=True, hard=True
    )


# --- other stories ----------------------------------------------------------------------------------------


def _other_articles() -> Iterator[LabelledPair]:
    articles = {article["id"]: article for article in _articles()}
    for article in articles.values():
        for kind, hard, other in _rivals(article, articles):
            yield LabelledPair(kind, article["id"], _original(article), other, same=False, hard=hard)


def _rivals(article: dict[str, Any], articles: dict[str, dict[str, Any]]) -> Iterator[tuple[str, bool, FeedEntry]]:
    name, title, text = article["id"], article["title"], article["text"]
    link = _url("herald", name)
    if translated := article.get("translation_of"):
        first = articles[translated]
        yield "translation", True, FeedEntry(2, AT, _entry(link, first["title"], as_html(first["text"])))
        return
    rival, rival_title = article["rival"], article["rival_title"]
    names = list(articles)
    text_of_neighbour = articles[names[names.index(name) - 1]]["text"]

    def at(hours: int, link: str, title: str | None, html: str) -> FeedEntry:
        return FeedEntry(2, AT + HOUR * hours, _entry(link, title, html))

    yield "another report", False, at(5, link, rival_title, as_html(rival))
    yield "another report, same title", True, at(5, link, title, as_html(rival))
    yield "comment with the article's link", True, at(5, _url("gazette", name), rival_title, as_html(rival))
    yield "follow-up", True, at(22, link, rival_title, as_html(follow_up(text, rival)))
    yield "follow-up on the same site", True, at(22, _url("gazette", name, 2), title, as_html(follow_up(text, rival)))
    yield "same title, too late", False, at(24 * 40, link, title, as_html(text))
    digest = "\n\n".join((text, article["rival"], text_of_neighbour))
    yield "digest of several articles", True, at(12, link, _DIGEST[is_east_asian(text)], as_html(digest))
    brief = "\n\n".join((excerpt(text, 40), excerpt(article["rival"], 30), excerpt(text_of_neighbour, 30)))
    yield "digest of excerpts", True, at(12, link, _DIGEST[is_east_asian(text)], as_html(brief))


def _templates() -> Iterator[LabelledPair]:
    for template in _load("templates", "template"):
        texts = [
            (template["title"].format(**values), as_html(template["text"].format(**values)))
            for values in template["values"]
        ]
        name = template["id"]
        for number, (one, other) in enumerate(combinations(texts, 2)):
            for kind, first, second in (
                ("template, one feed", (1, "gazette"), (1, "gazette")),
                ("template, two feeds of a site", (1, "gazette"), (2, "gazette")),
                ("template, two sites", (1, "gazette"), (2, "herald")),
            ):
                # Whoever gives two sites the very same title and text can't expect them to be told apart.
                if first[1] == second[1] or one != other:
                    yield LabelledPair(
                        kind,
                        name,
                        FeedEntry(first[0], AT, _entry(_url(first[1], name, number), *one)),
                        FeedEntry(second[0], AT + DAY, _entry(_url(second[1], name, number + 1), *other)),
                        same=False,
                        hard=True,
                    )


def _generic_titles() -> Iterator[LabelledPair]:
    """Titles that say nothing, with an article each, or without any text."""
    articles = _articles()
    for number, template in enumerate(_load("templates", "title")):
        title, article, other = template["title"], articles[number], articles[number + 1]
        for kind, text, other_text in (
            ("generic title, other texts", as_html(article["text"]), as_html(other["text"])),
            ("generic title, one text", as_html(article["text"]), None),
            ("generic title, no text", None, None),
        ):
            one = FeedEntry(1, AT, _entry(_url("gazette", "x", number), title, text))
            two = FeedEntry(2, AT + HOUR, _entry(_url("herald", "x", number), title, other_text))
            yield LabelledPair(kind, title, one, two, same=False, hard=text is None or other_text is None)


def _columns() -> Iterator[LabelledPair]:
    """A column in several papers: one title, one beginning, other contents; and the parts of a series."""
    for article, other in pairwise(_articles()):
        if is_east_asian(article["text"]) != is_east_asian(other["text"]) or "rival" not in other:
            continue
        title, opening = _COLUMN[is_east_asian(article["text"])]
        one, two = (f"{opening}\n\n{each['text']}" for each in (article, other))
        yield LabelledPair(
            "column with the same beginning",
            article["id"],
            FeedEntry(1, AT, _entry(_url("gazette", article["id"]), title, as_html(one))),
            FeedEntry(2, AT + DAY * 7, _entry(_url("herald", other["id"]), title, as_html(two))),
            same=False,
            hard=True,
        )
        for kind, words, other_words in (
            ("articles with the same introduction", 400, 400),
            ("excerpts with the same introduction", 70, 70),
            ("excerpt and article with the same introduction", 70, 400),
        ):
            first = _entry(_url("gazette", article["id"]), article["title"], as_html(excerpt(one, words)))
            second = _entry(_url("herald", other["id"]), other["title"], as_html(excerpt(two, other_words)))
            yield LabelledPair(
                kind, article["id"], FeedEntry(1, AT, first), FeedEntry(2, AT + DAY, second), same=False, hard=True
            )
        yield LabelledPair(
            "parts of a series",
            article["id"],
            FeedEntry(1, AT, _entry(_url("gazette", article["id"]), f"{title}: 1", as_html(one))),
            FeedEntry(2, AT + DAY, _entry(_url("herald", other["id"]), f"{title}: 2", as_html(two))),
            same=False,
            hard=True,
        )


# --- short posts, podcasts --------------------------------------------------------------------------------


def _posts() -> Iterator[LabelledPair]:
    for post in _load("posts", "post"):
        name, text = post["id"], post["text"]
        own = FeedEntry(1, AT, _entry(_url("social", name), None, as_html(text)))
        for kind, hard, entry in (
            ("crossposted", False, _entry(_url("bird", name), None, text)),
            ("crossposted with tags", True, _entry(_url("bird", name), None, f"{text} #weekend #life")),
            ("crossposted with title", True, _entry(_url("bird", name), excerpt(text, 9), as_html(text))),
            ("crossposted as title", True, _entry(_url("bird", name), text, None)),
            ("crossposted, cut", True, _entry(_url("bird", name), None, text[: len(text) * 3 // 4] + "…")),
            ("reposted", True, _entry(_url("bird", name), None, f"RT @somebody: {text}")),
        ):
            yield LabelledPair(kind, name, own, FeedEntry(2, AT + HOUR, entry), same=True, hard=hard)
        for number, unlike in enumerate(post["unlike"]):
            for kind, feed_id, host in (("post of one feed", 1, "social"), ("post of two feeds", 2, "bird")):
                other = FeedEntry(feed_id, AT + DAY, _entry(_url(host, name, number + 2), None, as_html(unlike)))
                yield LabelledPair(kind, name, own, other, same=False, hard=True)


def _episode(show: dict[str, Any], number: int, host: str, title: str, notes: str, *, at: datetime) -> FeedEntry:
    episode = show["episodes"][number]
    file = Enclosure(f"https://media.{host}.example/{show['id']}/{number}.mp3", "audio/mpeg")
    entry = ParsedEntry(
        link=f"https://{host}.example/podcast",
        title=title,
        content_html=as_html(f"{episode['text']}\n\n{notes}"),
        enclosures=(file,),
    )
    return FeedEntry(1 if host == "gazette" else 2, at, entry)


def _episodes() -> Iterator[LabelledPair]:
    for show in _load("posts", "podcast"):
        episodes, notes, name = show["episodes"], show["notes"], show["id"]
        own = [_episode(show, number, "gazette", one["title"], notes, at=AT) for number, one in enumerate(episodes)]
        for number, episode in enumerate(episodes):
            copies = (
                ("episode uploaded again", episode["title"], notes),
                ("episode uploaded again, marked", f"{episode['title']} [Re-upload]", notes),
                ("episode uploaded again, show in title", f"{show['show']} – {episode['title']}", notes),
                ("episode uploaded again, other notes", episode["title"], notes[: len(notes) // 3]),
            )
            for kind, title, text in copies:
                copy = _episode(show, number, "mirror", title, text, at=AT + DAY)
                yield LabelledPair(kind, name, own[number], copy, same=True, hard="marked" in kind)
        for number in range(1, len(episodes)):
            title = episodes[number]["title"]
            for kind, host in (("next episode", "gazette"), ("next episode elsewhere", "mirror")):
                later = _episode(show, number, host, title, notes, at=AT + DAY * 7)
                yield LabelledPair(kind, name, own[number - 1], later, same=False, hard=True)


# --- aggregators, links -----------------------------------------------------------------------------------


def _hacker_news(number: int, title: str, url: str, *, link: str | None = None) -> ParsedEntry:
    comments = f"https://news.ycombinator.com/item?id={number}"
    html = (
        f'<p>Article URL: <a href="{url}">{url}</a></p><p>Comments URL: <a href="{comments}">{comments}</a></p>'
        f"<p>Points: {number % 90}</p><p># Comments: {number % 7}</p>"
    )
    return _entry(link or url, title, html)


def _reddit(number: int, title: str, url: str, group: str = "news") -> ParsedEntry:
    comments = f"https://www.reddit.com/r/{group}/comments/{number:x}/thread/"
    html = (
        f'&#32; submitted by &#32; <a href="https://www.reddit.com/user/somebody"> /u/somebody </a> <br/> '
        f'<span><a href="{url}">[link]</a></span> &#32; <span><a href="{comments}">[comments]</a></span>'
    )
    return _entry(comments, title, html)


def _aggregator_entries() -> Iterator[LabelledPair]:
    for number, (article, neighbour) in enumerate(pairwise(_articles()), 4_000_000):
        original, url = _original(article), _url("gazette", article["id"])
        title = article["other_title"]
        next_url = _url("gazette", neighbour["id"])
        comments = f"https://news.ycombinator.com/item?id={number}"
        for kind, same, hard, entry in (
            ("Hacker News, link to article", True, False, _hacker_news(number, title, url)),
            ("Hacker News, link to comments", True, True, _hacker_news(number, title, url, link=comments)),
            ("Reddit, link in text", True, True, _reddit(number, title, url)),
            ("Hacker News, another article", False, False, _hacker_news(number, neighbour["title"], next_url)),
            ("Reddit, another article", False, False, _reddit(number, neighbour["title"], next_url)),
        ):
            yield LabelledPair(kind, article["id"], original, FeedEntry(3, AT + HOUR, entry), same=same, hard=hard)
        one = FeedEntry(3, AT, _hacker_news(number, article["title"], url))
        other = FeedEntry(3, AT, _hacker_news(number + 1, neighbour["title"], next_url))
        yield LabelledPair("two entries of Hacker News", article["id"], one, other, same=False, hard=False)
        one = FeedEntry(3, AT, _reddit(number, article["title"], url))
        other = FeedEntry(4, AT + HOUR, _reddit(number + 1, title, url, "europe"))
        yield LabelledPair("two places of Reddit", article["id"], one, other, same=True, hard=True)


def _links() -> Iterator[LabelledPair]:
    """Links that lead to no single article."""
    addresses = ("https://gazette.example/", "https://www.gazette.example/news/", "https://gazette.example/en/blog")
    for number, (article, neighbour) in enumerate(pairwise(_articles())):
        address = addresses[number % len(addresses)]
        one = FeedEntry(1, AT, _entry(address, article["title"], as_html(article["text"])))
        other = FeedEntry(2, AT, _entry(address, neighbour["title"], as_html(neighbour["text"])))
        yield LabelledPair("link to a section", article["id"], one, other, same=False, hard=False)
