"""URLs of an entry that would run a script are not stored."""

from datetime import timedelta

import pytest

from feedmill.collect.entries.storable_entry import storable_entry, storable_link
from feedmill.collect.refresh_decision import storable_metadata
from feedmill.model.parsed_feed import Chapter, Enclosure, ParsedEntry, ParsedFeed

RUNNING = [
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    " \x01javascript:alert(1)",
    "java\nscript\t:alert(1)",
    "vbscript:x",
    "data:text/html,<script>alert(1)</script>",
    "file:///etc/passwd",
    "blob:https://example.org/1",
    "ms-msdt:/id",
    "view-source:https://example.org/",
]
HARMLESS = [
    "https://example.org/a?b=c:d",
    "HTTP://EXAMPLE.ORG/",
    "magnet:?xt=urn:btih:c12fe1",
    "mailto:ada@example.org",
    "ftp://example.org/a",
]


@pytest.mark.parametrize("url", RUNNING)
def test_a_url_that_runs_a_script_is_not_stored(url: str) -> None:
    entry, _ = storable_entry(
        ParsedEntry(
            link=url, comments_url=url, image_url=url, enclosures=(Enclosure(url), Enclosure("https://a.example/"))
        )
    )
    metadata = storable_metadata(ParsedFeed(link=url, icon_url=url, image_url=url))

    assert (entry.link, entry.comments_url, entry.image_url) == (None, None, None)
    assert [each.url for each in entry.enclosures] == ["https://a.example/"]
    assert (metadata.site_url, metadata.icon_url, metadata.image_url) == (None, None, None)


@pytest.mark.parametrize("name", ["link", "comments_url", "image_url"])
def test_a_plain_entry_is_checked_too(name: str) -> None:
    entry, _ = storable_entry(ParsedEntry(**{name: "javascript:alert(1)"}))  # type: ignore[arg-type]

    assert getattr(entry, name) is None


@pytest.mark.parametrize("url", ["/a/relative:one", "a/b", "?q=javascript:x", "#a", "", "https:a", "https:///a"])
def test_a_link_into_our_own_site_is_not_stored(url: str) -> None:
    assert storable_link(url) is None


@pytest.mark.parametrize("url", HARMLESS)
def test_a_url_of_another_site_is_stored(url: str) -> None:
    assert storable_link(url) == url


def test_chapters_are_cut_where_they_become_too_long_and_run_no_script() -> None:
    chapters = [Chapter(timedelta(seconds=second), "章" * 300, RUNNING[0]) for second in range(300)]
    files = (Enclosure("https://a.example/1.mp3", chapters=tuple(chapters)), Enclosure("https://a.example/2.mp3"))

    entry, _ = storable_entry(ParsedEntry(enclosures=files))

    first, second = entry.enclosures
    assert 50 < len(first.chapters) < 300
    assert {chapter.url for chapter in first.chapters} == {None}
    assert second.chapters == ()
