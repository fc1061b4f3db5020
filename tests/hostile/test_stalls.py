"""The server responds while it handles the largest and worst documents (docs/decisions/event-loop.md)."""

from collections.abc import Iterator

import pytest

from tests.hostile.large_documents import feed_of_articles, fill, hostile_articles, hostile_feeds
from tests.hostile.stalls import Prober, Reader, reading, slowness

pytestmark = pytest.mark.external

# Seconds for which the event loop may be blocked by the server's own work (`stalls.py`), on a machine that is not
# slower than ours: twice what docs/decisions/event-loop.md promises, because the same work takes up to twice the CPU
# time while the other core is busy.
LONGEST_STALL = 0.5


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    with reading(tmp_path_factory.mktemp("stalls")) as reader:
        yield reader


@pytest.mark.parametrize("shape", hostile_feeds(10_000))
def test_a_large_feed_does_not_block_the_event_loop(reader: Reader, shape: str) -> None:
    url = reader.publish(f"{shape.replace(' ', '-')}.xml", hostile_feeds()[shape])

    with reader.prober() as prober:
        answer = reader.subscribe(url)

    assert answer.status_code in (201, 422), answer.text
    assert_loop_is_not_blocked(prober)


def test_a_large_article_does_not_block_the_event_loop(reader: Reader) -> None:
    url = reader.publish("articles.xml", feed_of_articles(hostile_articles()))
    entry_ids = reader.entries_of(reader.subscribe(url))

    with reader.prober() as prober:
        for entry_id in entry_ids:
            reader.read(entry_id)

    assert len(entry_ids) == len(hostile_articles())
    assert_loop_is_not_blocked(prober)


def test_a_large_feed_list_does_not_block_the_event_loop(reader: Reader) -> None:
    outlines = fill("<outline text='a' xmlUrl='", 5_000_000)

    with reader.prober() as prober:
        answer = reader.import_opml(f"<opml><body>{outlines}")

    assert answer.status_code == 422, answer.text
    assert_loop_is_not_blocked(prober)


def assert_loop_is_not_blocked(prober: Prober) -> None:
    limit = LONGEST_STALL * slowness()
    assert prober.longest_held < limit, (
        f"{prober.longest_held:.2f} s of at most {limit:.2f}, of {prober.worst_wall:.2f} s on the wall"
    )
