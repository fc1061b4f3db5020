"""Benchmarks how long the worst feeds and articles block the event loop of `feedmill serve`.

A prober requests `/health/live` every 20 ms. The CPU time of the server until the response is the time that the loop
was blocked; the wall time includes other load of the machine. The first row is an idle server.
"""

import tempfile
import time
from pathlib import Path

from report import Table, report_table

from tests.hostile.large_documents import feed_of_articles, hostile_articles, hostile_feeds
from tests.hostile.stalls import Prober, Reader, reading

IDLE_SECONDS = 3


def row(name: str, prober: Prober, seconds: float) -> list[str | float | int]:
    return [name, round(seconds, 1), round(prober.longest_held * 1000), round(prober.worst_wall * 1000)]


def idle(reader: Reader) -> list[str | float | int]:
    with reader.prober() as prober:
        time.sleep(IDLE_SECONDS)
    return row("nothing to do", prober, IDLE_SECONDS)


def feed(reader: Reader, shape: str, document: bytes) -> list[str | float | int]:
    url = reader.publish(f"{shape.replace(' ', '-')}.xml", document)
    started = time.monotonic()
    with reader.prober() as prober:
        reader.subscribe(url)
    return row(f"feed, 15 MB: {shape}", prober, time.monotonic() - started)


def article(reader: Reader, shape: str, text: str) -> list[str | float | int]:
    url = reader.publish(f"article-{shape.replace(' ', '-')}.xml", feed_of_articles({shape: text}))
    [entry_id] = reader.entries_of(reader.subscribe(url))
    started = time.monotonic()
    with reader.prober() as prober:
        for _ in range(3):
            reader.read(entry_id)
    return row(f"article, 1 MB: {shape}", prober, (time.monotonic() - started) / 3)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, reading(Path(folder)) as reader:
        rows = [idle(reader)]
        rows += [feed(reader, shape, document) for shape, document in hostile_feeds().items()]
        rows += [article(reader, shape, text) for shape, text in hostile_articles().items()]
    report_table(
        Table(
            "The longest wait for a response while one process collects and serves",
            ["what is parsed", "seconds", "loop blocked, ms", "waited, ms"],
            rows,
            about="A feed is subscribed to; an article is shown three times.",
        )
    )


if __name__ == "__main__":
    main()
