"""An admin grants the right to take from a pool per group: Alice is an admin, Bob and Charlie are not."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from feedmill.errors import UnknownGroup
from feedmill.model.pool import PoolGroup, PoolKind
from feedmill.model.user import Actor
from feedmill.store.admin.users import update_user
from feedmill.store.users.api_keys import add_api_key
from tests.pools.pool_rows import LEASE, NOW, add_entries, add_pool, label
from tests.serve.rest.site import Person, Site

TITLES = ["first", "second", "third"]


@pytest.fixture
async def news(site: Site, alice: Person) -> PoolGroup:
    """A group from which only Alice may take, because she is an admin."""
    return await add_pool(site.app.db, TITLES)


@pytest.fixture
async def bobs(news: PoolGroup, alice: Person, bob: Person) -> PoolGroup:
    """The same group, from which Bob may take too."""
    assert (await alice.put("/pools/news/grants/Bob")).status_code == 204
    return news


async def key_of(site: Site, person: Person, **wishes: Any) -> httpx.AsyncClient:
    made = await person.post("/api-keys", {"name": "program", "scopes": ["pools"]} | wishes)
    assert made.status_code == 201, made.text
    return await site.browser(Authorization=f"Bearer {made.json()['key']}")


async def test_popping_needs_a_grant(site: Site, news: PoolGroup, charlie: Person) -> None:
    stolen = await charlie.post("/pools/news/titles/pop?n=3")

    assert (stolen.status_code, stolen.json()["code"]) == (404, "unknown_group")
    assert len(await site.app.pools.pop("news", PoolKind.TITLES, 3)) == 3


async def test_a_group_without_a_grant_is_indistinguishable_from_a_missing_one(
    news: PoolGroup, charlie: Person
) -> None:
    for path in ("", "/titles/status", "/titles/items?state=available", "/titles/lost"):
        hidden, missing = await charlie.get(f"/pools/news{path}"), await charlie.get(f"/pools/nowhere{path}")
        assert hidden.status_code == missing.status_code == 404, path
        assert hidden.text == missing.text.replace("nowhere", "news"), path
    assert (await charlie.get(f"/pools/{news.id}")).status_code == 404
    assert (await charlie.get("/pools")).json()["items"] == []


async def test_a_grant_is_for_one_group_only(site: Site, bobs: PoolGroup, alice: Person, bob: Person) -> None:
    await add_pool(site.app.db, ["other"], name="other")

    popped = (await bob.post("/pools/news/titles/pop?n=3")).json()["items"]

    assert [item["text"] for item in popped] == TITLES
    assert [group["name"] for group in (await bob.get("/pools")).json()["items"]] == ["news"]
    assert [group["name"] for group in (await alice.get("/pools")).json()["items"]] == ["news", "other"]
    assert (await bob.post("/pools/other/titles/pop")).status_code == 404
    assert [grant["user"] for grant in (await alice.get("/pools/news/grants")).json()["items"]] == ["bob"]


async def test_a_revoked_grant_ends_at_once_also_for_keys(
    site: Site, bobs: PoolGroup, alice: Person, bob: Person
) -> None:
    program = await key_of(site, bob, pool_groups=["news"])
    assert (await program.post("/api/pools/news/titles/pop")).status_code == 200

    assert (await alice.delete("/pools/news/grants/bob")).status_code == 204

    assert (await program.post("/api/pools/news/titles/pop")).status_code == 404
    assert (await bob.post("/pools/news/titles/pop")).status_code == 404
    assert (await alice.delete("/pools/news/grants/bob")).status_code == 404


async def test_a_former_admin_takes_only_what_was_granted(site: Site, news: PoolGroup, alice: Person) -> None:
    await site.person("zoe", is_admin=True)
    assert (await alice.post("/pools/news/titles/pop")).status_code == 200

    await update_user(site.app.db, alice.user, replace(alice.user, is_admin=False), Actor(), NOW)

    assert (await alice.post("/pools/news/titles/pop")).status_code == 404


async def test_a_disabled_account_takes_nothing(site: Site, bobs: PoolGroup, alice: Person, bob: Person) -> None:
    await alice.patch(f"/admin/users/{bob.user.id}", {"status": "disabled"})

    assert (await bob.post("/pools/news/titles/pop")).status_code == 401


async def test_a_reference_opens_only_items_of_granted_groups(
    site: Site, news: PoolGroup, bob: Person, charlie: Person, alice: Person
) -> None:
    [item] = await site.app.pools.pop("news", PoolKind.TITLES)
    refused, missing = await charlie.get(f"/pools/items/{item.id}"), await charlie.get("/pools/items/999999")
    assert (refused.status_code, refused.text) == (404, missing.text)

    await alice.put("/pools/news/grants/bob")

    assert (await bob.get(f"/pools/items/{item.id}")).json()["text"] == "first"


async def test_settling_a_lease_needs_a_grant(site: Site, alice: Person, bob: Person, charlie: Person) -> None:
    for group, person in (("news", bob), ("other", charlie)):
        await add_pool(site.app.db, [group], LEASE, group)
        await alice.put(f"/pools/{group}/grants/{person.user.name}")
    leased = (await bob.post("/pools/news/titles/lease")).json()
    held = {"token": leased["token"], "ids": [leased["items"][0]["id"]]}

    for verb, more in (("ack", {}), ("nack", {}), ("extend", {"seconds": 60})):
        assert (await charlie.post(f"/pools/news/titles/{verb}", held | more)).status_code == 404
        assert (await charlie.post(f"/pools/other/titles/{verb}", held | more)).json() == {"count": 0}

    assert (await bob.post("/pools/news/titles/ack", held)).json() == {"count": 1}


async def test_a_lease_token_is_shown_to_its_holder_only(
    site: Site, alice: Person, bob: Person, charlie: Person
) -> None:
    await add_pool(site.app.db, TITLES, LEASE)
    for name in ("bob", "charlie"):
        await alice.put(f"/pools/news/grants/{name}")
    leased = (await bob.post("/pools/news/titles/lease?who=bobs")).json()

    listed = (await charlie.get("/pools/news/titles/items?state=leased")).json()["items"]

    assert [item["taken_by"] for item in listed] == ["bobs"]
    assert leased["token"].startswith("bobs/")


async def test_only_an_admin_can_requeue_items(bobs: PoolGroup, alice: Person, bob: Person) -> None:
    await bob.post("/pools/news/titles/pop")

    assert (await bob.post("/pools/news/titles/requeue", {"state": "used"})).status_code == 403
    assert (await bob.post("/pools/news/titles/lost/release", {})).status_code == 403
    assert (await alice.post("/pools/news/titles/requeue", {"state": "used"})).json() == {"count": 1}


@pytest.mark.parametrize("path", ["/pools/news/grants/nobody", "/pools/nowhere/grants/bob", "/pools/news/grants/a%20b"])
async def test_a_missing_group_cannot_be_granted(bobs: PoolGroup, alice: Person, path: str) -> None:
    assert (await alice.put(path)).status_code == 404
    assert (await alice.delete(path)).status_code == 404


async def test_users_cannot_grant_themselves_anything(news: PoolGroup, charlie: Person) -> None:
    assert (await charlie.put("/pools/news/grants/charlie")).status_code == 403
    assert (await charlie.get("/pools/news/grants")).status_code == 403


# --- keys that are limited to groups ----------------------------------------------------------------------


async def test_a_key_that_is_limited_to_a_group_takes_from_that_group_only(
    site: Site, news: PoolGroup, alice: Person
) -> None:
    await add_pool(site.app.db, ["other"], name="other")
    program = await key_of(site, alice, pool_groups=["news"])

    assert (await program.post("/api/pools/news/titles/pop")).status_code == 200
    assert (await program.post("/api/pools/other/titles/pop")).status_code == 404
    assert [group["name"] for group in (await program.get("/api/pools")).json()["items"]] == ["news"]
    assert [key["pool_groups"] for key in (await alice.get("/api-keys")).json()["items"]] == [["news"], None]


async def test_a_limited_key_cannot_create_an_unlimited_one(site: Site, news: PoolGroup, alice: Person) -> None:
    await add_pool(site.app.db, ["other"], name="other")
    scopes, now = ["pools", "write"], datetime.now(UTC)
    await add_api_key(site.app.db, alice.user.id, "limited", "fm_limited", scopes, now, groups=[news.id])
    limited = await site.browser(Authorization="Bearer fm_limited")
    new = {"name": "next", "scopes": ["pools"]}

    beyond = await limited.post("/api/api-keys", json=new | {"pool_groups": ["news", "other"]})
    made = await limited.post("/api/api-keys", json=new)

    assert (beyond.status_code, beyond.json()["errors"][0]["field"]) == (422, "pool_groups")
    assert made.json()["pool_groups"] == ["news"]
    following = await site.browser(Authorization=f"Bearer {made.json()['key']}")
    assert (await following.post("/api/pools/other/titles/pop")).status_code == 404


@pytest.mark.parametrize(
    "wishes",
    [
        {"pool_groups": []},
        {"pool_groups": ["nowhere"]},
        {"pool_groups": ["hidden"]},
        {"pool_groups": ["news"], "scopes": ["read"]},
        {"pool_groups": ["news"], "scopes": ["pools", "admin"]},
    ],
)
async def test_an_invalid_limit_is_refused(
    site: Site, bobs: PoolGroup, bob: Person, alice: Person, wishes: dict[str, Any]
) -> None:
    await add_pool(site.app.db, ["hidden"], name="hidden")
    maker = alice if "admin" in wishes.get("scopes", ()) else bob

    refused = await maker.post("/api-keys", {"name": "x", "scopes": ["pools"]} | wishes)

    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"].startswith("pool_groups")


# --- rules by label ---------------------------------------------------------------------------------------


async def test_a_rule_by_label_uses_the_labels_of_one_account(
    site: Site, alice: Person, bob: Person, charlie: Person
) -> None:
    first, second, third = await add_entries(site.app.db, TITLES)
    for person, entry in ((alice, first), (bob, second), (charlie, third)):
        await label(site.app.db, person.user.id, "best", [entry])

    mine = await alice.post("/pools", {"name": "mine", "rule": {"labels": ["best"]}})
    bobs = await alice.post("/pools", {"name": "bobs", "rule": {"labels": ["best"], "labels_of": "Bob"}})
    await site.app.pools.gatherer.catch_up(NOW)

    assert (mine.json()["rule"]["labels_of"], bobs.json()["rule"]["labels_of"]) == ("alice", "bob")
    for group, title in (("mine", "first"), ("bobs", "second")):
        items = (await alice.post(f"/pools/{group}/titles/pop?n=9")).json()["items"]
        assert [item["text"] for item in items] == [title]


async def test_a_rule_cannot_use_the_labels_of_a_missing_account(site: Site, alice: Person) -> None:
    refused = await alice.post("/pools", {"name": "x", "rule": {"labels": ["best"], "labels_of": "nobody"}})

    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "rule.labels_of")
    with pytest.raises(UnknownGroup):
        await site.app.pools.group("x")


async def test_the_account_whose_labels_a_group_uses_is_logged(alice: Person, bob: Person) -> None:
    await alice.post("/pools", {"name": "bobs", "rule": {"labels": ["best"], "labels_of": "bob"}})

    [deed, *_] = (await alice.get("/admin/audit")).json()["items"]

    assert (deed["action"], deed["subject"], deed["user_name"]) == ("pool.create", "bobs, labels_of=bob", "alice")
