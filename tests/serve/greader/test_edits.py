"""Changes that apps make: in any order, twice, and in thousands."""

import pytest

from tests.library.small_library import SmallLibrary
from tests.scripted_web import Answer, Web
from tests.serve.app_client import AppUser, GreaderApp
from tests.serve.rest.site import Site

READ, STARRED = "user/-/state/com.google/read", "user/-/state/com.google/starred"
READING_LIST = "user/-/state/com.google/reading-list"
KEPT, TRACKING = "user/-/state/com.google/kept-unread", "user/-/state/com.google/tracking-kept-unread"


async def unread_ids(app: GreaderApp) -> list[int]:
    page = (await app.get(f"/stream/items/ids?s={READING_LIST}&xt={READ}&n=10000")).json()
    return [int(each["id"]) - 10**15 for each in page["itemRefs"]]


@pytest.fixture
async def ids(library: SmallLibrary, alice: AppUser) -> list[int]:
    feed = await library.feed()
    await library.subscribe(alice.user, feed)
    return await library.arrive(feed, *"abc")


@pytest.mark.parametrize(
    "bodies", [[f"r={READ}"], [f"r={READ}&a={KEPT}&a={TRACKING}"], [f"a={KEPT}&r={READ}", f"a={TRACKING}"]]
)
async def test_unread_comes_in_three_spellings(app: GreaderApp, ids: list[int], bodies: list[str]) -> None:
    item = f"i=tag:google.com,2005:reader/item/{10**15 + ids[0]:016x}"
    marked = await app.post("/edit-tag", f"{item}&a={READ}&T=token%0A")
    assert (marked.status_code, marked.text) == (200, "OK")
    assert ids[0] not in await unread_ids(app)

    for body in bodies:
        assert (await app.post("/edit-tag", f"T=x&{item}&{body}")).text == "OK"

    assert ids[0] in await unread_ids(app)


async def test_starring_twice_stays_starred_and_unknown_states_are_ignored(app: GreaderApp, ids: list[int]) -> None:
    for _ in range(2):
        await app.post("/edit-tag", f"i={10**15 + ids[0]}&a={STARRED}&a=user/-/state/com.google/like")

    page = (await app.get(f"/stream/contents?s={STARRED}")).json()

    assert [STARRED in item["categories"] for item in page["items"]] == [True]


async def test_a_thousand_ids_in_one_form_are_all_marked(
    library: SmallLibrary, alice: AppUser, app: GreaderApp
) -> None:
    feed = await library.feed()
    await library.subscribe(alice.user, feed)
    many = await library.arrive(feed, *[f"e{number}" for number in range(1500)])

    body = "&".join(f"i={10**15 + id}" for id in many)
    starred = await app.post("/edit-tag", f"{body}&a={STARRED}")
    await app.post("/mark-all-as-read", f"s={STARRED}")
    left = await unread_ids(app)
    await app.post("/edit-tag", f"{body}&r={READ}")
    unread = len(await unread_ids(app))
    answer = await app.post("/edit-tag", f"{body}&a={READ}")

    assert (starred.text, left, unread) == ("OK", [], 1500)
    assert (answer.text, await unread_ids(app)) == ("OK", [])


async def test_labels_are_created_renamed_and_removed(app: GreaderApp, ids: list[int]) -> None:
    item = f"i={10**15 + ids[0]}"
    await app.post("/edit-tag", f"{item}&a=user/-/label/to%20read")
    labelled = (await app.get("/stream/contents?s=user/-/label/to%20read")).json()["items"]
    renamed = await app.post("/rename-tag", "s=user/-/label/to%20read&dest=user/-/label/done")
    tags = (await app.get("/tag/list")).json()["tags"]
    await app.post("/edit-tag", f"{item}&r=user/-/label/done")
    left = (await app.get("/stream/contents?s=user/-/label/done")).json()["items"]
    dropped = await app.post("/disable-tag", "s=user/-/label/done")
    again = await app.post("/disable-tag", "s=user/-/label/done")

    assert "user/-/label/to read" in labelled[0]["categories"]
    assert (renamed.text, {"id": "user/-/label/done", "type": "tag"} in tags, left) == ("OK", True, [])
    assert (dropped.text, again.status_code) == ("OK", 400)


async def test_all_are_marked_read_up_to_the_time_that_the_app_names(
    app: GreaderApp, ids: list[int], library: SmallLibrary, alice: AppUser
) -> None:
    seen = round(library.now.timestamp() * 1_000_000)
    library.now = library.now.replace(hour=library.now.hour + 2)
    feed = await library.feed("later")
    await library.subscribe(alice.user, feed)
    [later] = await library.arrive(feed, "later")

    first = await app.post("/mark-all-as-read", f"s={READING_LIST}&ts={seen}")
    left = await unread_ids(app)
    await app.post("/mark-all-as-read", f"s={READING_LIST}")

    assert (first.text, left, await unread_ids(app)) == ("OK", [later], [])


