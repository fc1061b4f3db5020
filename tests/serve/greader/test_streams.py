"""Lists, streams and texts as apps read them."""

import re
from dataclasses import replace
from datetime import timedelta
from urllib.parse import quote

from tests.library.small_library import NOW, SmallLibrary
from tests.serve.app_client import AppUser, GreaderApp

READ, STARRED = "user/-/state/com.google/read", "user/-/state/com.google/starred"
READING_LIST = "user/-/state/com.google/reading-list"


async def test_feeds_folders_labels_and_counts_are_typed_as_apps_expect(
    library: SmallLibrary, alice: AppUser, app: GreaderApp
) -> None:
    mills, tides = await library.feed("mills"), await library.feed("tides")
    first, second = await library.subscribe(alice.user, mills, "Mills"), await library.subscribe(alice.user, tides)
    folder = await library.folder(alice.user, "News & more", first)
    await library.folder(alice.user, "深い", second, parent_id=folder)
    await library.arrive(mills, "a", "b")

    subscriptions = (await app.get("/subscription/list?output=json")).json()["subscriptions"]
    tags = (await app.get("/tag/list?output=json")).json()["tags"]
    counts = (await app.get("/unread-count?output=json")).json()

    assert subscriptions[0] == {
        "id": f"feed/{first}",
        "title": "Mills",
        "categories": [{"id": "user/-/label/News & more", "label": "News & more"}],
        "url": "https://mills.example.org/",
        "htmlUrl": "https://mills.example.org/",
        "iconUrl": "",
    }
    assert [each["label"] for each in subscriptions[1]["categories"]] == ["News & more/深い"]
    assert tags == [
        {"id": STARRED},
        {"id": "user/-/label/News & more", "type": "folder"},
        {"id": "user/-/label/News & more/深い", "type": "folder"},
    ]
    assert (counts["max"], [each["count"] for each in counts["unreadcounts"]]) == (2, [2, 2, 2])
    assert all(re.fullmatch(r"\d{16}", each["newestItemTimestampUsec"]) for each in counts["unreadcounts"])


async def test_an_item_has_every_member_with_the_type_that_apps_expect(
    library: SmallLibrary, alice: AppUser, app: GreaderApp
) -> None:
    feed = await library.feed("mills")
    subscription = await library.subscribe(alice.user, feed, "Mills")
    [entry] = await library.arrive(feed, "", content_html="<p>First words</p>", link="https://mills.example.org/1")

    page = (await app.get(f"/stream/contents/{quote(READING_LIST, safe='')}")).json()
    [item] = page["items"]

    assert (page["id"], "continuation" in page) == (READING_LIST, False)
    assert next(iter(item["summary"])) == "content"
    assert item == {
        "id": f"tag:google.com,2005:reader/item/{10**15 + entry:016x}",
        "crawlTimeMsec": str(round(NOW.timestamp() * 1000)),
        "timestampUsec": str(round(NOW.timestamp() * 1_000_000)),
        "published": item["published"],
        "updated": item["published"],
        "title": "First words",
        "author": "",
        "canonical": [{"href": "https://mills.example.org/1"}],
        "alternate": [{"href": "https://mills.example.org/1", "type": "text/html"}],
        "summary": {"content": "<p>First words</p>"},
        "categories": [READING_LIST],
        "origin": {"streamId": f"feed/{subscription}", "title": "Mills", "htmlUrl": ""},
    }
    assert isinstance(item["published"], int)


async def test_ids_are_paged_without_gap_or_repeat_and_carry_nothing_else(
    library: SmallLibrary, alice: AppUser, app: GreaderApp
) -> None:
    feed = await library.feed()
    await library.subscribe(alice.user, feed)
    there = await library.arrive(feed, *"abcdefg", at=NOW)
    found: list[str] = []

    path = f"/stream/items/ids?s={READING_LIST}&n=3"
    page = (await app.get(path)).json()
    while True:
        assert all(list(each) == ["id"] and isinstance(each["id"], str) for each in page["itemRefs"])
        found += [each["id"] for each in page["itemRefs"]]
        if "continuation" not in page:
            break
        await library.arrive(feed, f"new {len(found)}", at=NOW)
        page = (await app.get(f"{path}&c={page['continuation']}")).json()

    assert found == [str(10**15 + id) for id in there[::-1]]


async def test_filters_go_by_state_feed_folder_and_crawl_time(
    library: SmallLibrary, alice: AppUser, app: GreaderApp
) -> None:
    mills, tides = await library.feed("mills"), await library.feed("tides")
    first = await library.subscribe(alice.user, mills)
    await library.folder(alice.user, "A b", await library.subscribe(alice.user, tides))
    [a] = await library.arrive(mills, "a")
    library.now += timedelta(hours=1)
    # Dated long ago, but it arrived now: an app that asks by time must get it.
    [b] = await library.arrive(tides, "b", at=NOW - timedelta(days=400))
    await app.post("/edit-tag", f"i={10**15 + a}&a={READ}&a={STARRED}&T=x")

    async def ids(query: str) -> list[int]:
        page = (await app.get(f"/stream/items/ids?output=json&n=1000&{query}")).json()
        return [int(each["id"]) - 10**15 for each in page["itemRefs"]]

    assert await ids(f"s={READING_LIST}&xt={READ}") == [b]
    assert await ids(f"s={READING_LIST}&it={READ}") == await ids(f"s={READ}") == [a]
    assert await ids(f"s={STARRED}") == await ids(f"s=user/{alice.user.id}/state/com.google/starred") == [a]
    assert await ids(f"s=feed/{first}") == await ids("s=feed/https://mills.example.org/") == [a]
    assert await ids("s=user/-/label/A%20b") == [b]
    assert await ids(f"s={READING_LIST}&ot={round(library.now.timestamp()) - 60}") == [b]
    assert await ids(f"s={READING_LIST}&r=o") == [a, b]
    assert await ids("s=feed/999") == await ids("s=user/-/label/none") == []


