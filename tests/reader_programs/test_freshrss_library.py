"""The PyPI package `freshrss-api`, a client library of the Fever API: every method that it has."""

import pytest
from freshrss_api import FreshRSSAPI
from freshrss_api.utils.errors import AuthenticationError
from loguru import logger

from tests.reader_programs.conftest import ReadingServer
from tests.reader_programs.shapes import unlike

FEEDS = {
    "feeds": [
        {
            **dict.fromkeys(("id", "favicon_id", "is_spark", "last_updated_on_time"), int),
            **dict.fromkeys(("title", "url", "site_url"), str),
        }
    ],
    "feeds_groups": [{"group_id": int, "feed_ids": str}],
}
GROUPS = {"groups": [{"id": int, "title": str}], "feeds_groups": [{"group_id": int, "feed_ids": str}]}


@pytest.fixture
def complaints() -> list[str]:
    """What the library logs as an error: a response without the members that it expects."""
    logged: list[str] = []
    logger.remove()
    logger.add(logged.append, level="ERROR")
    return logged


def test_the_library_lists_marks_and_agrees_with_the_server(
    reading_server: ReadingServer, complaints: list[str]
) -> None:
    library = FreshRSSAPI(reading_server.url, reading_server.name, reading_server.password)

    feeds, groups = library.get_feeds(), library.get_groups()
    unread = library.get_unreads()
    first, second, *_ = unread
    read = library.set_mark("read", first.id)
    library.set_mark("saved", second.id)
    library.set_mark("saved", second.id)

    assert unlike(feeds, FEEDS) == unlike(groups, GROUPS) == []
    assert "Craft" in {group["title"] for group in groups["groups"]}
    assert {item.title for item in unread} == reading_server.titles()
    assert str(first.id) not in read["unread_item_ids"].split(",")
    assert {item.title for item in library.get_unreads()} == reading_server.titles(unread=True)
    assert first.title not in reading_server.titles(unread=True)
    assert {item.title for item in library.get_saved()} == reading_server.titles(starred=True) == {second.title}
    assert library.get_items_from_ids([second.id])[0].is_saved
    assert {item.id for item in library.get_items_from_dates(since=0)} == {item.id for item in unread}
    library.set_mark("unsaved", second.id)
    assert library.get_saved() == []
    assert complaints == []


def test_the_library_is_refused_with_a_wrong_password(reading_server: ReadingServer) -> None:
    with pytest.raises(AuthenticationError):
        FreshRSSAPI(reading_server.url, reading_server.name, "wrong")
