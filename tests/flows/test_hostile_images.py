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
from tests.flows.archived_images import add_feed_with_images, archive, shown, stored, tasks
from tests.flows.conftest import PATIENT
from tests.flows.refresh_environment import RefreshEnvironment, answer, item
from tests.scripted_web import Answer, ClientConnection, ReceivedRequest
from tests.virtual_time import jump
from tests.waiting import LONGEST_WAIT

SMALL = replace(PATIENT, max_bytes=100_000)


async def endless(seen: ReceivedRequest, wire: ClientConnection) -> None:
    await wire.send(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n" + sample_images.PNG)
    while True:
        await wire.send(bytes(65536))


async def test_a_page_that_calls_itself_png_is_never_stored(env: RefreshEnvironment) -> None:
    env.web.serve("/a.png", Answer(sample_images.PAGE, headers={"Content-Type": "image/png"}))
    await add_feed_with_images(env, "/a.png")

    await archive(env)

    [task] = await tasks(env)
    assert (task["status"], task["last_error"]) == (
        "pending",
        message_to_stored(Message("not_an_image.web_page")),
    )
    assert await stored(env) == []


async def test_svg_is_refused_for_good_and_stays_where_it_was(env: RefreshEnvironment) -> None:
    env.web.serve("/a.svg", Answer(sample_images.SVG, headers={"Content-Type": "image/svg+xml"}))
    await add_feed_with_images(env, "/a.svg")

    await archive(env)

    assert [row["status"] for row in await tasks(env)] == ["failed"]
    assert await stored(env) == []
    assert f'src="{env.web.url("/a.svg")}"' in await shown(env)


async def test_an_endless_image_and_one_that_announces_a_gigabyte_are_cut_off(env: RefreshEnvironment) -> None:
    env.web.serve("/endless.png", endless)
    env.web.serve("/huge.png", Answer(sample_images.PNG, headers={"Content-Length": "1000000000"}))
    await add_feed_with_images(env, "/endless.png", "/huge.png")
    env.client._limits = SMALL
    tracemalloc.start()

    await archive(env)

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [row["status"] for row in await tasks(env)] == ["failed", "failed"]
    assert peak < 5_000_000
    assert await stored(env) == []


async def test_a_zip_bomb_of_an_image_is_cut_off(env: RefreshEnvironment) -> None:
    bomb = gzip.compress(bytes(50_000_000))
    env.web.serve("/a.png", Answer(bomb, headers={"Content-Encoding": "gzip"}))
    await add_feed_with_images(env, "/a.png")
    env.client._limits = SMALL

    await archive(env)

    assert [row["status"] for row in await tasks(env)] == ["failed"]


async def test_an_image_without_a_type_is_known_by_its_bytes(env: RefreshEnvironment) -> None:
    env.web.serve("/a", Answer(sample_images.WEBP))
    await add_feed_with_images(env, "/a")

    await archive(env)

    assert [row["content_type"] for row in await tasks(env)] == ["image/webp"]


async def test_no_guid_and_no_extension_leads_out_of_its_place(env: RefreshEnvironment) -> None:
    guids = ["../../../etc/passwd", "..\\..", "a/../../b", "%2e%2e%2f", "/", "\u202e", "x" * 500, ".", "..", "~root"]
    sources = ["/a.php", "/a.png/../../x.html", "/a.html%00.png", "/.htaccess", "/a.svg"]
    for path in ("/a.php", "/x.html", "/a.html%00.png", "/.htaccess", "/a.svg", "/a.png/../../x.html"):
        env.web.serve(path, Answer(sample_images.GIF))
    html = "".join(f'<img src="{source}">' for source in sources)
    link = env.web.url("/p")
    items = [item(f"t{n}", html, guid=guid, link=link) for n, guid in enumerate(guids)]
    feed = await env.add("/feed", answer(*items))
    await env.refresh(feed)

    while (await archive(env)).taken:
        pass

    keys = [parse_image_key(key) for key in await stored(env)]
    assert len(keys) >= len(guids) * 4
    assert all(key is not None and (key.feed_id, key.extension) == (feed.id, "gif") for key in keys)


async def test_of_fifty_thousand_images_in_one_entry_a_bounded_number_is_asked_for(
    env: RefreshEnvironment, size_share: float
) -> None:
    count = int(50_000 * size_share)
    html = "".join(f"<img src=/{n}>" for n in range(count))
    feed = await env.add("/feed", answer(item("a", html, link=env.web.url("/p"))))

    await env.refresh(feed)

    assert len(await tasks(env)) == 200
    [entry] = await env.rows(entries)
    assert entry["content_html"] == html
    assert (await shown(env)).count("<img") == count


async def test_a_redirect_to_a_private_address_is_refused(env: RefreshEnvironment) -> None:
    metadata = "http://169.254.169.254/latest/meta-data"
    env.web.serve("/a.png", Answer(status=302, headers={"Location": metadata}))
    env.web.serve("/b.png", Answer(status=302, headers={"Location": "http://10.0.0.1/b.png"}))
    await add_feed_with_images(env, "/a.png", "/b.png", "http://192.168.0.1/router.png", "file:///etc/passwd")

    await archive(env)

    assert [row["status"] for row in await tasks(env)] == ["failed"] * 3
    assert await stored(env) == []


async def test_a_slow_host_takes_its_chunk_no_longer_than_a_job_may_take(env: RefreshEnvironment) -> None:
    async def stall(seen: ReceivedRequest, wire: ClientConnection) -> None:
        await wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        # Three images take the client's patience and more, the fourth what the chunk has left.
        is_fourth = seen.path == "/3.png"
        jump(0.5 * LONGEST_WAIT if is_fourth else 2 * LONGEST_WAIT)
        await asyncio.Event().wait()

    sources = [f"/{n}.png" for n in range(20)]
    for source in sources:
        env.web.serve(source, stall)
    await add_feed_with_images(env, *sources)

    tally = await archive(env, soft_limit=timedelta(seconds=6.4 * LONGEST_WAIT))

    assert tally.taken == 20
    rows = await tasks(env)
    assert all(row["claim_token"] is None and row["status"] == "pending" for row in rows)
    assert sum(row["attempts"] for row in rows) == 3
