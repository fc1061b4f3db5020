"""Liferea, a reader for Linux desktops, by Google Reader's API."""

from collections.abc import Callable, Iterator

import pytest

from tests.browser.sample_feeds import SampleEntry, SampleFeed, sample_feeds
from tests.reader_programs.conftest import ReadingServer
from tests.reader_programs.liferea import Liferea, running_liferea
from tests.services.desktop import desktop
from tests.services.desktop_readers import DesktopReader
from tests.waiting import wait_until

CHINESE, FLOOD = "清晨的水闸：一座老磨坊的一天", "Flood marks"
WEIR = SampleFeed("/weir.xml", "The Weir", [SampleEntry("Eels at the weir"), SampleEntry("High water", hours=3)])
BRIDGE = SampleFeed("/bridge.xml", "The Bridge", [SampleEntry("Closed for repairs")], "Ways & means")


@pytest.fixture
def liferea(liferea_service: DesktopReader, reading_server: ReadingServer) -> Iterator[Liferea]:
    """A Liferea that has loaded all of Alice's items."""
    with desktop() as screen, running_liferea(liferea_service, screen, reading_server) as program:
        wait_for(program.titles, reading_server.titles())
        yield program


def wait_for(look: Callable[[], object], expected: object) -> None:
    wait_until(lambda: look() == expected, otherwise=f"it is not {expected}")


def test_liferea_has_the_feeds_and_folders_of_the_server_and_sends_every_change(
    liferea: Liferea, reading_server: ReadingServer
) -> None:
    wait_for(liferea.folders, {feed.title: feed.folder for feed in sample_feeds("")})

    liferea.read_next()
    wait_until(lambda: bool(liferea.titles(read=True)), otherwise="no item is read")
    [opened] = liferea.titles(read=True)
    wait_for(lambda: reading_server.titles(unread=False), {opened})

    liferea.toggle_read(opened)
    wait_for(lambda: reading_server.titles(unread=False), set())

    liferea.toggle_star(CHINESE)
    wait_for(lambda: reading_server.titles(starred=True), {CHINESE})
    liferea.toggle_star(FLOOD)
    wait_for(lambda: reading_server.titles(starred=True), {CHINESE, FLOOD})
    liferea.toggle_star(CHINESE)
    wait_for(lambda: reading_server.titles(starred=True), {FLOOD})
    wait_for(lambda: liferea.titles(starred=True), {FLOOD})

    liferea.subscribe(reading_server.publish(WEIR))
    of_weir = {entry.title for entry in WEIR.entries}
    wait_until(lambda: of_weir <= liferea.titles(), otherwise="the feed that it added has no items")
    assert of_weir <= reading_server.titles()

    liferea.mark_all_read()
    wait_for(lambda: reading_server.titles(unread=True), set())
    wait_for(lambda: liferea.titles(read=False), set())

    reading_server.subscribe(BRIDGE)
    liferea.update()
    wait_for(lambda: liferea.titles(read=False), {"Closed for repairs"})
    wait_for(lambda: liferea.folders()[BRIDGE.title], BRIDGE.folder)
    assert liferea.titles() == reading_server.titles()
    assert liferea.desktop.proxy.refused == []
