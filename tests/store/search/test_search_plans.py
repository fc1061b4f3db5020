"""A search stays fast however many entries there are: the query plans of the databases."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Select, text

from feedmill.model.search_query import And, DateRange, HasLabel, HasState, InFeeds, Not, SearchCondition, TextMatch
from feedmill.store.database import Database, Row, Step
from feedmill.store.migrations import sqlalchemy_dialect
from feedmill.store.schema import feeds
from feedmill.store.search import postgresql
from feedmill.store.search.driving_index import WORDS
from feedmill.store.search.find_entries import StatementKey, keys_by_date, keys_by_rank
from feedmill.store.search.search_dialect import search_dialect
from feedmill.store.search.split_query import ConditionShape, prepare_search
from tests.databases import emptied
from tests.library.small_library import SmallLibrary
from tests.sqlite_template import copy_template
from tests.store.library_rows import ALICE, START, add_analysed_library

SQLITE, POSTGRESQL = search_dialect("sqlite"), search_dialect("postgresql")
PAGE = {"user_id": ALICE, "skipped": 0, "below_second": 2_000_000_000, "below_id": 1}
CAT = TextMatch(("cat",))
BY_WORDS = [
    CAT,
    And((CAT, HasState("unread"), InFeeds((1, 2)))),
    And((CAT, DateRange(since=START))),
    And((CAT, Not(CAT))),
]
NARROW = [HasState("starred"), HasState("later"), InFeeds((1,)), HasLabel((1,))]


@pytest.fixture(params=[False, True])
async def sqlite(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    if request.param:
        await copy_template(tmp_path / "feedmill.db", add_analysed_library)
    async with emptied(request, "sqlite", tmp_path) as database:
        yield database


@pytest.mark.parametrize("is_first", [False, True])
async def test_words_use_their_index_by_date_and_look_up_the_rest(sqlite: Database, is_first: bool) -> None:
    for condition in BY_WORDS:
        question = prepare_search(condition, SQLITE)

        plan = await _plan(
            sqlite,
            keys_by_date(StatementKey(SQLITE, question.match, question.shape, WORDS, 50, is_first=is_first)),
            question.params,
        )

        assert plan[0].startswith("SCAN search_index VIRTUAL TABLE INDEX")
        assert [line for line in plan[1:] if "SCAN" in line and "json_each" not in line] == []
        assert not any("B-TREE" in line for line in plan)


async def test_only_the_newest_matches_are_ranked(sqlite: Database) -> None:
    question = prepare_search(CAT, SQLITE)

    plan = await _plan(
        sqlite,
        keys_by_rank(StatementKey(SQLITE, question.match, question.shape, WORDS, 50, is_first=False)),
        question.params,
    )

    assert sum("B-TREE FOR ORDER BY" in line for line in plan) == 1
    assert plan[-1] == "USE TEMP B-TREE FOR ORDER BY"


async def test_a_narrow_condition_is_the_driving_index(sqlite: Database) -> None:
    for condition in NARROW:
        question = prepare_search(And((CAT, condition)), SQLITE)
        [driving_condition] = question.shape.parts

        plan = await _plan(
            sqlite,
            keys_by_date(StatementKey(SQLITE, question.match, question.shape, driving_condition, 50, is_first=False)),
            question.params,
        )

        assert plan[0].startswith(("SEARCH entries USING", "SEARCH search_texts USING COVERING INDEX"))
        assert [line for line in plan if line in ("SCAN entries", "SCAN search_texts")] == []


@pytest.mark.parametrize("by", [keys_by_date, keys_by_rank])
async def test_postgresql_keeps_one_plan_for_every_word(
    request: pytest.FixtureRequest, tmp_path: Path, by: Callable[[StatementKey], Select[Any]]
) -> None:
    async with emptied(request, "postgresql", tmp_path) as postgres:
        walks, fetches = [], []
        for word in ("cat", "the"):
            question = prepare_search(TextMatch((word,)), POSTGRESQL)
            asked = StatementKey(POSTGRESQL, question.match, question.shape, None, 51, is_first=True)
            fetched = asked._replace(driving_condition=WORDS)
            walks.append(str(await _explain(postgres, "EXPLAIN", by(asked), question.params)))
            fetches.append(str(await _explain(postgres, "EXPLAIN", by(fetched), question.params)))

    # Estimates for a word are not part of the plan, so that it is as good for the next one.
    assert "search_texts_words" not in walks[0]
    assert [walks[0].replace("cat", "the"), fetches[0].replace("cat", "the")] == [walks[1], fetches[1]]


async def test_common_words_that_never_stand_together_are_found_by_the_index(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("RARE", "LOOK", "FEW_SUBSCRIPTIONS"):
        monkeypatch.setattr(postgresql, name, 0)
    both = And((CAT, TextMatch(("dog",))))
    async with emptied(request, "postgresql", tmp_path) as postgres:
        library = SmallLibrary(postgres)
        alice, feed = await library.person(), await library.feed()
        await library.subscribe(alice, feed)
        await library.arrive(feed, *(f"{number} {'dog' if number % 2 else 'cat'}" for number in range(100)))
        await postgres.batch([Step(feeds.update().values(entry_count=100))])

        async def driving_condition(condition: SearchCondition) -> ConditionShape | None:
            search = prepare_search(condition, POSTGRESQL)
            return await POSTGRESQL.choose_driving_condition(postgres, search, alice.id, 50)

        assert await driving_condition(CAT) is None
        assert await driving_condition(both) == WORDS
        await library.arrive(feed, "cat and dog")
        assert await driving_condition(both) is None


async def _plan(db: Database, statement: Select[Any], params: dict[str, Any]) -> list[str]:
    return [row["detail"] for row in await _explain(db, "EXPLAIN QUERY PLAN", statement, params)]


async def _explain(db: Database, how: str, statement: Select[Any], params: dict[str, Any]) -> list[Row]:
    compiled = statement.params(params | PAGE).compile(
        dialect=sqlalchemy_dialect(db.dialect_name), compile_kwargs={"literal_binds": True}
    )
    return await db.query(text(f"{how} {compiled}".replace(":", "\\:")))
