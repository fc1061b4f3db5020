"""Pools over HTTP."""

import pytest

from feedmill.model.pool import PoolItemState, PoolKey, PoolKind, PoolOptions
from feedmill.model.user import Actor
from feedmill.store.pools.grants import grant_access
from feedmill.store.pools.items import claim_items
from feedmill.store.pools.lost_items import hold_items
from tests.pools.pool_rows import LEASE, NOW, add_entries, add_pool
from tests.serve.rest.site import Person, Site


@pytest.fixture
async def taker(site: Site) -> Person:
    """A client for a user who may take from the group `news`, with a key for pools and nothing else."""
    return await site.person("taker", scopes=("pools",))


async def add_news(site: Site, taker: Person, names: list[str], options: PoolOptions | None = None) -> None:
    """The group `news`, from which the taker may take."""
    await grant_access(site.app.db, await add_pool(site.app.db, names, options), taker.user, Actor(), NOW)


async def test_a_group_is_created_shown_changed_and_deleted(site: Site, alice: Person) -> None:
    rule = {"words": ["kiln"], "language": "en", "since": "2026-02-18T08:30:00Z"}
    made = await alice.post("/pools", {"name": "news", "rule": rule, "contents": {"form": "text"}})
    changed = await alice.patch("/pools/news", {"titles": {"guarantee": "lease"}})
    shown = (await alice.get("/pools/news")).json()

    assert (made.status_code, made.json()["rule"]["words"]) == (201, ["kiln"])
    assert changed.json()["titles"]["guarantee"] == "lease"
    assert (shown["rule"]["since"], shown["contents"]["form"]) == ("2026-02-18T08:30:00Z", "text")
    assert (await alice.delete("/pools/news")).status_code == 204
    assert (await alice.get("/pools")).json() == {"items": [], "next": None}


async def test_a_second_group_with_the_same_name_is_a_conflict(alice: Person) -> None:
    await alice.post("/pools", {"name": "news"})
    again = await alice.post("/pools", {"name": "news"})

    assert (again.status_code, again.json()["code"]) == (409, "group_exists")


async def test_an_invalid_rule_is_reported_with_its_field(alice: Person) -> None:
    refused = await alice.post("/pools", {"name": "news", "rule": {"min_length": -1}})

    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == "rule.min_length"


async def test_a_key_for_pools_can_take_and_nothing_else(site: Site, taker: Person) -> None:
    await add_news(site, taker, ["one"])

    assert (await taker.post("/pools/news/titles/pop")).status_code == 200
    assert (await taker.post("/pools", {"name": "mine"})).status_code == 403
    assert (await taker.delete("/pools/news")).status_code == 403


async def test_a_key_without_the_scope_takes_nothing(site: Site) -> None:
    await add_pool(site.app.db, ["one"])
    reader = await site.person("reader", scopes=("read", "write"))

    assert (await reader.post("/pools/news/titles/pop")).status_code == 403
    assert (await reader.get("/pools/news/titles/status")).status_code == 403


async def test_items_are_popped_once_and_then_the_pool_is_empty(site: Site, taker: Person) -> None:
    await add_news(site, taker, ["one", "two", "three"])

    first = (await taker.post("/pools/news/titles/pop?n=2")).json()
    second = (await taker.post("/pools/news/titles/pop?n=2")).json()
    none_left = await taker.post("/pools/news/titles/pop")

    assert [item["text"] for item in first["items"] + second["items"]] == ["one", "two", "three"]
    assert (none_left.status_code, none_left.json()["code"]) == (404, "pool_empty")


async def test_a_missing_group_is_reported_differently_from_an_empty_pool(taker: Person) -> None:
    answer = await taker.post("/pools/nowhere/titles/pop")

    assert (answer.status_code, answer.json()["code"]) == (404, "unknown_group")


async def test_a_pool_with_leases_cannot_be_popped(site: Site, taker: Person) -> None:
    await add_news(site, taker, ["one"], LEASE)

    answer = await taker.post("/pools/news/titles/pop")

    assert (answer.status_code, answer.json()["code"]) == (409, "wrong_guarantee")


async def test_a_paused_group_hands_out_nothing_until_it_is_resumed(site: Site, alice: Person) -> None:
    await add_pool(site.app.db, ["one"])

    await alice.post("/pools/news/pause")
    paused = await alice.post("/pools/news/titles/pop")
    await alice.post("/pools/news/resume")
    resumed = await alice.post("/pools/news/titles/pop")

    assert (paused.status_code, paused.json()["code"]) == (409, "pool_paused")
    assert resumed.status_code == 200


