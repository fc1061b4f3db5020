"""A web of feeds on loopback for `bench/small_machine.py`, in a process of its own: `python bench/feed_web.py PORT`.

Feed `n` is at `http://127.0.1.H:PORT/feeds/n`, ten feeds on each host. At first every feed has 20 entries. Each
`POST /next-round` changes some of them; what a feed answers then is decided by its number:

    65 %  304
    20 %  two new entries, each with a picture
     5 %  the same after a wait of some seconds
     5 %  always all bytes, never 304
     5 %  an error: 500, 404, or a page in place of the feed

Two feeds are large: number 13 has 12 MB, number 33 has 3 MB.
"""

import asyncio
import random
import struct
import sys
import zlib
from datetime import UTC, datetime, timedelta

from aiohttp import web
from library_load import HAN, WORDS

HOSTS, PER_FEED, NEW = 100, 20, 2
KINDS = 20
CHANGED, SLOW, WITHOUT_VALIDATORS, FAILING = range(13, 17), 17, 18, 19
LARGE = {13: 12_000_000, 33: 3_000_000}
WAITS = (2.0, 4.0, 6.0)
# In pixels, which are bytes.
PICTURE_WIDTH, PICTURE_HEIGHT = 200, (50, 400)
STARTED = datetime.now(UTC)


def feed_url(number: int, port: int) -> str:
    return f"http://127.0.1.{number % HOSTS + 1}:{port}/feeds/{number}"


class FeedWeb:
    def __init__(self) -> None:
        self.round = 0

    async def next_round(self, request: web.Request) -> web.Response:
        self.round += 1
        return web.Response(text=str(self.round))

    async def feed(self, request: web.Request) -> web.Response:
        number = int(request.match_info["number"])
        kind = number % KINDS
        if self.round and kind == FAILING:
            return _failure(number)
        if self.round and kind == SLOW:
            await asyncio.sleep(WAITS[number % len(WAITS)])
        changes = self.round if kind in CHANGED or kind == SLOW else 0
        etag = f'"{number}-{changes}"'
        if kind == WITHOUT_VALIDATORS:
            return web.Response(body=_document(number, changes, request.host), content_type="application/rss+xml")
        if request.headers.get("If-None-Match") == etag:
            return web.Response(status=304, headers={"ETag": etag})
        body = await asyncio.to_thread(_document, number, changes, request.host)
        return web.Response(body=body, content_type="application/rss+xml", headers={"ETag": etag})

    async def picture(self, request: web.Request) -> web.Response:
        return web.Response(body=_png(random.Random(request.match_info["name"])), content_type="image/png")


def _png(chance: random.Random) -> bytes:
    """A grey picture of noise, which does not get smaller by compression."""
    height = chance.randint(*PICTURE_HEIGHT)
    lines = b"".join(b"\0" + chance.randbytes(PICTURE_WIDTH) for _ in range(height))
    header = struct.pack(">IIBBBBB", PICTURE_WIDTH, height, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines, 0)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_png_chunk(*chunk) for chunk in chunks)


def _png_chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _failure(number: int) -> web.Response:
    match number // KINDS % 3:
        case 0:
            return web.Response(status=500)
        case 1:
            return web.Response(status=404)
        case _:
            return web.Response(text="<html><p>Down for maintenance", content_type="text/html")


def _document(number: int, changes: int, host: str) -> bytes:
    first = changes * NEW
    size = LARGE.get(number, 0) // PER_FEED if changes else 0
    items = "".join(_item(number, place, host, size) for place in range(first, first + PER_FEED))
    head = f"<title>Feed {number}</title><link>http://{host}/</link><description>Of day to day</description>"
    return f'<?xml version="1.0"?><rss version="2.0"><channel>{head}{items}</channel></rss>'.encode()


def _item(number: int, place: int, host: str, size: int) -> str:
    word, han = WORDS[(number + place) % len(WORDS)], HAN[(number + place) % len(HAN)]
    at = STARTED + timedelta(minutes=place - PER_FEED)
    picture = f'<img src="http://{host}/pictures/{number}-{place}.png">' if place >= PER_FEED - 1 else ""
    text = f"<p>The {word} was seen near number {place}, and what it means for the {han} of the town is told here.</p>"
    text = text * 2 + f"<p>今天{han}的消息,编号 {number}。</p>"
    text *= max(size // len(text.encode()), 3)
    return (
        f"<item><title>The {word} of feed {number}, part {place}</title><guid>web-{number}-{place}</guid>"
        f"<link>http://{host}/articles/{number}/{place}</link><pubDate>{at:%a, %d %b %Y %H:%M:%S GMT}</pubDate>"
        f"<description><![CDATA[{picture}{text}]]></description></item>"
    )


async def serve(port: int) -> None:
    feed_web = FeedWeb()
    app = web.Application()
    app.add_routes(
        [
            web.get("/feeds/{number:[0-9]+}", feed_web.feed),
            web.get("/pictures/{name}", feed_web.picture),
            web.post("/next-round", feed_web.next_round),
        ]
    )
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    for host in range(HOSTS):
        await web.TCPSite(runner, f"127.0.1.{host + 1}", port).start()
    # A started program knows by this line that all hosts respond.
    print("ready", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
