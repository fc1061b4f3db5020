"""Benchmarks the throughput and fairness of the outbound client against a bare loop of the same HTTP library.

    python bench/outbound.py            # both measurements, about half a minute

1. 1,000 small feeds of one allowed loopback host, in three sizes: the client with all its checks against bare
   aiohttp, alternately.
2. 200 paced hosts, one dead and one slow: how late requests to the others are, compared with the same without those
   two.
"""

import argparse
import asyncio
import gzip
import multiprocessing
import random
import socket
import statistics
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from datetime import timedelta
from multiprocessing.connection import Connection

import aiohttp
import uvloop
from report import Cell, Table, report_table

from feedmill.coordination.memory import MemoryHostSlots
from feedmill.model.fetch_outcome import Response
from feedmill.outbound.address_policy import AddressPolicy, AddressVerdict
from feedmill.outbound.client import Client
from feedmill.outbound.fetch_limits import FetchLimits
from feedmill.outbound.host_pacing import Pacer

AT_ONCE = 20
ITEM = "<item><guid>{0}</guid><title>Item {0}</title><description><![CDATA[<p>{1}</p>]]></description></item>"


def make_feed(entries: int, words: int = 80) -> bytes:
    chance = random.Random(1)
    texts = [" ".join(f"{chance.getrandbits(24):x}" for _ in range(words)) for _ in range(entries)]
    items = "".join(ITEM.format(number, text) for number, text in enumerate(texts))
    return f"<rss version='2.0'><channel>{items}</channel></rss>".encode()


FEEDS = {entries: make_feed(entries) for entries in (3, 15, 30)}
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/rss+xml\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n"
PACKED = {entries: gzip.compress(feed) for entries, feed in FEEDS.items()}
ANSWERS = {b"%d" % entries: HEAD % len(packed) + packed for entries, packed in PACKED.items()}
SLOW_HOST, DEAD_HOST = "127.0.1.1", "127.0.1.2"
GAP = timedelta(seconds=1)
ROUNDS_PER_HOST = 3

Fetch = Callable[[str], Awaitable[bool]]


class Server(asyncio.Protocol):
    """Serves /{entries}/{number}.xml, a feed of that many entries; the slow host waits three seconds first."""

    arrivals: dict[str, list[float]]

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self.transport = transport
        self.host: str = transport.get_extra_info("sockname")[0]

    def data_received(self, data: bytes) -> None:
        self.arrivals.setdefault(self.host, []).append(time.monotonic())
        answer = ANSWERS[data.split(b"/", 2)[1]]
        if self.host == SLOW_HOST:
            asyncio.get_running_loop().call_later(3, self.transport.write, answer)
        else:
            self.transport.write(answer)


def serve(control: Connection) -> None:
    async def run() -> None:
        Server.arrivals = {}
        loop = asyncio.get_running_loop()
        server = await loop.create_server(Server, "0.0.0.0", 0, backlog=2000)
        control.send(server.sockets[0].getsockname()[1])
        while await loop.run_in_executor(None, control.recv):
            control.send(Server.arrivals)
            Server.arrivals = {}

    uvloop.run(run())


class LoopbackIsPublic(AddressPolicy):
    """Treats loopback as the public Internet, so that it is paced."""

    def verdict(self, address: str, port: int) -> AddressVerdict:
        return "public" if address.startswith("127.0.1.") else super().verdict(address, port)


async def timed(fetch: Fetch, urls: list[str]) -> float:
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(url: str) -> bool:
        async with slots:
            return await fetch(url)

    started = time.perf_counter()
    assert all(await asyncio.gather(*map(one, urls)))
    return time.perf_counter() - started


