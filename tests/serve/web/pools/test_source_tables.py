"""The page of a group names its source table, and says what is wrong with it."""

import re

import pytest

from feedmill.model.pool import PoolKind, PoolRule
from tests.serve.rest.site import Site
from tests.serve.web.valid_forms import GROUP
from tests.serve.web.visitor import Visitor, text_of


@pytest.fixture
async def mine(site: Site, alice: Visitor) -> str:
    """A group, and a table for it; the path of its page."""
    await site.app.db.exec("CREATE TABLE own_titles (id INTEGER PRIMARY KEY, title TEXT)")
    await site.app.db.exec("INSERT INTO own_titles VALUES (1, 'one')")
    group = await site.app.pools.create("mine", PoolRule(no_entries=True))
    return f"/pools/{group.id}"


async def test_a_table_is_named_shown_and_removed(site: Site, alice: Visitor, mine: str) -> None:
    await alice.send(mine, **GROUP | {"name": "mine", "titles_source_table": " own_titles "})
    await site.app.pools.maintainer.run_once()
    titles, contents = (await alice.see("/pools")).xpath("//article[contains(@class, 'pool')]")

    assert (await alice.see(mine)).xpath("//input[@name='titles_source_table']/@value") == ["own_titles"]
    assert "Texts from the tableown_titles" in text_of(titles)
    assert "Last text of a programtable own_titles" in text_of(titles)
    assert "Texts from the table" not in text_of(contents)

    await alice.send(mine, **GROUP | {"name": "mine", "titles_source_table": ""})
    assert (await site.app.pools.group("mine")).options(PoolKind.TITLES).source_table == ""


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("own titles", "letters, digits and _"),
        ("own_contents", "there is no table or view own_contents"),
        ("entries", "belongs to Feedmill"),
    ],
)
async def test_a_table_that_cannot_be_read_is_reported_next_to_its_field(
    alice: Visitor, mine: str, name: str, said: str
) -> None:
    answers = [
        await alice.send(mine, **GROUP | {"name": "mine", "titles_source_table": name}),
        await alice.send("/pools/new", name="other", titles_source_table=name),
    ]

    for answer in answers:
        assert answer.status_code == 422
        assert re.search(r'id="f-titles_source_table"[^>]* aria-invalid="true"', answer.text)
        assert said in answer.text


async def test_a_table_that_is_gone_is_told_to_admins(site: Site, alice: Visitor, charlie: Visitor, mine: str) -> None:
    await alice.send(mine, **GROUP | {"name": "mine", "titles_source_table": "own_titles"})
    await alice.send(f"{mine}/grants", taker="charlie", right="take")
    await site.app.db.exec("DROP TABLE own_titles")

    seen = [text_of(await each.see("/pools")) for each in (alice, charlie)]

    assert ["own_titles" in page for page in seen] == [True, False]
    assert "table can’t be read" in seen[0]
