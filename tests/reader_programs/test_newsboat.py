"""newsboat, a reader for the terminal: Debian 12's (Miniflux, Atom) and a later one (Miniflux, Google Reader)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from feedmill.model.entry_marks import EntryMarks
from tests.browser.sample_feeds import SampleEntry, SampleFeed
from tests.reader_programs.conftest import ReadingServer
from tests.reader_programs.newsboat import STAR_FLAG, NewsboatReader
from tests.waiting import wait_until

MILLER, SYSTEMS, STARRED_ITEMS = "The Miller’s Notebook", "Quiet Systems", "Starred items"
QUEUES = "Queues that forget: what a lost broker teaches about truth in the row"
SCHEDULER, BAKERY = "You don’t need a scheduler, you need a due date", "Backpressure, explained with a bakery"
CHINESE, FLOOD = "清晨的水闸：一座老磨坊的一天", "Flood marks"
OF_MILLER = {
    "Which stone turns: a year between dry grain and damp",
    "Larch, oak, and the long argument about wheels",
    "A short history of the sluice",
    FLOOD,
}
NEW_FEED = SampleFeed("/weir.xml", "The Weir", [SampleEntry("Eels at the weir"), SampleEntry("High water", hours=3)])


@dataclass(frozen=True)
class Setup:
    """Which newsboat, and how it is told of our server."""

    service: str
    source: str
    path: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)

    def config(self, server: ReadingServer) -> dict[str, str]:
        return {
            "urls-source": self.source,
            f"{self.source}-url": server.url + self.path,
            f"{self.source}-login": server.name,
            f"{self.source}-password": server.password,
            **self.settings,
        }


DEBIAN, LATER = "newsboat_service", "later_newsboat_service"
# Debian 12's asks for special feeds at feedhq.org itself, whatever the URL.
FEEDHQ = Setup(DEBIAN, "feedhq", settings={"feedhq-flag-star": STAR_FLAG, "feedhq-show-special-feeds": "no"})
MINIFLUX = Setup(DEBIAN, "miniflux")
WITHOUT_QUESTION = {"confirm-mark-feed-read": "no"}
LATER_MINIFLUX = Setup(LATER, "miniflux", settings={"miniflux-flag-star": STAR_FLAG, **WITHOUT_QUESTION})
LATER_FRESHRSS = Setup(LATER, "freshrss", "/api/greader.php", {"freshrss-flag-star": STAR_FLAG, **WITHOUT_QUESTION})


def with_setups(*setups: Setup) -> pytest.MarkDecorator:
    names = [f"{setup.service.removesuffix('_service')}-{setup.source}" for setup in setups]
    return pytest.mark.parametrize("reader", setups, ids=names, indirect=True)


@pytest.fixture
def reader(request: pytest.FixtureRequest, reading_server: ReadingServer, tmp_path: Path) -> NewsboatReader:
    """A newsboat that has loaded all of Alice's articles."""
    setup: Setup = request.param
    reader = NewsboatReader(request.getfixturevalue(setup.service), tmp_path / "home")
    reader.configure(setup.config(reading_server))
    reader.execute("reload")
    assert reader.titles() == reading_server.titles()
    return reader


def wait_for_read(server: ReadingServer, titles: set[str]) -> None:
    wait_until(lambda: server.titles(unread=False) == titles, otherwise=f"the server does not have as read: {titles}")


def wait_for_starred(server: ReadingServer, titles: set[str]) -> None:
    wait_until(
        lambda: server.titles(starred=True) == titles, otherwise=f"the server does not have as starred: {titles}"
    )


@with_setups(MINIFLUX, FEEDHQ, LATER_MINIFLUX, LATER_FRESHRSS)
def test_newsboat_and_the_server_agree_on_feeds_and_on_what_is_read(
    reader: NewsboatReader, reading_server: ReadingServer
) -> None:
    with reader.interface() as newsboat:
        with newsboat.feed(SYSTEMS):
            newsboat.read(QUEUES)
            wait_for_read(reading_server, {QUEUES})
            newsboat.toggle_read(SCHEDULER)
            wait_for_read(reading_server, {QUEUES, SCHEDULER})
            newsboat.toggle_read(QUEUES)
            wait_for_read(reading_server, {SCHEDULER})
        newsboat.mark_feed_read(MILLER)
        wait_for_read(reading_server, {SCHEDULER, *OF_MILLER})

        reading_server.subscribe(NEW_FEED)
        reading_server.mark({CHINESE}, EntryMarks(read=True))
        newsboat.reload(f"(2/2) {NEW_FEED.title}")
        wait_until(lambda: reader.titles() == reading_server.titles(), otherwise="the new feed is not there")
        wait_until(lambda: CHINESE not in reader.titles(unread=True), otherwise="newsboat has it unread")
        assert reader.titles(unread=True) == reading_server.titles(unread=True)

        newsboat.mark_all_read()
        wait_for_read(reading_server, reading_server.titles())

    assert reader.execute("reload", "print-unread") == "0 unread articles\n"
    assert reader.titles(unread=True) == set()


# In its mode for FreshRSS newsboat itself never makes an article unread again.
@with_setups(MINIFLUX, FEEDHQ, LATER_MINIFLUX)
def test_what_becomes_unread_on_the_server_becomes_unread_in_newsboat(
    reader: NewsboatReader, reading_server: ReadingServer
) -> None:
    reading_server.mark(OF_MILLER, EntryMarks(read=True))
    reader.execute("reload")
    read = reader.titles(unread=False)

    reading_server.mark({FLOOD}, EntryMarks(read=False))
    reader.execute("reload")

    assert (read, reader.titles(unread=False)) == (OF_MILLER, OF_MILLER - {FLOOD})


@with_setups(FEEDHQ, LATER_MINIFLUX, LATER_FRESHRSS)
def test_a_flag_in_newsboat_is_a_star_on_the_server(reader: NewsboatReader, reading_server: ReadingServer) -> None:
    with reader.interface() as newsboat, newsboat.feed(SYSTEMS):
        newsboat.flag(QUEUES)
        wait_for_starred(reading_server, {QUEUES})
        newsboat.flag(BAKERY)
        wait_for_starred(reading_server, {QUEUES, BAKERY})
        newsboat.remove_flag(QUEUES)
        wait_for_starred(reading_server, {BAKERY})


@with_setups(LATER_MINIFLUX, LATER_FRESHRSS)
def test_newsboat_has_a_feed_of_what_is_starred_on_the_server(
    reader: NewsboatReader, reading_server: ReadingServer
) -> None:
    reading_server.mark({CHINESE, FLOOD}, EntryMarks(starred=True))

    with reader.interface() as newsboat:
        newsboat.reload(f"(2/2) {STARRED_ITEMS}")
        with newsboat.feed(STARRED_ITEMS):
            newsboat.read(FLOOD)
            wait_for_read(reading_server, {FLOOD})
        newsboat.mark_feed_read(STARRED_ITEMS)
        wait_for_read(reading_server, {FLOOD, CHINESE})