async def throughput(port: int, entries: int, feeds: int, rounds: int) -> list[Cell]:
    """The rate of the client and of a bare loop; the ratio is the median of alternating rounds."""
    urls = [f"http://127.0.0.1:{port}/{entries}/{number}.xml" for number in range(feeds)]
    feed = FEEDS[entries]
    policy = AddressPolicy(["127.0.0.0/8"])
    client = Client(Pacer(MemoryHostSlots()), policy, "bench", at_once=AT_ONCE)
    async with aiohttp.ClientSession() as session, client:

        async def bare(url: str) -> bool:
            async with session.get(url) as response:
                return await response.read() == feed

        async def careful(url: str) -> bool:
            outcome = await client.get(url)
            return isinstance(outcome, Response) and outcome.body == feed

        await timed(bare, urls[:100])
        await timed(careful, urls[:100])
        pairs = [(await timed(bare, urls), await timed(careful, urls)) for _ in range(rounds)]
    bare_time, careful_time = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(before / after for before, after in pairs)
    size = f"{entries} entries, {len(feed) / 1000:.1f} kB"
    return [size, feeds / bare_time, feeds / careful_time, ratio]


def dead_host(stack: ExitStack) -> int:
    """The port of a listener whose queue is full and that never accepts: one more connection attempt hangs."""
    listener = stack.enter_context(socket.socket())
    listener.bind((DEAD_HOST, 0))
    listener.listen(0)
    port: int = listener.getsockname()[1]
    for _ in range(4):
        filler = stack.enter_context(socket.socket())
        filler.setblocking(False)
        filler.connect_ex((DEAD_HOST, port))
    return port


async def lateness(urls: list[str], control: Connection) -> list[float]:
    """How late the requests to ordinary hosts were, compared with the earliest time that the gap allows."""
    limits = FetchLimits(connect=timedelta(seconds=2), read=timedelta(seconds=5), total=timedelta(seconds=5))
    pacer = Pacer(MemoryHostSlots(), GAP)
    async with Client(pacer, LoopbackIsPublic(), "bench", limits, AT_ONCE) as client:
        started = time.monotonic()
        await asyncio.gather(*map(client.get, urls))
    control.send(True)
    arrivals: dict[str, list[float]] = control.recv()
    return [
        at - started - place * GAP.total_seconds()
        for host, times in arrivals.items()
        if host not in (SLOW_HOST, DEAD_HOST)
        for place, at in enumerate(sorted(times))
    ]


async def fairness(port: int, control: Connection, hosts: int) -> list[list[Cell]]:
    """The lateness of the ordinary hosts without and with a dead and a slow one among them."""
    control.send(True)
    control.recv()
    places = range(ROUNDS_PER_HOST)
    ordinary = [f"http://127.0.1.{host}:{port}/3/{place}.xml" for place in places for host in range(3, hosts + 1)]
    with ExitStack() as stack:
        dead = [f"http://{DEAD_HOST}:{dead_host(stack)}/3/{place}.xml" for place in places]
        slow = [f"http://{SLOW_HOST}:{port}/3/{place}.xml" for place in places]
        return [
            summary("all well", await lateness(ordinary, control)),
            summary("one dead, one slow", await lateness(dead + slow + ordinary, control)),
        ]


def summary(name: str, late: list[float]) -> list[Cell]:
    ordered = sorted(late)
    half, most = (ordered[int(len(ordered) * share)] * 1000 for share in (0.5, 0.99))
    return [name, len(late), half, most, ordered[-1] * 1000]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--feeds", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--hosts", type=int, default=200)
    options = parser.parse_args()
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    port = ours.recv()
    rates = [uvloop.run(throughput(port, entries, options.feeds, options.rounds)) for entries in FEEDS]
    report_table(
        Table(
            f"{options.feeds} gzipped feeds, {AT_ONCE} at once",
            ["feed", "bare aiohttp, feeds/s", "Feedmill, feeds/s", "ratio"],
            rates,
            f"Our client, with its address checks, limits and turns, compared with a bare loop; medians of "
            f"{options.rounds} alternating rounds. Goal: a ratio of at least 0.60.",
        )
    )
    report_table(
        Table(
            f"{options.hosts} hosts, each asked {ROUNDS_PER_HOST} times",
            ["", "requests", "late by, median ms", "p99 ms", "at most ms"],
            uvloop.run(fairness(port, ours, options.hosts)),
            "How late a request starts, compared with the earliest time that the host gap allows.",
        )
    )
    server.terminate()


if __name__ == "__main__":
    main()
