"""The requests of well-known apps in their order, with the checks that their typed readers make.

They are as the apps send them: raw bodies, their own forms of ids, their own parameters.
"""

import json
from typing import Any
from urllib.parse import quote

import pytest

from tests.library.small_library import SmallLibrary
from tests.serve.app_client import API, AppUser, GreaderApp, sign_in

READ, STARRED = "user/-/state/com.google/read", "user/-/state/com.google/starred"
READING_LIST = "user/-/state/com.google/reading-list"


@pytest.fixture
async def ids(library: SmallLibrary, alice: AppUser) -> list[int]:
    """Two feeds, one of them in a folder; three entries, of which the first is read and starred."""
    mills, tides = await library.feed("mills"), await library.feed("tides")
    first = await library.subscribe(alice.user, mills, "Mills")
    await library.subscribe(alice.user, tides, "Tides")
    await library.folder(alice.user, "News", first)
    found = [*await library.arrive(mills, "a", "b", content_html="<p>t</p>"), *await library.arrive(tides, "c")]
    app = await sign_in(alice)
    await app.post("/edit-tag", f"i={10**15 + found[0]}&a={READ}&a={STARRED}")
    return found


def long(entry_id: int) -> str:
    return f"tag:google.com,2005:reader/item/{10**15 + entry_id:016x}"


def bare(entry_id: int) -> str:
    return f"{10**15 + entry_id:016x}"


def refs(page: Any) -> list[int]:
    """What a typed reader takes: objects with one member, a string."""
    assert isinstance(page.get("continuation", ""), str)
    assert all(list(each) == ["id"] and isinstance(each["id"], str) for each in page["itemRefs"])
    return sorted(int(each["id"]) - 10**15 for each in page["itemRefs"])


def check_items(page: Any) -> list[str]:
    for item in page["items"]:
        assert item["title"]
        assert isinstance(item["published"], int)
        assert item["published"] < 2**31
        assert isinstance(item["crawlTimeMsec"], str)
        assert isinstance(item["summary"]["content"], str)
        assert [each["href"] for each in item["canonical"]] == [each["href"] for each in item["alternate"]]
        assert isinstance(item["origin"]["htmlUrl"], str)
    return [item["title"] for item in page["items"]]


async def test_netnewswire_syncs(alice: AppUser, ids: list[int]) -> None:
    app = await sign_in(alice, "/api/greader.php")
    assert [tag["id"] for tag in (await app.get("/tag/list?output=json")).json()["tags"]][1:] == ["user/-/label/News"]
    subscriptions = await app.get("/subscription/list?output=json")
    assert [each["title"] for each in subscriptions.json()["subscriptions"]] == ["Mills", "Tides"]
    token = (await app.get("/token")).text
    for change in (f"r={READ}", f"a={READ}", f"a={STARRED}", f"r={STARRED}"):
        assert (await app.post("/edit-tag", f"T={token}&i={long(ids[2])}&{change}")).text == "OK"

    every = (await app.get(f"/stream/items/ids?s={READING_LIST}&n=1000&ot=1&output=json")).json()
    unread = (await app.get(f"/stream/items/ids?s={READING_LIST}&n=1000&xt={READ}&output=json")).json()
    starred = (await app.get(f"/stream/items/ids?s={STARRED}&n=1000&output=json")).json()
    body = "&".join([f"T={token}", "output=json", *(f"i={long(id)}" for id in refs(every))])
    texts = (await app.post("/stream/items/contents", body)).json()

    assert (refs(every), refs(unread), refs(starred)) == (sorted(ids), [ids[1]], [ids[0]])
    assert sorted(check_items(texts)) == ["a", "b", "c"]


async def test_reeder_syncs_with_bare_hexadecimal_ids(app: GreaderApp, ids: list[int]) -> None:
    await app.get("/token")
    page = (await app.get(f"/stream/items/ids?s={READING_LIST}&xt={READ}&n=10000&client=Reeder")).json()
    texts = (await app.post("/stream/items/contents", "&".join(f"i={bare(id)}" for id in refs(page)))).json()
    marked = await app.post("/edit-tag", f"T=x&i={bare(ids[1])}&a={READ}&async=true")

    assert (sorted(check_items(texts)), marked.text) == (["b", "c"], "OK")
    assert refs((await app.get(f"/stream/items/ids?s={READING_LIST}&xt={READ}&n=10000")).json()) == [ids[2]]


