"""The npm package `google-reader-api`, a client library of the Google Reader API: every method that it has."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.sample_feeds import SampleEntry, SampleFeed
from tests.cli.tmpfs import skip_or_fail_in_ci
from tests.reader_programs.conftest import ReadingServer
from tests.reader_programs.shapes import unlike
from tests.services.google_reader_api import GoogleReaderLibrary, LibraryError, google_reader_library
from tests.services.server import ServiceMissing

READING_LIST, READ, STARRED = (f"user/-/state/com.google/{name}" for name in ("reading-list", "read", "starred"))
# Methods that the others call for each request.
CALLED_BY_OTHERS = {"clientLogin", "getPostToken", "makeApiRequest"}
ITEM = {
    **dict.fromkeys(("id", "crawlTimeMsec", "timestampUsec", "title", "author"), str),
    **dict.fromkeys(("published", "updated"), int),
    "canonical": [{"href": str}],
    "alternate": [{"href": str, "type": str}],
    "categories": [str],
    "origin": {"streamId": str, "title": str, "htmlUrl": str},
    "summary": {"content": str},
}
STREAM = {"id": str, "updated": int, "items": [ITEM]}
SUBSCRIPTION = {
    **dict.fromkeys(("id", "title", "url", "htmlUrl", "iconUrl"), str),
    "categories": [{"id": str, "label": str}],
}


@pytest.fixture
def library(reading_server: ReadingServer, tmp_path: Path) -> Iterator[GoogleReaderLibrary]:
    """The library at the address that apps for FreshRSS use."""
    address = f"{reading_server.url}/api/greader.php"
    try:
        with google_reader_library(address, reading_server.name, reading_server.password, tmp_path / "log") as running:
            yield running
    except ServiceMissing as missing:
        skip_or_fail_in_ci(str(missing))


def test_the_library_adds_reads_and_stars_and_agrees_with_the_server(
    reading_server: ReadingServer, library: GoogleReaderLibrary
) -> None:
    account_and_lists_are_readable(library)
    stream = feed_is_added_and_changed(library, reading_server)
    items_are_paged(library, reading_server)
    states_agree(library, reading_server, stream)
    feed_is_removed(library, stream)

    assert library.called == library.methods() - CALLED_BY_OTHERS


def account_and_lists_are_readable(library: GoogleReaderLibrary) -> None:
    user = library.call("getUserInfo")
    counts = library.call("getUnreadCounts")

    assert user["userName"] == "alice"
    assert unlike(user, dict.fromkeys(("userId", "userName", "userProfileId", "userEmail"), str)) == []
    assert unlike(library.call("getSubscriptionList"), [SUBSCRIPTION]) == []
    assert {"id": "user/-/label/Craft", "type": "folder"} in library.call("getTagList")
    counted = {"id": str, "count": int, "newestItemTimestampUsec": str}
    assert unlike(counts, {"max": int, "unreadcounts": [counted]}) == []
    assert library.call("getStreamItemCount", {"streamId": READING_LIST})["count"] == counts["max"]
    dated = library.call("getStreamItemCount", {"streamId": READING_LIST, "includeLatestDate": True})
    assert (dated["count"], dated["date"] is None) == (counts["max"], False)


def feed_is_added_and_changed(library: GoogleReaderLibrary, server: ReadingServer) -> str:
    url = server.publish(SampleFeed("/weirs.xml", "Weirs", [SampleEntry("One"), SampleEntry("Two")]))

    stream: str = library.call("quickAddSubscription", url)["streamId"]
    label = "user/-/label/Water"
    edited = library.call(
        "editSubscription", {"action": "edit", "streamId": stream, "title": "My weirs", "categoryId": label}
    )

    [mine] = [each for each in library.call("getSubscriptionList") if each["id"] == stream]
    assert (edited, mine["title"], mine["categories"]) == ("OK", "My weirs", [{"id": label, "label": "Water"}])
    assert library.call("checkSubscription", stream) is library.call("checkSubscription", f"feed/{url}") is True
    assert library.call("checkSubscription", "feed/https://example.org/none") is False
    assert library.call("renameTag", "Water", "Rivers") == "OK"
    assert library.call("disableTag", "Rivers") == "OK"
    assert url in library.call("exportSubscriptions")
    # It sends its import to the address of the export.
    with pytest.raises(LibraryError, match="404"):
        library.call("importSubscriptions", "<opml/>")
    return stream


def items_are_paged(library: GoogleReaderLibrary, server: ReadingServer) -> None:
    titles: list[str] = []
    ids: list[str] = []
    page: dict[str, Any] = {"streamId": READING_LIST, "itemsPerPage": 7, "continuation": ""}
    while page["continuation"] is not None:
        contents, found = library.call("getStreamContents", page), library.call("getStreamItemIds", page)
        assert unlike(contents, STREAM) == unlike(found, {"itemRefs": [{"id": str}]}) == []
        assert contents.get("continuation") == found.get("continuation") != page["continuation"]
        titles += [item["title"] for item in contents["items"]]
        ids += [item["id"] for item in found["itemRefs"]]
        page["continuation"] = contents.get("continuation")

    assert (len(titles), set(titles)) == (len(set(ids)), server.titles())
    assert [item["title"] for item in library.call("getStreamItemContents", ids)["items"]] == titles


def states_agree(library: GoogleReaderLibrary, server: ReadingServer, stream: str) -> None:
    items = library.call("getStreamContents", {"streamId": stream})["items"]
    one, two = (next(item["id"] for item in items if item["title"] == title) for title in ("One", "Two"))

    edits = [
        library.call("editTag", {"editIds": [one], "addIds": [READ]}),
        library.call("editTag", {"editIds": [one, two], "addIds": [STARRED]}),
        library.call("editTag", {"editIds": [one], "removeIds": [STARRED]}),
    ]

    assert edits == ["OK"] * 3
    unread = {"streamId": READING_LIST, "excludeStreamId": READ, "itemsPerPage": 1000}
    found = {item["title"] for item in library.call("getStreamContents", unread)["items"]}
    assert found == server.titles(unread=True) == server.titles() - {"One"}
    starred = library.call("getStreamContents", {"streamId": STARRED})["items"]
    assert {item["title"] for item in starred} == server.titles(starred=True) == {"Two"}
    assert library.call("markAllAsRead", {"streamId": stream}) == "OK"
    assert server.titles(unread=True) == found - {"Two"}
    assert library.call("markAllAsRead", {"streamId": READING_LIST}) == "OK"
    assert server.titles(unread=True) == set()


def feed_is_removed(library: GoogleReaderLibrary, stream: str) -> None:
    assert library.call("editSubscription", {"action": "unsubscribe", "streamId": stream}) == "OK"

    assert stream not in {each["id"] for each in library.call("getSubscriptionList")}