async def test_texts_are_found_by_any_form_of_id_and_thousands_at_once(
    library: SmallLibrary, alice: AppUser, app: GreaderApp
) -> None:
    feed = await library.feed()
    await library.subscribe(alice.user, feed)
    a, b, c, d = await library.arrive(feed, *"abcd")
    numbers = [10**15 + id for id in (a, b, c, d)]
    forms = [
        str(numbers[0]),
        f"{numbers[1]:016x}",
        f"tag:google.com,2005:reader/item/{numbers[2]:016x}",
        f"tag:google.com,2005:reader/item/{numbers[3]:x}",
    ]
    padding = "&".join(f"i={10**15 + 500 + number}" for number in range(9_900))

    found = (await app.post("/stream/items/contents?output=json", "&".join(f"i={form}" for form in forms))).json()
    many = await app.post("/stream/items/contents", f"i={forms[0]}&{padding}&T=x")
    only_token = await alice.client.post("/reader/api/0/stream/items/contents", data={"T": app.token, "i": forms[0]})

    assert [item["title"] for item in found["items"]] == list("abcd")
    assert [item["title"] for item in many.json()["items"]] == ["a"]
    assert [item["title"] for item in only_token.json()["items"]] == ["a"]
    assert (await app.post("/stream/items/contents", "&".join(["i=1"] * 10_001))).status_code == 400


async def test_charlie_gets_nothing_of_alices(
    library: SmallLibrary, alice: AppUser, app: GreaderApp, charlies_app: GreaderApp
) -> None:
    feed = await library.feed()
    subscription = await library.subscribe(alice.user, feed)
    await library.folder(alice.user, "News", subscription)
    [entry] = await library.arrive(feed, "hers")

    assert (await charlies_app.post("/stream/items/contents", f"i={10**15 + entry}")).json()["items"] == []
    for stream in (f"feed/{subscription}", "user/-/label/News", READING_LIST):
        assert (await charlies_app.get(f"/stream/items/ids?s={stream}")).json() == {"itemRefs": []}
    await charlies_app.post("/edit-tag", f"i={10**15 + entry}&a={READ}")
    refused = await charlies_app.post("/subscription/edit", f"ac=unsubscribe&s=feed/{subscription}")
    assert refused.status_code == 400
    assert len((await app.get(f"/stream/items/ids?s={READING_LIST}&xt={READ}")).json()["itemRefs"]) == 1


async def test_a_stream_is_atom_for_older_apps(library: SmallLibrary, alice: AppUser, app: GreaderApp) -> None:
    feed = await library.feed()
    subscription = await library.subscribe(alice.user, feed)
    await library.arrive(feed, "a\x01 & b", content_html="<p>text</p>")

    answer = await app.client.get(f"/reader/atom/feed/{subscription}?n=5", headers=app.headers)

    assert answer.headers["content-type"].startswith("application/atom+xml")
    assert '<category scheme="http://www.google.com/reader/" label="fresh" />' in answer.text
    assert '<content type="html">&lt;p&gt;text&lt;/p&gt;</content>' in answer.text


async def test_an_app_asks_for_one_feed_and_for_the_length_of_a_stream(
    library: SmallLibrary, alice: AppUser, app: GreaderApp
) -> None:
    feed = await library.feed("mills")
    subscription = await library.subscribe(alice.user, feed)
    await library.arrive(feed, "a", "b")

    by_id, by_url, none = [
        (await app.get(f"/subscribed?s=feed/{named}")).text
        for named in (subscription, "https://mills.example.org/", "https://tides.example.org/")
    ]

    assert (by_id, by_url, none) == ("true", "true", "false")
    assert (await app.get(f"/stream/items/count?s={READING_LIST}")).text == "2"
    dated = (await app.get(f"/stream/items/count?s=feed/{subscription}&a=true")).text
    assert dated == f"2#{NOW:%Y-%m-%dT%H:%M:%S}.000Z"
    assert (await app.get(f"/stream/items/count?s={STARRED}&a=true")).text == "0"


async def test_two_responses_are_declared_as_text_at_the_addresses_of_freshrss_alone(
    alice: AppUser, app: GreaderApp
) -> None:
    paths = ("/user-info", f"/stream/items/ids?s={READING_LIST}")
    freshrss = replace(app, prefix="/api/greader.php")

    assert {(await app.get(path)).headers["Content-Type"] for path in paths} == {"application/json"}
    assert {(await freshrss.get(path)).headers["Content-Type"] for path in paths} == {"text/plain; charset=utf-8"}
    assert (await freshrss.get("/user-info")).json()["userName"] == "alice"
