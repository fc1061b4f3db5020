"""Programs put texts into pools over HTTP: Alice is an admin, Bob may fill one group, Charlie may not."""

import pytest

from feedmill.model.pool import PoolGroup, PoolKind, PoolRight, PoolRule
from feedmill.model.user import Actor
from feedmill.pools import service
from feedmill.pools.program_texts import MAX_TEXTS_AT_ONCE
from feedmill.serve.rest.pools.texts import MAX_BYTES
from feedmill.store.pools.grants import grant_access
from tests.pools.pool_rows import NOW
from tests.serve.rest.site import Person, Site

TITLES = PoolKind.TITLES


@pytest.fixture
async def mine(site: Site, alice: Person) -> PoolGroup:
    return await site.app.pools.create("mine", PoolRule(no_entries=True))


@pytest.fixture
async def writer(site: Site, mine: PoolGroup) -> Person:
    """A program that may fill the group `mine`, with a key for filling and nothing else."""
    person = await site.person("writer", scopes=("fill",))
    await grant_access(site.app.db, mine, person.user, Actor(), NOW, PoolRight.FILL)
    return person


async def taken(site: Site, kind: PoolKind = TITLES) -> list[str]:
    return [item.text for item in await site.app.pools.pop("mine", kind, 1000)]


async def test_one_text_is_stored_and_handed_out(site: Site, writer: Person) -> None:
    stored = await writer.post("/pools/mine/titles", {"text": "一个标题", "id": 12345, "batch_id": 7})

    assert (stored.status_code, stored.json()) == (200, {"added": 1, "known": 0})
    [item] = await site.app.pools.pop("mine", TITLES)
    assert item.text == "一个标题"


async def test_thousands_are_stored_in_one_request_in_their_order(site: Site, writer: Person) -> None:
    items = [{"id": f"t{number}", "text": f"title {number}"} for number in range(3000)]

    stored = await writer.post("/pools/mine/titles", {"items": items})

    assert stored.json() == {"added": 3000, "known": 0}
    assert (await taken(site))[:3] == ["title 0", "title 1", "title 2"]


async def test_the_same_request_twice_stores_once(site: Site, writer: Person) -> None:
    body = {"items": [{"id": 1, "text": "one"}, {"id": "1", "text": "another"}, {"text": "two"}, {"text": "two"}]}

    first, second = [await writer.post("/pools/mine/contents", body) for _ in range(2)]

    assert (first.json(), second.json()) == ({"added": 2, "known": 2}, {"added": 0, "known": 4})
    assert await taken(site, PoolKind.CONTENTS) == ["one", "two"]


async def test_the_highest_batch_is_handed_out_first(site: Site, writer: Person) -> None:
    await writer.post("/pools/mine/titles", {"items": [{"text": "b1"}, {"text": "b2"}], "batch_id": 2})
    await writer.post("/pools/mine/titles", {"items": [{"text": "a1", "batch_id": 1}, {"text": "c1"}], "batch_id": 3})

    assert await taken(site) == ["c1", "b1", "b2", "a1"]


async def test_filling_needs_the_scope_and_the_grant(
    site: Site, alice: Person, mine: PoolGroup, writer: Person
) -> None:
    other = await site.app.pools.create("other", PoolRule(no_entries=True))
    taker = await site.person("taker", scopes=("pools",))
    charlie = await site.person("charlie", scopes=("fill", "pools"))
    for right in PoolRight:
        await grant_access(site.app.db, mine, taker.user, Actor(), NOW, right)
    await grant_access(site.app.db, mine, charlie.user, Actor(), NOW, PoolRight.TAKE)

    without_scope = await taker.post("/pools/mine/titles", {"text": "x"})
    without_grant = await charlie.post("/pools/mine/titles", {"text": "x"})
    other_group = await writer.post(f"/pools/{other.id}/titles", {"text": "x"})
    missing = await writer.post("/pools/nowhere/titles", {"text": "x"})

    assert (without_scope.status_code, without_grant.status_code, other_group.status_code) == (403, 404, 404)
    assert other_group.json()["detail"] == missing.json()["detail"].replace("nowhere", str(other.id))
    assert (await alice.post("/pools/other/titles", {"text": "x"})).status_code == 200


async def test_a_program_that_may_only_fill_takes_and_sees_nothing(site: Site, writer: Person, mine: PoolGroup) -> None:
    sees_all = await site.person("both", scopes=("fill", "pools"))
    await grant_access(site.app.db, mine, sees_all.user, Actor(), NOW, PoolRight.FILL)

    assert (await writer.post("/pools/mine/titles/pop")).status_code == 403
    assert (await sees_all.post("/pools/mine/titles/pop")).status_code == 404
    assert (await sees_all.get("/pools")).json()["items"] == []


