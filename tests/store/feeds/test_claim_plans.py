"""Claims are taken, renewed and released by the ids of the feeds, however many there are: the plans of MariaDB."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy.sql.dml import Update

from feedmill.model.timestamps import to_iso
from feedmill.store.database import Step
from feedmill.store.dialect import as_list, insert
from feedmill.store.drivers.mysql import MysqlDatabase
from feedmill.store.feeds import claims
from feedmill.store.schema import feeds
from tests.databases import emptied
from tests.library.small_library import HOUR, NOW

FEEDS = 10_000
ADD = insert(feeds, "url", "host", "next_fetch_at", "created_at")
PARAMS = {
    "token": "token",
    "old": "former",
    "now": to_iso(NOW),
    "until": to_iso(NOW + HOUR),
}


@pytest.fixture
async def mariadb(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[MysqlDatabase]:
    async with emptied(request, "mariadb", tmp_path) as database:
        assert isinstance(database, MysqlDatabase)
        same = {"host": "example.org", "next_fetch_at": to_iso(NOW), "created_at": to_iso(NOW)}
        await database.batch([Step(ADD, [{"url": f"https://example.org/{n}", **same} for n in range(FEEDS)])])
        await database.exec("ANALYZE TABLE feeds")
        yield database


async def test_no_statement_of_claims_reads_all_feeds(mariadb: MysqlDatabase) -> None:
    [newest] = await mariadb.query(feeds.select().order_by(feeds.c.id.desc()).limit(1))
    params = PARAMS | {"ids": as_list([newest["id"] - number for number in range(50)])}
    statements = (claims.TAKE, claims.TAKE_DUE, claims.TAKE_OVER, claims.RENEW, claims.RELEASE)

    plans = [await explain(mariadb, statement, params) for statement in statements]

    assert plans == [["range"]] * len(statements)


async def explain(db: MysqlDatabase, update: Update, params: dict[str, str]) -> list[str]:
    """How MariaDB finds the rows of feeds."""
    compiled = db._compile(update)
    rows = await db._fetch(f"EXPLAIN {compiled.sql}", compiled.values(params))
    return [row["type"] for row in rows if row["table"] == "feeds"]
