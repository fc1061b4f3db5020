"""Images that mean harm: bounded, and harmless."""

import asyncio
import gzip
import tracemalloc
from dataclasses import replace
from datetime import timedelta

from feedmill.archive.object_keys import parse_image_key
from feedmill.i18n.messages import Message, message_to_stored
from feedmill.store.schema import entries
from tests.archive.images import sample_images
from tests.flows.conftest import PATIENT
from tests.flows.pictures import archive, showing, shown, stored, tasks
from tests.flows.world import World, answer, item
from tests.virtual_time import jump
from tests.waiting import LONGEST_WAIT
from tests.www import Answer, Seen, Wire

SMALL = replace(PATIENT, max_bytes=100_000)


async def endless(seen: Seen, wire: Wire) -> None:
    await wire.send(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n" + sample_images.PNG)
    while True:
        await wire.send(bytes(65536))


async def test_a_page_that_calls_itself_png_is_never_stored(world: World) -> None:
    world.web.serve("/a.png", Answer(sample_images.PAGE, headers={"Content-Type": "image/png"}))
    await showing(world, "/a.png")

    await archive(world)

    [task] = await tasks(world)
    assert (task["status"], task["last_error"]) == (
        "pending",
        message_to_stored(Message("not_an_image.web_page")),
    )
    assert await stored(world) == []


async def test_svg_is_refused_for_good_and_stays_where_it_was(world: World) -> None:
    world.web.serve("/a.svg", Answer(sample_images.SVG, headers={"Content-Type": "image/svg+xml"}))
    await showing(world, "/a.svg")

    await archive(world)

    assert [row["status"] for row in await tasks(world)] == ["failed"]
    assert await stored(world) == []
    assert f'src="{world.web.url("/a.svg")}"' in await shown(world)


async def test_an_endless_image_and_one_that_announces_a_gigabyte_are_cut_off(world: World) -> None:
    world.web.serve("/endless.png", endless)
    world.web.serve("/huge.png", Answer(sample_images.PNG, headers={"Content-Length": "1000000000"}))
    await showing(world, "/endless.png", "/huge.png")
    world.client._limits = SMALL
    tracemalloc.start()

    await archive(world)

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [row["status"] for row in await tasks(world)] == ["failed", "failed"]
    assert peak < 5_000_000
    assert await stored(world) == []


async def test_a_zip_bomb_of_an_image_is_cut_off(world: World) -> None:
    bomb = gzip.compress(bytes(50_000_000))
    world.web.serve("/a.png", Answer(bomb, headers={"Content-Encoding": "gzip"}))
    await showing(world, "/a.png")
    world.client._limits = SMALL

    await archive(world)

    assert [row["status"] for row in await tasks(world)] == ["failed"]


async def test_an_image_without_a_type_is_known_by_its_bytes(world: World) -> None:
    world.web.serve("/a", Answer(sample_images.WEBP))
    await showing(world, "/a")

    await archive(world)

    assert [row["content_type"] for row in await tasks(world)] == ["image/webp"]


async def test_no_guid_and_no_extension_leads_out_of_its_place(world: World) -> None:
    guids = ["../../../etc/passwd", "..\\..", "a/../../b", "%2e%2e%2f", "/", "\u202e", "x" * 500, ".", "..", "~root"]
    sources = ["/a.php", "/a.png/../../x.html", "/a.html%00.png", "/.htaccess", "/a.svg"]
    for path in ("/a.php", "/x.html", "/a.html%00.png", "/.htaccess", "/a.svg", "/a.png/../../x.html"):
        world.web.serve(path, Answer(sample_images.GIF))
    html = "".join(f'<img src="{source}">' for source in sources)
    link = world.web.url("/p")
    items = [item(f"t{n}", html, guid=guid, link=link) for n, guid in enumerate(guids)]
    feed = await world.add("/feed", answer(*items))
    await world.refresh(feed)

    while (await archive(world)).taken:
        pass

    keys = [parse_image_key(key) for key in await stored(world)]
    assert len(keys) >= len(guids) * 4
    assert all(key is not None and (key.feed_id, key.extension) == (feed.id, "gif") for key in keys)


async def test_of_fifty_thousand_images_in_one_entry_a_bounded_number_is_asked_for(world: World) -> None:
    html = "".join(f"<img src=/{n}>" for n in range(50_000))
    feed = await world.add("/feed", answer(item("a", html, link=world.web.url("/p"))))

    await world.refresh(feed)

    assert len(await tasks(world)) == 200
    [entry] = await world.rows(entries)
    assert entry["content_html"] == html
    assert (await shown(world)).count("<img") == 50_000


async def test_a_redirect_to_a_private_address_is_refused(world: World) -> None:
    metadata = "http://169.254.169.254/latest/meta-data"
    world.web.serve("/a.png", Answer(status=302, headers={"Location": metadata}))
    world.web.serve("/b.png", Answer(status=302, headers={"Location": "http://10.0.0.1/b.png"}))
    await showing(world, "/a.png", "/b.png", "http://192.168.0.1/router.png", "file:///etc/passwd")

    await archive(world)

    assert [row["status"] for row in await tasks(world)] == ["failed"] * 3
    assert await stored(world) == []


async def test_a_slow_host_takes_its_lot_no_longer_than_a_job_may_take(world: World) -> None:
    async def stall(seen: Seen, wire: Wire) -> None:
        await wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        # Three images take the client's patience and more, the fourth what the lot has left.
        is_fourth = seen.path == "/3.png"
        jump(0.5 * LONGEST_WAIT if is_fourth else 2 * LONGEST_WAIT)
        await asyncio.Event().wait()

    sources = [f"/{n}.png" for n in range(20)]
    for source in sources:
        world.web.serve(source, stall)
    await showing(world, *sources)

    tally = await archive(world, soft_limit=timedelta(seconds=6.4 * LONGEST_WAIT))

    assert tally.taken == 20
    rows = await tasks(world)
    assert all(row["claim_token"] is None and row["status"] == "pending" for row in rows)
    assert sum(row["attempts"] for row in rows) == 3
