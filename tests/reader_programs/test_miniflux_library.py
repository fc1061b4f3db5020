"""The PyPI package `miniflux`, the official client library of Miniflux: every method that it has."""

from collections.abc import Callable
from typing import Any

import miniflux
import pytest

from feedmill.library.feeds.fetch_icons import IconFetcher
from tests.archive.images import sample_images
from tests.browser.sample_feeds import SampleEntry, SampleFeed
from tests.reader_programs.conftest import ReadingServer
from tests.reader_programs.shapes import time, unlike
from tests.scripted_web import Answer
from tests.waiting import wait_until

METHODS = {name for name, value in vars(miniflux.Client).items() if callable(value) and not name.startswith("_")}

TEXTS = ("scraper_rules", "rewrite_rules", "blocklist_rules", "keeplist_rules", "user_agent", "username", "password")
FLAGS = ("disabled", "crawler", "ignore_http_cache", "fetch_via_proxy", "hide_globally")
CATEGORY = {"id": int, "title": str, "user_id": int, "hide_globally": bool}
FEED = {
    **dict.fromkeys(("id", "user_id", "parsing_error_count"), int),
    **dict.fromkeys(("feed_url", "site_url", "title", "etag_header", "last_modified_header"), str),
    **dict.fromkeys(("parsing_error_message", *TEXTS), str),
    **dict.fromkeys(("checked_at", "next_check_at"), time),
    **dict.fromkeys(FLAGS, bool),
    "category": CATEGORY,
    "icon": {"feed_id": int, "icon_id": int},
}
ENCLOSURE = {
    **dict.fromkeys(("id", "user_id", "entry_id", "size", "media_progression"), int),
    **dict.fromkeys(("url", "mime_type"), str),
}
ENTRY = {
    **dict.fromkeys(("id", "user_id", "feed_id", "reading_time"), int),
    **dict.fromkeys(("status", "hash", "title", "url", "comments_url", "content", "author", "share_code"), str),
    **dict.fromkeys(("published_at", "created_at", "changed_at"), time),
    "starred": bool,
    "enclosures": [ENCLOSURE],
    "feed": FEED,
    "tags": [str],
}
PAGE = {"total": int, "entries": [ENTRY]}
USER = {
    **dict.fromkeys(("id", "entries_per_page"), int),
    **dict.fromkeys(("username", "theme", "language", "timezone", "entry_sorting_direction"), str),
    **dict.fromkeys(("is_admin", "keyboard_shortcuts", "show_reading_time"), bool),
    "last_login_at": time,
}
ICON = {"id": int, "mime_type": str, "data": str}
OPML = '<opml version="2.0"><body><outline text="Sent" type="rss" xmlUrl="{url}"/></body></opml>'


class Library:
    """The client of the library; remembers which of its methods were called."""

    def __init__(self, client: miniflux.Client) -> None:
        self.client = client
        self.called: set[str] = set()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        self.called.add(name)
        method: Callable[..., Any] = getattr(self.client, name)
        return method


def test_every_method_of_the_library_works_or_is_refused(reading_server: ReadingServer) -> None:
    library = Library(miniflux.Client(reading_server.url, api_key=reading_server.password))

    account_is_readable(library)
    accounts_and_keys_are_refused(library)
    feed_id = feed_is_found_added_and_changed(library, reading_server)
    icon_is_readable(library, reading_server)
    category_holds_the_feed(library, feed_id)
    entries_are_listed_and_read(library, feed_id)
    positions_of_files_are_kept(library)
    lists_are_exported_and_imported(library, reading_server)
    states_agree_on_both_sides(library, reading_server, feed_id)
    library.close()

    assert library.called >= METHODS


def test_a_name_with_an_app_password_signs_in_and_a_wrong_one_does_not(reading_server: ReadingServer) -> None:
    right = miniflux.Client(reading_server.url, reading_server.name, reading_server.password)
    wrong = miniflux.Client(reading_server.url, reading_server.name, "wrong")

    assert right.me()["username"] == reading_server.name
    with pytest.raises(miniflux.AccessUnauthorized):
        wrong.me()


def account_is_readable(library: Library) -> None:
    version = library.get_version()
    me = library.me()

    assert unlike(version, {"version": str, "commit": str}) == []
    assert unlike(me, USER) == []
    assert library.get_user_by_id(me["id"]) == library.get_user_by_username(me["username"]) == me
    assert library.get_users() == [me]
    assert library.get_integrations_status() is False
    assert library.flush_history() is True


def accounts_and_keys_are_refused(library: Library) -> None:
    my_id = library.me()["id"]
    refused: list[Callable[[], Any]] = [
        lambda: library.create_user("eve", "correct horse battery"),
        lambda: library.update_user(my_id, is_admin=True),
        lambda: library.delete_user(my_id),
        lambda: library.get_api_keys(),
        lambda: library.create_api_key("mine"),
        lambda: library.delete_api_key(1),
    ]

    for call in refused:
        with pytest.raises(miniflux.AccessForbidden, match="an app password can't do this"):
            call()


def feed_is_found_added_and_changed(library: Library, server: ReadingServer) -> int:
    paragraph = "<p>" + "The weir keeps the water back until it is needed. " * 15 + "</p>"
    page = f"<html><body><article><h1>Weirs</h1>{paragraph * 4}</article></body></html>"
    link = server.server.site.web.serve("/weir", Answer(page.encode(), headers={"Content-Type": "text/html"}))
    url = server.publish(SampleFeed("/weirs.xml", "Weirs", [SampleEntry("One", link=link), SampleEntry("Two")]))

    [found] = library.discover(url)
    feed_id = library.create_feed(url)
    changed = library.update_feed(feed_id, title="My weirs", disabled=True)
    library.update_feed(feed_id, disabled=False)

    assert (found["url"], found["title"], found["type"]) == (url, "Weirs", "rss")
    assert unlike(changed, FEED) == []
    assert (changed["title"], changed["disabled"], changed["feed_url"]) == ("My weirs", True, url)
    assert library.get_feed(feed_id) == changed | {"disabled": False, "next_check_at": _next_check(library, feed_id)}
    assert unlike(library.get_feeds(), [FEED]) == []
    assert library.get_feed_counters()["unreads"][str(feed_id)] == 2
    assert library.refresh_feed(feed_id) is library.refresh_all_feeds() is True
    with pytest.raises(miniflux.BadRequest, match="subscribed"):
        library.create_feed(url)
    return int(feed_id)


