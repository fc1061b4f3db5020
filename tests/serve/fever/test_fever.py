"""The Fever API as its apps use it: sections, ids, marks; always 200."""

from typing import Any

import pytest

from feedmill.library.users.app_passwords import fever_key, revoke_app_password
from feedmill.model.user import Caller
from tests.library.small_library import NOW, SmallLibrary
from tests.serve.app_client import AppUser, app_user
from tests.serve.rest.site import Site

REFUSED = {"api_version": 3, "auth": 0}


def key_of(user: AppUser) -> str:
    return fever_key(user.user.name, user.password)


async def ask(user: AppUser, query: str, path: str = "/fever/", **form: Any) -> dict[str, Any]:
    answer = await user.client.post(f"{path}?{query}", data={"api_key": key_of(user)} | form)
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


@pytest.mark.parametrize("path", ["/fever", "/fever/", "/api/fever.php"])
async def test_an_app_signs_in_at_every_path(alice: AppUser, path: str) -> None:
    assert await ask(alice, "api", path) == {"api_version": 3, "auth": 1, "last_refreshed_on_time": 0}


async def test_who_is_not_known_gets_nothing_else(site: Site, alice: AppUser) -> None:
    without = await app_user(site, "bob")
    multipart = await alice.client.post("/fever/?feeds", files={"api_key": (None, key_of(alice).upper())})
    by_query = await alice.client.get(f"/fever/?api&feeds&api_key={key_of(alice)}")

    refused = [
        await alice.client.post("/fever/?api&feeds"),
        await alice.client.post("/fever/?api&feeds", data={"api_key": "0" * 32}),
        await alice.client.post("/fever/?api&feeds", data={"api_key": key_of(without)}),
    ]
    await revoke_app_password(site.app.db, Caller(alice.user, alice.user.scopes), alice.app_password.id, NOW)
    refused.append(await alice.client.post("/fever/?api", data={"api_key": key_of(alice)}))

    assert [answer.json() for answer in refused] == [REFUSED] * 4
    assert (multipart.json()["auth"], by_query.json()["feeds"]) == (1, [])


async def test_every_feed_is_in_a_group_and_members_are_in_the_order_of_readrops(
    library: SmallLibrary, alice: AppUser
) -> None:
    mills, tides = await library.feed("mills"), await library.feed("tides")
    first, second = await library.subscribe(alice.user, mills, "Mills"), await library.subscribe(alice.user, tides)
    folder = await library.folder(alice.user, "News", first)
    await library.folder(alice.user, "Empty")

    body = await ask(alice, "api&groups&feeds&links&favicons")

    assert [(group["id"], group["title"]) for group in body["groups"]] == [(folder, "News"), (2**31 - 1, "No folder")]
    assert body["feeds_groups"] == [
        {"group_id": folder, "feed_ids": str(first)},
        {"group_id": 2**31 - 1, "feed_ids": str(second)},
    ]
    assert list(body["feeds"][0])[:3] == ["id", "favicon_id", "title"]
    assert (body["feeds"][0]["title"], body["feeds"][0]["is_spark"]) == ("Mills", 0)
    assert (body["links"], body["favicons"]) == ([], [])


async def test_items_come_in_pages_of_fifty_from_either_end(library: SmallLibrary, alice: AppUser) -> None:
    feed = await library.feed()
    subscription = await library.subscribe(alice.user, feed)
    ids = await library.arrive(feed, *[f"e{number}" for number in range(60)], content_html="<p>x</p>")

    async def items(query: str) -> list[int]:
        return [item["id"] for item in (await ask(alice, f"api&items&{query}"))["items"]]

    assert await items("since_id=") == await items("since_id=0") == ids[:50]
    assert await items(f"since_id={ids[49]}") == ids[50:]
    assert await items("max_id=0") == await items(f"max_id={2**53 - 1}") == ids[:9:-1]
    assert await items(f"max_id={ids[10]}") == ids[9::-1]
    assert await items(f"with_ids={ids[3]},{ids[1]},999999") == [ids[3], ids[1]]
    assert await items(f"feed_ids={subscription}") == ids[:50]
    assert await items("feed_ids=999") == []
    [item] = (await ask(alice, f"api&items&with_ids={ids[0]}"))["items"]
    assert {name: type(value) for name, value in item.items()} == {
        "id": int,
        "feed_id": int,
        "title": str,
        "author": str,
        "html": str,
        "url": str,
        "is_saved": int,
        "is_read": int,
        "created_on_time": int,
    }


async def test_marks_are_made_by_form_or_query_and_twice_is_once(library: SmallLibrary, alice: AppUser) -> None:
    feed = await library.feed()
    subscription = await library.subscribe(alice.user, feed)
    a, b = await library.arrive(feed, "a", "b")

    empty = await ask(alice, "api&saved_item_ids")
    for _ in range(2):
        await ask(alice, "api", mark="item", **{"as": "saved"}, id=a)
        await ask(alice, f"api&mark=item&as=read&id={a}")
    after = await ask(alice, "api&unread_item_ids&saved_item_ids")
    unread = await ask(alice, f"api&mark=item&as=unread&id={a}")
    unsaved = await ask(alice, f"api&mark=item&as=unsaved&id={a}")
    back = await ask(alice, "api&unread_item_ids&saved_item_ids")
    await ask(alice, f"api&mark=feed&as=read&id={subscription}&before={round(NOW.timestamp())}")
    done = await ask(alice, "api&unread_item_ids")

    assert empty["saved_item_ids"] == ""
    assert (after["unread_item_ids"], after["saved_item_ids"]) == (str(b), str(a))
    assert (back["unread_item_ids"], back["saved_item_ids"]) == (f"{b},{a}", "")
    assert (unread["unread_item_ids"], "saved_item_ids" in unread) == (f"{b},{a}", False)
    assert (unsaved["saved_item_ids"], "unread_item_ids" in unsaved) == ("", False)
    assert done["unread_item_ids"] == ""


@pytest.mark.parametrize(
    "query",
    [
        "mark=group&as=read",
        "mark=group&as=read&id=",
        "mark=group&as=read&id=+",
        "mark=group&as=read&id=x",
        "mark=group&as=saved&id=0",
        "mark=all&as=read&id=0",
    ],
)
async def test_what_is_not_understood_marks_nothing(library: SmallLibrary, alice: AppUser, query: str) -> None:
    feed = await library.feed()
    await library.subscribe(alice.user, feed)
    await library.arrive(feed, "a")

    body = await ask(alice, f"api&{query}")

    assert (body["auth"], bool(body["error"])) == (1, True)
    assert (await ask(alice, "api&unread_item_ids"))["unread_item_ids"] != ""


async def test_group_zero_is_everything_and_others_are_untouched(
    site: Site, library: SmallLibrary, alice: AppUser
) -> None:
    charlie = await app_user(site, "charlie", allows_fever=True)
    feed = await library.feed()
    subscription = await library.subscribe(alice.user, feed)
    [entry] = await library.arrive(feed, "a")

    await ask(charlie, f"api&mark=item&as=read&id={entry}")
    await ask(charlie, f"api&mark=feed&as=read&id={subscription}")
    await ask(charlie, "api&mark=group&as=read&id=0")
    theirs = await ask(charlie, f"api&items&with_ids={entry}")
    kept = await ask(alice, "api&unread_item_ids")
    await ask(alice, "api&mark=group&as=read&id=0")

    assert (theirs["items"], kept["unread_item_ids"]) == ([], str(entry))
    assert (await ask(alice, "api&unread_item_ids"))["unread_item_ids"] == ""