async def test_all_starred_items_are_marked_read_and_no_others(
    app: GreaderApp, ids: list[int], library: SmallLibrary, alice: AppUser
) -> None:
    """newsboat has a feed of the starred items, and marks it read like any other."""
    seen = round(library.now.timestamp() * 1_000_000)
    library.now = library.now.replace(hour=library.now.hour + 2)
    feed = await library.feed("later")
    await library.subscribe(alice.user, feed)
    [later] = await library.arrive(feed, "later")
    await app.post("/edit-tag", f"i={10**15 + ids[0]}&i={10**15 + later}&a={STARRED}")

    first = await app.post("/mark-all-as-read", f"s={STARRED}&ts={seen}")
    left = await unread_ids(app)
    await app.post("/mark-all-as-read", f"s={STARRED}")

    assert (first.text, set(left), set(await unread_ids(app))) == ("OK", {later, *ids[1:]}, {*ids[1:]})


@pytest.mark.parametrize("body", ["", "s=", "s=nonsense", "s=feed/999", f"s={READ}", "s=user/-/label/none"])
async def test_a_stream_that_is_not_understood_marks_nothing(app: GreaderApp, ids: list[int], body: str) -> None:
    answer = await app.post("/mark-all-as-read", body)

    assert answer.status_code == 400
    assert len(await unread_ids(app)) == 3


async def test_a_feed_is_added_renamed_moved_and_removed(site: Site, app: GreaderApp) -> None:
    url = _publish(site.web)

    added = (await app.post("/subscription/quickadd", f"quickadd={url}")).json()
    listed = (await app.get("/subscription/list")).json()["subscriptions"]
    again = (await app.post("/subscription/quickadd", f"quickadd=feed/{url}")).json()
    await app.post("/subscription/edit", f"ac=edit&s={added['streamId']}&t=New%20name&a=user/-/label/Mills")
    moved = (await app.get("/subscription/list")).json()["subscriptions"]
    await app.post("/subscription/edit", f"ac=edit&s=feed/{url}&r=user/-/label/Mills")
    out = (await app.get("/subscription/list")).json()["subscriptions"]
    gone = await app.post("/subscription/edit", f"ac=unsubscribe&s={added['streamId']}")

    assert (added["numResults"], [each["id"] for each in listed]) == (1, [added["streamId"]])
    assert again["numResults"] == 0
    assert (moved[0]["title"], [each["label"] for each in moved[0]["categories"]]) == ("New name", ["Mills"])
    assert (out[0]["categories"], gone.text) == ([], "OK")
    assert (await app.get("/subscription/list")).json()["subscriptions"] == []


async def test_lists_of_feeds_go_in_and_out(site: Site, app: GreaderApp) -> None:
    url = _publish(site.web)
    opml = f'<opml version="2.0"><body><outline text="In"><outline xmlUrl="{url}"/></outline></body></opml>'

    imported = await app.client.post(
        "/reader/api/0/subscription/import", content=opml, headers=app.headers | {"Content-Type": "text/xml"}
    )
    exported = await app.get("/subscription/export")

    assert imported.text == "OK"
    assert url in exported.text


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/subscription/edit", "ac=explode&s=feed/1"),
        ("/subscription/edit", "ac=edit"),
        ("/subscription/edit", "ac=edit&s=feed/99&t=x"),
        ("/stream/items/ids", "n=many"),
        ("/stream/items/ids", "ot=-5"),
        ("/stream/items/ids", "c=nonsense"),
        ("/stream/items/ids", "s=nonsense"),
        ("/rename-tag", "s=user/-/label/none&dest=user/-/label/x"),
        ("/edit-tag", "i=%00&a=x"),
        ("/edit-tag", "i=1000000000000001&a=user/-/label/"),
        ("/edit-tag", "i=1000000000000001&a=user/-/label/" + "x" * 191),
    ],
)
async def test_what_is_not_understood_is_400_as_text(app: GreaderApp, ids: list[int], path: str, body: str) -> None:
    answer = await app.post(path, body)

    assert (answer.status_code, answer.headers["content-type"]) == (400, "text/plain; charset=utf-8")


def _publish(web: Web) -> str:
    feed = b"<rss version='2.0'><channel><title>T</title><item><guid>1</guid><title>one</title></item></channel></rss>"
    return web.serve("/feed", Answer(body=feed))


async def test_no_folder_without_a_name_is_made(site: Site, app: GreaderApp) -> None:
    url = _publish(site.web)
    await app.post("/subscription/edit", f"ac=subscribe&s=feed/{url}&a=user/-/label/News")

    answers = [
        await app.post("/edit-tag", "a=user/-/label/"),
        await app.post("/edit-tag", "a=user/-/label//"),
        await app.post("/subscription/edit", f"ac=edit&s=feed/{url}&a=user/-/label//"),
        await app.post("/subscription/edit", f"ac=edit&s=feed/{url}&a=user/-/label/News//Mills/"),
        await app.post("/rename-tag", "s=user/-/label/News&dest=user/-/label//"),
    ]

    tags = {tag["id"] for tag in (await app.get("/tag/list")).json()["tags"] if "type" in tag}
    assert [answer.status_code for answer in answers] == [200, 200, 200, 200, 400]
    assert tags == {"user/-/label/News", "user/-/label/News/Mills"}
