"""`from feedmill import parse_feed, sanitize_html`: what docs/reference/python.md promises."""

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import feedmill
from feedmill import Enclosure, NotAFeed, ParsedEntry, ParsedFeed, parse_feed, sanitize_html

DATA = Path(__file__).parent / "data"
URL = "https://example.org/news/feed"
DOCUMENTS = sorted(path for path in DATA.glob("*/*") if path.with_name(f"{path.name}.json").exists())
FEEDS = [path for path in DOCUMENTS if path.parent.name != "notafeed"]
NO_FEEDS = [path for path in DOCUMENTS if path.parent.name == "notafeed"]
BAD_URLS = ["", "no url", "https://[", "javascript:alert(1)", "//", "https://" + "a" * 100_000]


def feed_in(name: str, content_type: str | None = None) -> ParsedFeed:
    return parse_feed((DATA / name).read_bytes(), content_type=content_type, url=URL)


def test_rss_is_read() -> None:
    feed = feed_in("rss/2.0-full.xml")

    assert (feed.id, feed.title, feed.link, feed.description) == (None, "Заметки", "https://example.org/", "Всё подряд")
    assert (feed.language, feed.image_url, feed.icon_url) == ("ru", "https://example.org/logo.png", None)
    assert feed.published_at == datetime(2024, 3, 1, 6, 0, tzinfo=UTC)
    assert feed.updated_at == datetime(2024, 3, 1, 6, 20, tzinfo=UTC)
    [entry] = feed.entries
    assert isinstance(entry, ParsedEntry)
    assert (entry.guid, entry.link) == ("tag:example.org,2024:first", "https://example.org/2024/first")
    assert (entry.title, entry.author) == ("Первый выпуск", "alice@example.org (Alice Liddell)")
    assert (entry.content_html, entry.summary) == ("<p>Коротко о главном.</p>",) * 2
    assert (entry.published_at, entry.updated_at) == (datetime(2024, 3, 1, 6, 15, tzinfo=UTC), None)
    assert entry.categories == ("Новости", "Погода")
    assert entry.enclosures == (Enclosure("https://example.org/first.ogg", "audio/ogg", 48213),)


def test_atom_is_read() -> None:
    feed = feed_in("atom/1.0-full.xml")

    assert (feed.id, feed.title, feed.format) == ("tag:example.org,2024:3", "隨筆", "atom10")
    assert feed.icon_url == "https://example.org/favicon.ico"
    [entry] = feed.entries
    assert (entry.guid, entry.author) == ("tag:example.org,2024:3.2397", "王小明 (wang@example.org)")
    assert entry.updated_at == datetime(2024, 3, 1, 4, 29, 29, tzinfo=UTC)
    assert entry.enclosures == (Enclosure("https://example.org/audio/spring.mp3", "audio/mpeg", 1337),)


def test_json_feed_is_read() -> None:
    feed = feed_in("jsonfeed/1.1-full.json")

    assert (feed.id, feed.title, feed.format) == ("https://example.org/feed.json", "Notes", "jsonfeed11")
    assert (feed.description, feed.language, feed.categories) == ("随手记", "zh", ())
    assert [entry.guid for entry in feed.entries if entry.guid is None] == []


def test_rdf_is_read() -> None:
    feed = feed_in("rdf/1.0-full.xml")

    assert (feed.id, feed.title, feed.format) == ("https://example.org/rss", "Notes", "rss10")
    [entry] = feed.entries
    assert (entry.guid, entry.content_html, entry.categories) == (
        "https://example.org/id/1",
        "<p>本文です。</p>",
        ("天気",),
    )


@pytest.mark.parametrize(
    ("name", "content_type"),
    [
        ("gbk.xml", None),
        ("gbk-unlabelled.xml", None),
        ("gbk-by-http-only.xml", "text/xml; charset=gbk"),
    ],
)
def test_gbk_is_decoded_by_its_label_by_http_or_by_its_bytes(name: str, content_type: str | None) -> None:
    feed = feed_in(f"encodings/{name}", content_type)

    assert (feed.title, feed.encoding) == ("今日新闻摘要", "gb18030")


