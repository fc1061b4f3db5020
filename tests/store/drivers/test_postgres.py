"""Tests for PostgreSQL beyond the contract of all databases."""

from pathlib import Path

import pytest
from sqlalchemy import text

from tests.databases import emptied


@pytest.mark.parametrize(("setting", "value"), [("jit", "off"), ("max_parallel_workers_per_gather", "0")])
async def test_statements_use_no_jit_and_no_parallel_workers(
    request: pytest.FixtureRequest, tmp_path: Path, setting: str, value: str
) -> None:
    async with emptied(request, "postgresql", tmp_path) as db:
        [row] = await db.query(text(f"SHOW {setting}"))

    assert row[setting] == value
