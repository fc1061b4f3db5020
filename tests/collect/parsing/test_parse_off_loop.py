"""Large documents are parsed like small ones, and never in the process of the event loop."""

import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from feedmill.collect.parsing.parse_feed import parse_feed
from feedmill.collect.parsing.parse_off_loop import (
    MAX_MEMORY,
    THREAD_ILL_FORMED,
    ParseJob,
    memory_limit,
    parse_in_process,
    parse_off_loop,
)
from feedmill.errors import NotAFeed

RSS = (
    b"<rss version='2.0'><channel><title>News</title><ttl>60</ttl><skipHours><hour>3</hour></skipHours><item>"
    b"<guid>1</guid><title>One & only</title><pubDate>Thu, 01 Jan 2026 08:00:00 GMT</pubDate>"
    b"<enclosure url='https://example.org/a.mp3' type='audio/mpeg' length='3'/><category>a</category>"
    b"<description>%b</description></item></channel></rss>"
)
URL = "https://example.org/feed"


def test_parsing_in_another_process_gives_the_same_feed() -> None:
    document = RSS % b"text"

    assert parse_in_process(ParseJob(document, "text/xml", URL)) == parse_feed(
        document, content_type="text/xml", url=URL
    )


async def test_a_large_ill_formed_feed_is_parsed_like_a_small_one() -> None:
    document = RSS % (b"a & b " * (THREAD_ILL_FORMED // 6))

    feed = await parse_off_loop(document, content_type="text/xml", url=URL)

    assert feed == parse_feed(document, content_type="text/xml", url=URL)


async def test_a_large_page_is_refused() -> None:
    with pytest.raises(NotAFeed, match="it is a web page"):
        await parse_off_loop(b"<html>" + b"<p>a" * THREAD_ILL_FORMED, url=URL)


def test_a_document_that_takes_too_long_is_refused() -> None:
    with pytest.raises(NotAFeed, match="takes too long to read"):
        parse_in_process(ParseJob(RSS % b"text", None, URL), timeout=timedelta(milliseconds=1))


@pytest.mark.parametrize(("physical", "limit"), [(512 * 2**20, 256 * 2**20), (64 * 2**30, MAX_MEMORY)])
def test_on_a_small_machine_a_document_gets_half_of_the_memory(physical: int, limit: int) -> None:
    assert memory_limit(physical) == limit


@pytest.mark.external
@pytest.mark.skipif(not Path("/proc/self/oom_score_adj").exists(), reason="only Linux has it")
def test_the_kernel_kills_the_process_of_a_document_before_the_server() -> None:
    script = (
        "from feedmill.collect.parsing.parse_off_loop import limit_this_process\n"
        "limit_this_process()\n"
        "print(open('/proc/self/oom_score_adj').read())"
    )

    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert int(printed.stdout) == 1000