async def test_read_you_syncs_with_decimal_ids(alice: AppUser, ids: list[int]) -> None:
    login = await alice.client.post(
        "/api/greader.php/accounts/ClientLogin?output=json",
        data={"Email": "alice", "Passwd": alice.password, "client": "ReadYou", "accountType": "HOSTED_OR_GOOGLE"},
    )
    app = GreaderApp(alice.client, login.json()["Auth"], "/api/greader.php")
    token = (await app.get("/token")).text
    read = (await app.get(f"/stream/items/ids?output=json&s={READING_LIST}&it={READ}&n=1000")).json()
    unread = (await app.get(f"/stream/items/ids?output=json&s={READING_LIST}&xt={READ}&n=1000")).json()
    body = "&".join([*(f"i={10**15 + id}" for id in refs(unread)), f"T={quote(token)}%0A"])
    texts = (await app.post("/stream/items/contents?output=json", body)).json()
    added = await app.post(
        "/subscription/quickadd?quickadd=http://nothing.invalid/", "quickadd=http://nothing.invalid/"
    )

    assert (refs(read), refs(unread), sorted(check_items(texts))) == ([ids[0]], sorted(ids[1:]), ["b", "c"])
    assert added.json()["numResults"] == 0


async def test_feedme_syncs_without_a_token(app: GreaderApp, ids: list[int]) -> None:
    for path in ("/tag/list", "/subscription/list", "/unread-count"):
        assert (await app.get(f"{path}?output=json&ck=1&client=FeedMe")).status_code == 200
    page = (await app.get(f"/stream/items/ids?output=json&s={READING_LIST}&n=500&ot=0&xt={READ}")).json()
    texts = (
        await app.post("/stream/items/contents?output=json", "&".join(f"i={10**15 + id}" for id in refs(page)))
    ).json()

    assert sorted(check_items(texts)) == ["b", "c"]


async def test_capy_reader_pages_through_typed_objects(app: GreaderApp, ids: list[int]) -> None:
    kinds = {tag.get("type") for tag in (await app.get("/tag/list?output=json")).json()["tags"]}
    page = (await app.get(f"/stream/items/ids?s={READING_LIST}&n=10000&output=json")).json()
    texts = (await app.post("/stream/items/contents", "&".join(f"i={long(id)}" for id in refs(page)))).json()

    assert kinds <= {None, "folder", "tag"}
    assert sorted(check_items(texts)) == ["a", "b", "c"]


async def test_fluent_reader_reads_the_stream_without_a_name(alice: AppUser, app: GreaderApp, ids: list[int]) -> None:
    assert isinstance((await app.get("/user-info")).json()["userId"], str)
    page = (await app.get("/stream/contents?output=json&n=100&xt=" + READ)).json()
    newest = max(int(item["crawlTimeMsec"]) for item in page["items"]) // 1000
    later = (await app.get(f"/stream/contents?output=json&n=100&ot={newest}")).json()
    marked = await app.post("/edit-tag", f"i={10**15 + ids[1]}&a={READ}")

    assert (sorted(check_items(page)), "c" in check_items(later), marked.text) == (["b", "c"], True, "OK")


async def test_readrops_reads_members_in_their_order_and_names_feeds_by_url(
    app: GreaderApp, ids: list[int], library: SmallLibrary
) -> None:
    stream = f"/stream/contents/{READING_LIST}"
    first = (await app.get(f"{stream}?xt={READ}&xt={STARRED}&n=2500&output=json")).json()
    starred = (await app.get(f"/stream/items/ids?s={STARRED}&n=2500")).json()
    edited = await app.post(
        "/subscription/edit", "ac=edit&s=feed/https://tides.example.org/&t=Low%20tide&a=user/-/label/Sea"
    )
    listed = (await app.get("/subscription/list?output=json")).json()["subscriptions"]
    folder = await app.post("/edit-tag", "a=user/-/label/Empty")
    tags = (await app.get("/tag/list?output=json")).json()["tags"]

    assert (sorted(check_items(first)), refs(starred), edited.text) == (["b", "c"], [ids[0]], "OK")
    assert (listed[1]["title"], listed[1]["categories"][0]["label"]) == ("Low tide", "Sea")
    assert (folder.text, {"id": "user/-/label/Empty", "type": "folder"} in tags) == ("OK", True)


async def test_rss_guard_asks_for_everything_at_once(app: GreaderApp, ids: list[int]) -> None:
    page = json.loads((await app.get(f"/stream/items/ids?output=json&n=200000&s={quote(READING_LIST)}&ot=1")).content)
    texts = await app.client.post(
        f"{API}/stream/items/contents?output=json&n=200000",
        content="&".join(f"i={quote(long(id), safe='')}" for id in refs(page)),
        headers=app.headers | {"Content-Type": "application/x-www-form-urlencoded"},
    )

    assert sorted(check_items(texts.json())) == ["a", "b", "c"]
