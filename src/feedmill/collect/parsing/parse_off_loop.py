"""Parses feeds of any size without blocking the event loop (docs/decisions/event-loop.md).

Small documents are parsed at once and medium ones in a thread. In a thread a single call into C code can still hold
the interpreter, and so can the collection of garbage after millions of elements. So what is large, or large and
ill-formed, is parsed in a process of its own, which has little memory and time and none of our secrets.
"""

import asyncio
import os
import resource
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import msgspec

from feedmill.collect.parsing.parse_feed import parse_feed, parse_well_formed_utf8
from feedmill.errors import NotAFeed
from feedmill.lazy_loggers import get_logger
from feedmill.model.parsed_feed import ParsedFeed
from feedmill.run_in_thread import INLINE_CHARACTERS

log = get_logger(__name__)

# In bytes. An ill-formed document takes many times as long as a well-formed one.
INLINE_WELL_FORMED = 100_000
THREAD_WELL_FORMED = 2_000_000
THREAD_ILL_FORMED = 250_000

CPU_TIME = timedelta(seconds=30)
# Longer than the CPU time, because on a busy machine the process gets only a part of it.
TIMEOUT = timedelta(seconds=120)
MAX_MEMORY = 2_000_000_000
NICENESS = 5
OOM_SCORE = Path("/proc/self/oom_score_adj")
INHERITED = ("PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "LANG", "LC_ALL")

TOO_COMPLEX = "too_complex"

# One thread, so one process at a time: many large feeds at once would fill the memory.
_large_documents = ThreadPoolExecutor(1, thread_name_prefix="large-document")


class ParseJob(msgspec.Struct, array_like=True):
    """The input of the process."""

    data: bytes
    content_type: str | None
    url: str | None


class ParseResult(msgspec.Struct, array_like=True):
    """The output of the process: a feed, or what the document looks like instead."""

    feed: ParsedFeed | None = None
    looks_like: str = ""


async def parse_off_loop(data: bytes, *, content_type: str | None = None, url: str | None = None) -> ParsedFeed:
    """Does what `parse_feed` does; a document that takes too long or too much memory is also `NotAFeed`."""
    if len(data) <= INLINE_CHARACTERS:
        return parse_feed(data, content_type=content_type, url=url)
    if len(data) <= THREAD_WELL_FORMED and (feed := await _parse_well_formed(data, url)):
        return feed
    if len(data) <= THREAD_ILL_FORMED:
        return await asyncio.to_thread(parse_feed, data, content_type=content_type, url=url)
    job = ParseJob(data, content_type, url)
    return await asyncio.get_running_loop().run_in_executor(_large_documents, parse_in_process, job)


async def _parse_well_formed(data: bytes, url: str | None) -> ParsedFeed | None:
    if len(data) <= INLINE_WELL_FORMED:
        return parse_well_formed_utf8(data, url)
    return await asyncio.to_thread(parse_well_formed_utf8, data, url)


def parse_in_process(job: ParseJob, timeout: timedelta = TIMEOUT) -> ParsedFeed:
    """Parses the document in a new process and waits for it."""
    command = [sys.executable, "-P", "-m", __name__]
    environment = {name: os.environ[name] for name in INHERITED if name in os.environ}
    try:
        done = subprocess.run(  # noqa: S603 (our own interpreter and module)
            command,
            input=msgspec.msgpack.encode(job),
            capture_output=True,
            env=environment,
            timeout=timeout.total_seconds(),
            check=True,
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
        log.warning("large_document_not_parsed", url=job.url, size=len(job.data), reason=str(error))
        raise NotAFeed(TOO_COMPLEX) from error
    result = msgspec.msgpack.decode(done.stdout, type=ParseResult)
    if result.feed is None:
        raise NotAFeed(result.looks_like)
    return result.feed


def _parse_job(job: ParseJob) -> ParseResult:
    try:
        return ParseResult(parse_feed(job.data, content_type=job.content_type, url=job.url))
    except NotAFeed as error:
        return ParseResult(None, error.looks_like)


def limit_this_process() -> None:
    """Limits time and memory. If the machine runs out of memory, the kernel kills this process and not the server."""
    seconds = int(CPU_TIME.total_seconds())
    memory = memory_limit(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # A sandbox may refuse it, as that of our systemd units does.
    with suppress(OSError):
        os.nice(NICENESS)
    # Linux alone has it.
    with suppress(OSError):
        OOM_SCORE.write_text("1000")


def memory_limit(physical_memory: int) -> int:
    """At most half of the machine's memory: a small one needs the rest for the server."""
    return min(MAX_MEMORY, physical_memory // 2)


def main() -> None:
    """Reads a job from standard input and writes the result to standard output."""
    limit_this_process()
    job = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=ParseJob)
    sys.stdout.buffer.write(msgspec.msgpack.encode(_parse_job(job)))


if __name__ == "__main__":
    main()
