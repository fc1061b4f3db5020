"""The Python client against a real server."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import uvicorn

from feedmill.client import ApiError, Feedmill, ServerUnreachable
from feedmill.client import feedmill as client_module
from feedmill.model.pool import PoolRule
from feedmill.model.user import SCOPES
from tests.flows.refresh_environment import answer, item
from tests.pools.pool_rows import add_pool
from tests.scripted_web import Web
from tests.serve.rest.site import Site, running_site
from tests.services.server import free_port

ENTRIES = [item(f"entry {number}") for number in range(3)]


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with Web() as web, running_site(tmp_path, web) as site:
        yield site


@pytest.fixture
async def alice(site: Site) -> AsyncIterator[Feedmill]:
    await site.person("alice", is_admin=True, scopes=SCOPES)
    async with listening(site) as url, Feedmill(url, "fm_alice") as feedmill:
        yield feedmill


@asynccontextmanager
async def listening(site: Site) -> AsyncIterator[str]:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        server = uvicorn.Server(uvicorn.Config(site.asgi, log_config=None, lifespan="off"))
        serving = asyncio.create_task(server.serve(sockets=[taken]))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"
        server.should_exit = True
        await serving


async def test_subscribe_read_mark_and_leave(site: Site, alice: Feedmill) -> None:
    url = site.web.serve("/feed", answer(*ENTRIES))

    added = await alice.subscribe(url, title="Mine", folder="Tech/Python")
    unread = [entry async for entry in alice.entries()]
    await alice.mark([unread[0].id], read=True, starred=True)

    assert (added.status, added.feed.title, added.feed.unread_count) == ("ready", "Mine", 3)
    assert {folder.name for folder in await alice.folders()} == {"Tech", "Python"}
    assert len([entry async for entry in alice.entries()]) == 2
    assert [entry.id async for entry in alice.entries("starred")] == [unread[0].id]
    assert unread[0].title in (await alice.entry(unread[0].id)).title

    assert [fetch.outcome for fetch in await alice.fetches(added.feed.id)] == ["updated"]

    await alice.unsubscribe(added.feed.id)
    assert await alice.feeds() == []


async def test_a_page_ends_where_the_next_begins(site: Site, alice: Feedmill) -> None:
    await alice.subscribe(site.web.serve("/feed", answer(*(item(f"entry {number}") for number in range(450)))))

    read = [entry.id async for entry in alice.entries("all")]

    assert len(read) == len(set(read)) == 450


async def test_a_copy_of_entries_follows_the_server(site: Site, alice: Feedmill) -> None:
    await alice.subscribe(site.web.serve("/old", answer(*ENTRIES)))
    ids, since = await alice.entry_ids()
    texts = await alice.entry_texts([*ids, 999])

    added = await alice.subscribe(site.web.serve("/new", answer(*(item(f"new {number}") for number in range(250)))))
    page = await alice.entries_since(since)
    rest = await alice.entries_since(page.since)
    await alice.mark(ids[:1], read=True)
    await alice.mark_all_read(feed_id=added.feed.id)
    changes = await alice.changes_since(rest.since)

    assert [text.id for text in texts] == ids
    assert (len(page.items), page.more, len(rest.items), rest.more) == (200, True, 50, False)
    assert [(item.id, item.unread) for item in changes.items] == [(ids[0], False)]
    assert (changes.unread_changed, changes.gone, changes.more) == (True, [], False)
    assert (await alice.entry_ids())[0] == ids[1:]


async def test_marking_all_read_is_taken_back(site: Site, alice: Feedmill) -> None:
    await alice.subscribe(site.web.serve("/feed", answer(*ENTRIES)))

    swept = await alice.mark_all_read(everything=True)
    assert [entry async for entry in alice.entries()] == []
    await alice.undo(swept.undo)

    assert swept.marked == len([entry async for entry in alice.entries()]) == 3


async def test_what_a_search_finds(site: Site, alice: Feedmill) -> None:
    await alice.subscribe(site.web.serve("/feed", answer(item("about herons"), item("关于苍鹭"))))

    assert [entry.title async for entry in alice.search("heron*")] == ["about herons"]
    assert [entry.title async for entry in alice.search("苍鹭")] == ["关于苍鹭"]


async def test_a_refresh_of_all_is_watched_to_its_end(site: Site, alice: Feedmill) -> None:
    for number in range(3):
        await alice.subscribe(site.web.serve(f"/{number}", answer(item(f"entry {number}"))))

    started = await alice.refresh_all()
    ended = [feed async for feed in alice.watch(started.job_id)]

    assert len(ended) == 3
    assert (await alice.job(started.job_id)).status == "done"


async def test_an_import_and_an_export_are_the_same_feeds(site: Site, alice: Feedmill) -> None:
    urls = [site.web.serve(f"/{number}", answer(item(f"entry {number}"))) for number in range(2)]
    outlines = "".join(f'<outline type="rss" text="t" xmlUrl="{url}"/>' for url in urls)

    job_id = await alice.import_opml(f"<opml version='2.0'><body>{outlines}</body></opml>".encode())
    assert job_id is not None
    ended = [feed async for feed in alice.watch(job_id)]

    exported = await alice.export_opml()
    assert [feed.new for feed in ended] == [1, 1]
    assert all(url.encode() in exported for url in urls)


async def test_an_empty_pool_is_no_error_and_a_missing_one_is(alice: Feedmill) -> None:
    with pytest.raises(ApiError) as told:
        await alice.pools.pop("nowhere")

    assert (told.value.status, told.value.code) == (404, "unknown_group")


async def test_an_admin_says_who_may_take_from_a_pool(site: Site, alice: Feedmill) -> None:
    await site.person("bob", scopes=("pools",))
    await add_pool(site.app.db, ["one"], name="other")

    await alice.pools.grant("other", "bob")
    granted = [grant.user for grant in await alice.pools.grants("other")]
    async with listening(site) as url, Feedmill(url, "fm_bob") as bob:
        taken = [item.text for item in await bob.pools.pop("other")]
        await alice.pools.revoke("other", "bob")
        with pytest.raises(ApiError) as refused:
            await bob.pools.pop("other")

    assert (granted, taken) == (["bob"], ["one"])
    assert (refused.value.status, await alice.pools.grants("other")) == (404, [])


async def test_texts_are_put_into_a_pool_in_requests_that_the_server_takes(
    site: Site, alice: Feedmill, monkeypatch: pytest.MonkeyPatch
) -> None:
    await site.app.pools.create("mine", PoolRule(no_entries=True))
    monkeypatch.setattr(client_module, "TEXTS_AT_ONCE", 2)

    first = await alice.pools.add("mine", "titles", ["one", {"id": 2, "text": "two"}, "three"])
    again = await alice.pools.add("mine", "titles", ["one", {"id": "2", "text": "changed"}, "four"], batch_id=7)

    assert ((first.added, first.known), (again.added, again.known)) == ((3, 0), (1, 2))
    assert [item.text for item in await alice.pools.pop("mine", n=9)] == ["one", "two", "three", "four"]


async def test_an_admin_says_who_may_fill_a_pool(site: Site, alice: Feedmill) -> None:
    await site.person("bob", scopes=("fill",))
    await site.app.pools.create("mine", PoolRule(no_entries=True))

    await alice.pools.grant("mine", "bob", "fill")
    granted = [(grant.user, grant.right) for grant in await alice.pools.grants("mine")]
    async with listening(site) as url, Feedmill(url, "fm_bob") as bob:
        added = await bob.pools.add("mine", "contents", ["<p>one</p>"])
        await alice.pools.revoke("mine", "bob", "fill")
        with pytest.raises(ApiError) as refused:
            await bob.pools.add("mine", "contents", ["<p>two</p>"])

    assert (granted, added.added, refused.value.status) == ([("bob", "fill")], 1, 404)


async def test_a_problem_says_what_is_wrong(site: Site, alice: Feedmill) -> None:
    url = site.web.serve("/feed", answer(*ENTRIES))
    added = await alice.subscribe(url)

    with pytest.raises(ApiError, match="already") as told:
        await alice.subscribe(url)

    assert told.value.code == "already_subscribed"
    assert told.value.more["subscription_id"] == added.feed.id


async def test_an_invalid_key_is_reported(site: Site) -> None:
    async with listening(site) as url, Feedmill(url, "fm_wrong") as stranger:
        with pytest.raises(ApiError) as told:
            await stranger.me()

    assert (told.value.status, told.value.code) == (401, "not_signed_in")


async def test_a_server_that_is_not_there_is_reported() -> None:
    async with Feedmill(f"http://127.0.0.1:{free_port()}", "fm_any") as nowhere:
        with pytest.raises(ServerUnreachable, match="does not answer"):
            await nowhere.me()
