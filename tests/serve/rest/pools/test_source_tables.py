"""Source tables over HTTP: an admin names a table, and nobody else."""

import pytest

from feedmill.model.pool import PoolGroup, PoolKind, PoolRight, PoolRule
from feedmill.model.user import Actor
from feedmill.store.pools.grants import grant_access
from tests.pools.pool_rows import NOW
from tests.serve.rest.site import Person, Site

FROM_TABLE = {"titles": {"source_table": "own_titles"}}


@pytest.fixture
async def own_titles(site: Site) -> None:
    await site.app.db.exec("CREATE TABLE own_titles (id INTEGER PRIMARY KEY, title TEXT)")
    await site.app.db.exec("INSERT INTO own_titles VALUES (1, 'one'), (2, 'two')")


@pytest.fixture
async def mine(site: Site, alice: Person) -> PoolGroup:
    return await site.app.pools.create("mine", PoolRule(no_entries=True))


async def test_an_admin_names_a_table_and_its_rows_join(site: Site, alice: Person, own_titles: None) -> None:
    made = await alice.post("/pools", {"name": "mine", "rule": {"no_entries": True}, **FROM_TABLE})
    await site.app.pools.maintainer.run_once()

    assert (made.status_code, made.json()["titles"]["source_table"]) == (201, "own_titles")
    assert made.json()["contents"]["source_table"] == ""
    popped = await alice.post("/pools/mine/titles/pop?n=9")
    assert [item["text"] for item in popped.json()["items"]] == ["one", "two"]


async def test_a_table_stays_when_other_options_are_changed_and_an_empty_text_removes_it(
    alice: Person, mine: PoolGroup, own_titles: None
) -> None:
    await alice.patch("/pools/mine", FROM_TABLE)
    kept = await alice.patch("/pools/mine", {"titles": {"size": 9}})
    removed = await alice.patch("/pools/mine", {"titles": {"source_table": ""}})

    subjects = [deed["subject"] for deed in (await alice.get("/admin/audit")).json()["items"]]
    assert subjects[:4] == ["mine", "mine, titles=own_titles", "mine, titles=own_titles", "mine"]
    assert (kept.json()["titles"]["source_table"], removed.json()["titles"]["source_table"]) == ("own_titles", "")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("own_titles", "create it there, or grant SELECT"),
        ("users", "belongs to Feedmill"),
        ("titles", "CREATE VIEW my_titles"),
        ("own titles; DROP TABLE users", "pattern"),
        ("x" * 64, "pattern"),
    ],
)
async def test_a_table_that_cannot_be_read_is_refused_with_its_field(
    alice: Person, mine: PoolGroup, name: str, said: str
) -> None:
    refused = await alice.patch("/pools/mine", {"titles": {"source_table": name}})

    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == "titles.source_table"
    assert said in refused.text


async def test_who_fills_or_takes_names_no_table_and_learns_nothing_of_the_database(
    site: Site, alice: Person, mine: PoolGroup, own_titles: None
) -> None:
    bob = await site.person("bob", scopes=("pools", "fill", "write"))
    for right in PoolRight:
        await grant_access(site.app.db, mine, bob.user, Actor(), NOW, right)
    charlie = await site.person("charlie", scopes=("pools", "write"))

    assert (await bob.patch("/pools/mine", FROM_TABLE)).status_code == 403
    await alice.patch("/pools/mine", FROM_TABLE)
    await site.app.db.exec("DROP TABLE own_titles")

    statuses = [(await each.get("/pools/mine/titles/status")) for each in (alice, bob, charlie)]
    assert "own_titles" in statuses[0].json()["source_problem"]
    assert statuses[1].json()["source_problem"] is None
    assert statuses[2].status_code == 404
    assert (await site.app.pools.status("mine", PoolKind.CONTENTS)).source_problem is None