def _next_check(library: Library, feed_id: int) -> str:
    return str(library.get_feed(feed_id)["next_check_at"])


def icon_is_readable(library: Library, server: ReadingServer) -> None:
    site = server.server.site
    icon_url = site.web.serve("/icon.png", Answer(sample_images.PNG, headers={"Content-Type": "image/png"}))
    body = f"<feed xmlns='http://www.w3.org/2005/Atom'><title>Icons</title><icon>{icon_url}</icon></feed>"
    feed_id = library.create_feed(site.web.serve("/icons.xml", Answer(body.encode())))
    with pytest.raises(miniflux.ResourceNotFound):
        library.get_feed_icon(feed_id)

    server.server.do(IconFetcher(site.app.db, site.app.client).fetch())

    icon = library.get_feed_icon(feed_id)
    assert unlike(icon, ICON) == []
    assert icon["data"].startswith("image/png;base64,")
    assert icon == library.get_icon_by_feed_id(feed_id)
    assert icon == library.get_icon(library.get_feed(feed_id)["icon"]["icon_id"])
    library.delete_feed(feed_id)
    with pytest.raises(miniflux.ResourceNotFound):
        library.get_feed(feed_id)


def category_holds_the_feed(library: Library, feed_id: int) -> None:
    category = library.create_category("Water")
    renamed = library.update_category(category["id"], "Rivers")
    library.update_feed(feed_id, category_id=category["id"])

    assert unlike(library.get_categories(), [CATEGORY]) == []
    assert renamed == category | {"title": "Rivers"}
    with pytest.raises(miniflux.BadRequest, match="already"):
        library.create_category("Rivers")
    assert [feed["id"] for feed in library.get_category_feeds(category["id"])] == [feed_id]
    page = library.get_category_entries(category["id"], order="title", direction="asc")
    assert [entry["title"] for entry in page["entries"]] == ["One", "Two"]
    entry = page["entries"][0]
    assert library.get_category_entry(category["id"], entry["id"]) == entry
    assert library.refresh_category(category["id"]) is True
    library.mark_category_entries_as_read(category["id"])
    assert library.get_category_entries(category["id"], status="unread")["total"] == 0
    library.update_entries([each["id"] for each in page["entries"]], "unread")
    library.delete_category(category["id"])
    assert library.get_feed(feed_id)["category"]["title"] == "No folder"


def entries_are_listed_and_read(library: Library, feed_id: int) -> None:
    everything = library.get_entries(limit=100)
    page = library.get_feed_entries(feed_id, order="title", direction="asc", status=["unread"])
    entry = page["entries"][0]

    assert unlike(everything, PAGE) == unlike(page, PAGE) == []
    assert (page["total"], len(everything["entries"])) == (2, everything["total"])
    assert library.get_entry(entry["id"]) == library.get_feed_entry(feed_id, entry["id"]) == entry
    fetched = library.fetch_entry_content(entry["id"])
    assert unlike(fetched, {"content": str, "reading_time": int}) == []
    assert "The weir keeps the water back" in fetched["content"]
    with pytest.raises(miniflux.AccessForbidden, match="shared by all"):
        library.update_entry(entry["id"], title="Mine")
    with pytest.raises(miniflux.AccessForbidden, match="shared by all"):
        library.import_entry(feed_id, "https://example.org/kept", title="Kept")
    with pytest.raises(miniflux.BadRequest, match="no other service"):
        library.save_entry(entry["id"])


def positions_of_files_are_kept(library: Library) -> None:
    [episode, *_] = library.get_entries(search="Episode 41")["entries"]
    [file] = episode["enclosures"]

    assert library.update_enclosure(file["id"], media_progression=321) is True

    assert library.get_enclosure(file["id"]) == file | {"media_progression": 321}


def lists_are_exported_and_imported(library: Library, server: ReadingServer) -> None:
    url = server.publish(SampleFeed("/sent.xml", "Sent", [SampleEntry("Sent here")]))

    assert unlike(library.import_feeds(OPML.format(url=url)), {"message": str}) == []

    wait_until(lambda: "Sent here" in server.titles(), otherwise="the imported feed was not fetched")
    assert url in library.export()
    assert url in library.export_feeds()


def states_agree_on_both_sides(library: Library, server: ReadingServer, feed_id: int) -> None:
    page = library.get_feed_entries(feed_id, order="title", direction="asc")
    one, two = (entry["id"] for entry in page["entries"])

    library.update_entries([one], "read")
    library.toggle_bookmark(two)

    assert "One" not in server.titles(unread=True)
    assert server.titles(starred=True) == {"Two"}
    assert [entry["title"] for entry in library.get_entries(starred=True)["entries"]] == ["Two"]
    unread = {entry["title"] for entry in library.get_entries(status="unread", limit=1000)["entries"]}
    assert unread == server.titles(unread=True)
    library.mark_feed_entries_as_read(feed_id)
    assert server.titles(unread=True) == unread - {"One", "Two"}
    library.mark_user_entries_as_read(library.me()["id"])
    assert server.titles(unread=True) == set()
