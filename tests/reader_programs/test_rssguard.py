"""RSS Guard, a reader for desktops, by Google Reader's API as FreshRSS has it."""

from collections.abc import Iterator

import pytest

from feedmill.model.entry_marks import EntryMarks
from tests.browser.sample_feeds import SampleEntry, SampleFeed, sample_feeds
from tests.reader_programs import rssguard as keys
from tests.reader_programs.conftest import ReadingServer
from tests.reader_programs.rssguard import RssGuard, running_rssguard
from tests.services.desktop import desktop
from tests.services.desktop_readers import DesktopReader

CHINESE, FLOOD = "清晨的水闸：一座老磨坊的一天", "Flood marks"
WEIR = SampleFeed("/weir.xml", "The Weir", [SampleEntry("Eels at the weir")], "Rivers & lakes")


@pytest.fixture
def rssguard(rssguard_service: DesktopReader, reading_server: ReadingServer) -> Iterator[RssGuard]:
    """An RSS Guard that has loaded all of Alice's articles."""
    with desktop() as screen, running_rssguard(rssguard_service, screen, reading_server) as program:
        program.fetch_until(lambda: program.titles() == reading_server.titles())
        yield program


def fetch_until_both_agree(rssguard: RssGuard, server: ReadingServer) -> None:
    rssguard.fetch_until(lambda: _states(rssguard) == _server_states(server))


def _states(rssguard: RssGuard) -> tuple[set[str], set[str]]:
    return rssguard.titles(read=True), rssguard.titles(starred=True)


def _server_states(server: ReadingServer) -> tuple[set[str], set[str]]:
    return server.titles(unread=False), server.titles(starred=True)


def test_rss_guard_and_the_server_agree_on_feeds_and_on_what_is_read_and_starred(
    rssguard: RssGuard, reading_server: ReadingServer
) -> None:
    assert rssguard.folders() == {feed.title: feed.folder for feed in sample_feeds("")}

    rssguard.press_until((keys.NEXT_FEED, keys.NEXT_ARTICLE), lambda: bool(rssguard.titles(read=True)))
    rssguard.press_until((keys.STAR,), lambda: bool(rssguard.titles(starred=True)))
    opened, starred = _states(rssguard)
    fetch_until_both_agree(rssguard, reading_server)
    assert _server_states(reading_server) == (opened, starred)

    # The program opens its selected article again, as read, whenever it shows the list anew: the marks are of others.
    chinese, flood = {CHINESE} - opened, {FLOOD} - opened
    reading_server.mark(opened, EntryMarks(starred=False))
    reading_server.mark(chinese | flood, EntryMarks(read=True, starred=True))
    fetch_until_both_agree(rssguard, reading_server)
    assert _states(rssguard) == (opened | chinese | flood, chinese | flood)

    reading_server.mark(flood, EntryMarks(read=False))
    fetch_until_both_agree(rssguard, reading_server)
    assert _states(rssguard) == (opened | chinese, chinese | flood)

    rssguard.press_until((keys.MARK_ALL_READ,), lambda: not rssguard.titles(read=False))
    fetch_until_both_agree(rssguard, reading_server)
    assert reading_server.titles(unread=True) == set()

    reading_server.subscribe(WEIR)
    rssguard.press_until(keys.LOAD_FEEDS, lambda: rssguard.folders().get(WEIR.title) == WEIR.folder)
    rssguard.fetch_until(lambda: rssguard.titles(read=False) == {"Eels at the weir"})
    assert rssguard.titles() == reading_server.titles()