async def test_leased_items_are_acknowledged_returned_or_extended(site: Site, taker: Person) -> None:
    await add_news(site, taker, ["one", "two", "three"], LEASE)
    leased = (await taker.post("/pools/news/titles/lease?n=3&who=indexer&seconds=30")).json()
    one, two, three = (item["id"] for item in leased["items"])
    token = leased["token"]

    acked = await taker.post("/pools/news/titles/ack", {"token": token, "ids": [one]})
    nacked = await taker.post("/pools/news/titles/nack", {"token": token, "ids": [two]})
    extended = await taker.post("/pools/news/titles/extend", {"token": token, "ids": [three], "seconds": 600})
    strange = await taker.post("/pools/news/titles/ack", {"token": "somebody's", "ids": [three]})
    status = (await taker.get("/pools/news/titles/status")).json()

    assert [answer.json()["count"] for answer in (acked, nacked, extended, strange)] == [1, 1, 1, 0]
    assert (status["used"], status["available"], status["leased"], status["total"]) == (1, 1, 1, 3)


async def test_a_huge_text_is_replaced_by_a_reference_to_it(site: Site, taker: Person) -> None:
    await add_news(site, taker, ["a long title"], PoolOptions(most_in_list=5))

    [item] = (await taker.post("/pools/news/titles/pop")).json()["items"]
    whole = await taker.client.get(item["ref"])

    assert item["text"] == ""
    assert whole.json() == {"id": item["id"], "text": "a long title"}


async def test_a_reference_to_nothing_is_not_found(taker: Person) -> None:
    assert (await taker.get("/pools/items/999")).status_code == 404


async def test_used_items_are_listed_and_an_admin_requeues_them(site: Site, alice: Person, taker: Person) -> None:
    await add_news(site, taker, ["one", "two"])
    [popped] = (await taker.post("/pools/news/titles/pop?who=indexer")).json()["items"]

    [used] = (await taker.get("/pools/news/titles/items?state=used")).json()["items"]
    requeued = await alice.post("/pools/news/titles/requeue", {"state": "used", "ids": [popped["id"]]})

    assert (used["id"], used["taken_by"]) == (popped["id"], "indexer")
    assert requeued.json() == {"count": 1}


@pytest.mark.parametrize(("verb", "state"), [("release", "available"), ("settle", "used")])
async def test_lost_items_are_listed_and_an_admin_decides(site: Site, alice: Person, verb: str, state: str) -> None:
    group = await add_pool(site.app.db, ["one"])
    await claim_items(
        site.app.db, PoolKey(group.id, PoolKind.TITLES), 1, PoolItemState.QUEUED, "a crashed program", NOW
    )
    looking = {"older": 0, "look_again": 0}

    listed = (await alice.get("/pools/news/titles/lost", params=looking)).json()["items"]
    done = await alice.post(f"/pools/news/titles/lost/{verb}", looking)
    status = (await alice.get("/pools/news/titles/status")).json()

    assert [item["queued_by"] for item in listed] == ["a crashed program"]
    assert done.json() == {"count": 1}
    assert status[state] == 1


async def test_a_group_says_what_becomes_of_items_in_doubt(site: Site, alice: Person) -> None:
    made = await alice.post("/pools", {"name": "news", "on_loss": "release", "release_after_seconds": 60})
    changed = await alice.patch("/pools/news", {"others_rpop": True})
    refused = [
        (await alice.patch("/pools/news", wrong)).status_code
        for wrong in ({"on_loss": "forget"}, {"release_after_seconds": 0}, {"others_rpop": 1})
    ]

    assert (made.json()["on_loss"], made.json()["others_rpop"]) == ("release", False)
    assert {name: changed.json()[name] for name in ("on_loss", "release_after_seconds", "others_rpop")} == {
        "on_loss": "release",
        "release_after_seconds": 60,
        "others_rpop": True,
    }
    assert refused == [422] * 3


async def test_items_held_back_are_counted_and_listed(site: Site, alice: Person) -> None:
    group = await add_pool(site.app.db, ["one", "two"])
    pool = PoolKey(group.id, PoolKind.TITLES)
    [item] = await claim_items(site.app.db, pool, 1, PoolItemState.QUEUED, "filler", NOW)
    await hold_items(site.app.db, [item.id], NOW)

    status = (await alice.get("/pools/news/titles/status")).json()
    [held] = (await alice.get("/pools/news/titles/items?state=held")).json()["items"]
    [lost] = (await alice.get("/pools/news/titles/lost")).json()["items"]

    assert (status["held"], status["available"], status["total"], status["is_list_lost"]) == (1, 1, 2, False)
    assert held["id"] == lost["id"] == item.id
    assert lost["is_held"]


async def test_existing_entries_join_a_new_group(site: Site, alice: Person) -> None:
    await add_entries(site.app.db, ["a kiln", "a loom"])
    await alice.post("/pools", {"name": "news", "rule": {"words": ["kiln"]}})
    await site.app.pools.gatherer.catch_up(NOW)

    popped = (await alice.post("/pools/news/contents/pop?n=10")).json()["items"]

    assert [item["text"] for item in popped] == ["<p>a kiln</p>"]