def test_every_time_is_in_utc_and_every_link_is_absolute() -> None:
    feeds = {path: parse_feed(path.read_bytes(), url=URL) for path in FEEDS}

    elsewhere = {
        path: [moment for moment in times(feed) if moment and moment.tzinfo != UTC] for path, feed in feeds.items()
    }
    relative = {path: [link for link in links(feed) if link and not is_absolute(link)] for path, feed in feeds.items()}

    assert {path: moments for path, moments in elsewhere.items() if moments} == {}
    assert {path: found for path, found in relative.items() if found} == {}


def times(feed: ParsedFeed) -> Iterator[datetime | None]:
    yield from (feed.published_at, feed.updated_at)
    for entry in feed.entries:
        yield from (entry.published_at, entry.updated_at)


def links(feed: ParsedFeed) -> Iterator[str | None]:
    yield from (feed.link, feed.image_url, feed.icon_url, feed.hub_url)
    for entry in feed.entries:
        yield from (entry.link, entry.image_url, entry.comments_url, entry.base_url)
        yield from (enclosure.url for enclosure in entry.enclosures)


def is_absolute(link: str) -> bool:
    try:
        return bool(urlsplit(link).scheme)
    except ValueError:  # what can't be read as a link stays as it is
        return True


@pytest.mark.parametrize("path", NO_FEEDS, ids=lambda path: path.name)
def test_what_is_no_feed_raises_the_one_public_error(path: Path) -> None:
    with pytest.raises(NotAFeed) as caught:
        parse_feed(path.read_bytes())

    assert caught.value.looks_like in {"html", "empty", "json", "binary", "xml", "text"}


@pytest.mark.parametrize("url", BAD_URLS, ids=lambda url: url[:20])
def test_a_bad_url_spoils_nothing_but_relative_links(url: str) -> None:
    feed = parse_feed(
        b"<rss><channel><title>a</title><link>/b</link><item><link>c</link></item></channel></rss>", url=url
    )

    assert (feed.title, len(feed.entries)) == ("a", 1)


def test_a_result_can_not_be_changed() -> None:
    feed = feed_in("rss/2.0-full.xml")

    for value, field in ((feed, "title"), (feed.entries[0], "title"), (feed.entries[0].enclosures[0], "url")):
        with pytest.raises(AttributeError):
            setattr(value, field, "other")


def test_content_is_as_the_feed_gives_it_until_it_is_sanitized() -> None:
    html = '<p onclick="a()">a<script>b()</script> <a href="c">d</a> <a href="javascript:e()">f</a></p>'
    feed = parse_feed(
        f"<rss><channel><item><description><![CDATA[{html}]]></description></item></channel></rss>".encode()
    )

    assert feed.entries[0].content_html == html
    assert sanitize_html(html) == (
        '<p>a <a rel="noopener noreferrer nofollow">d</a> <a rel="noopener noreferrer nofollow">f</a></p>'
    )
    assert '<a href="https://example.org/c"' in sanitize_html(html, "https://example.org/")


def test_public_names_are_listed_and_others_are_unknown() -> None:
    assert set(feedmill.__all__) <= set(dir(feedmill))
    assert [name for name in feedmill.__all__ if not hasattr(feedmill, name)] == []
    with pytest.raises(AttributeError, match="no attribute 'parse_fed'"):
        feedmill.parse_fed  # noqa: B018


USER = """\
from feedmill import NotAFeed, ParsedFeed, parse_feed, sanitize_html

feed: ParsedFeed = parse_feed(b"", content_type=None, url=None)
html: str = sanitize_html(feed.entries[0].content_html or "", base_url=feed.entries[0].base_url)
"""


@pytest.mark.external
def test_a_type_checker_knows_the_public_names(tmp_path: Path) -> None:
    (tmp_path / "right.py").write_text(USER)
    (tmp_path / "wrong.py").write_text("from feedmill import parse_fed\n")

    right, wrong = (
        subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), str(tmp_path / name)],
            capture_output=True,
            text=True,
            cwd=Path(__file__).parents[1],
        )
        for name in ("right.py", "wrong.py")
    )

    assert (right.returncode, right.stdout) == (0, "Success: no issues found in 1 source file\n")
    assert 'has no attribute "parse_fed"' in wrong.stdout