async def test_a_revoked_right_ends_at_once_and_the_other_right_stays(
    site: Site, alice: Person, mine: PoolGroup, writer: Person
) -> None:
    await alice.put("/pools/mine/grants/writer")
    granted = (await alice.get("/pools/mine/grants")).json()["items"]

    revoked = await alice.delete("/pools/mine/grants/writer?right=fill")

    assert [(grant["user"], grant["right"]) for grant in granted] == [("writer", "take"), ("writer", "fill")]
    assert revoked.status_code == 204
    assert (await writer.post("/pools/mine/titles", {"text": "x"})).status_code == 404
    assert [grant["right"] for grant in (await alice.get("/pools/mine/grants")).json()["items"]] == ["take"]
    assert (await alice.delete("/pools/mine/grants/writer?right=fill")).status_code == 404
    assert (await alice.put("/pools/mine/grants/writer?right=paint")).status_code == 422


async def test_a_key_that_is_limited_to_groups_fills_only_these(site: Site, alice: Person, mine: PoolGroup) -> None:
    await site.app.pools.create("other", PoolRule(no_entries=True))
    made = await alice.post("/api-keys", {"name": "writer", "scopes": ["fill"], "pool_groups": ["mine"]})
    program = await site.browser(Authorization=f"Bearer {made.json()['key']}")

    own, other = [await program.post(f"/api/pools/{name}/titles", json={"text": "x"}) for name in ("mine", "other")]

    assert (made.status_code, own.status_code, other.status_code) == (201, 200, 404)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "text"),
        ({"text": ""}, "text"),
        ({"text": " \n "}, "text"),
        ({"text": "nul \x00"}, "text"),
        ({"text": 5}, "text"),
        ({"text": "x" * 10_001}, "text"),
        ({"text": "x" * 500_001}, "text"),
        ({"text": "x", "id": ""}, "id"),
        ({"text": "x", "id": "x" * 191}, "id"),
        ({"text": "x", "id": "a\nb"}, "id"),
        ({"text": "x", "id": 0}, "id"),
        ({"text": "x", "id": True}, "id"),
        ({"text": "x", "batch_id": -1}, "batch_id"),
        ({"text": "x", "batch_id": 10**15}, "batch_id"),
        ({"text": "x", "batch_id": "7"}, "batch_id"),
        ({"text": "x", "status": 0}, "status"),
        ({"items": []}, "items"),
        ({"items": [{"text": "x"}] * (MAX_TEXTS_AT_ONCE + 1)}, "items"),
        ({"items": [{"text": "x"}, {"text": ""}]}, "items.1.text"),
        ({"items": [{"text": "x"}, {"text": "y" * 10_001}]}, "items.1.text"),
        ({"items": [{"text": "x"}], "text": "y"}, "text"),
        ([{"text": "x"}], "body"),
        (None, "body"),
    ],
)
async def test_a_bad_request_names_its_field_and_stores_nothing(
    site: Site, writer: Person, body: object, field: str
) -> None:
    refused = await writer.post("/pools/mine/titles", body)

    assert (refused.status_code, refused.json()["code"]) == (422, "bad_input")
    assert refused.json()["errors"][0]["field"].startswith(field)
    assert (await site.app.pools.status("mine", TITLES)).counts.total == 0


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b'{"text": "\\ud83d"}', b'{"text": NaN}', b"[" * 100_000])
async def test_what_is_no_json_is_refused(writer: Person, body: bytes) -> None:
    refused = await writer.client.post("/api/pools/mine/titles", content=body)

    assert refused.status_code == 422


async def test_a_body_is_limited_and_larger_than_other_bodies(site: Site, writer: Person) -> None:
    longest = {"items": [{"text": f"<p>{number} {'x' * 400_000}</p>"} for number in range(10)]}

    fitting = await writer.post("/pools/mine/contents", longest)
    too_large = await writer.client.post("/api/pools/mine/contents", content=b" " * (MAX_BYTES + 1))

    assert (fitting.status_code, fitting.json()["added"]) == (200, 10)
    assert (too_large.status_code, too_large.json()["code"]) == (413, "too_large")


async def test_a_body_is_read_only_for_those_who_may_fill(site: Site, mine: PoolGroup, charlie: Person) -> None:
    nobody = await site.browser()
    large = b" " * (MAX_BYTES + 1)

    assert (await nobody.post("/api/pools/mine/titles", content=large)).status_code == 401
    assert (await charlie.client.post("/api/pools/mine/titles", content=large)).status_code == 404


async def test_a_full_pool_says_so(site: Site, writer: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "MAX_WAITING_ITEMS", 0)
    await writer.post("/pools/mine/titles", {"text": "one"})

    full = await writer.post("/pools/mine/titles", {"text": "two"})

    assert (full.status_code, full.json()["code"]) == (409, "pool_full")


async def test_a_program_that_fills_is_told_with_its_texts(site: Site, alice: Person, writer: Person) -> None:
    await writer.post("/pools/mine/titles", {"text": "one", "id": "first"})

    [item] = (await alice.get("/pools/mine/titles/items?state=available")).json()["items"]

    assert (item["external_id"], item["entry_id"]) == ("first", None)
