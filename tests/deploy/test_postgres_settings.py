"""PostgreSQL takes the settings that docs/running/scale.md recommends."""

import re
from pathlib import Path

import asyncpg

from tests.services.postgres import own_postgres

PAGE = Path(__file__).resolve().parents[2] / "docs" / "running" / "scale.md"


async def test_postgresql_takes_the_recommended_settings() -> None:
    [block] = re.findall(r"```ini\n(.*?)```", PAGE.read_text(), re.DOTALL)
    settings = [line.partition("#")[0].split(" = ") for line in block.splitlines()]

    with own_postgres() as postgres:
        connection = await asyncpg.connect(postgres.service.url)
        for name, value in settings:
            await connection.execute(f"ALTER SYSTEM SET {name} = '{value.strip()}'")
        await connection.execute("SELECT pg_reload_conf()")
        await connection.close()
        refused = await _refused(postgres.service.url, [name for name, _ in settings])

    assert len(settings) == 3
    assert refused == []


async def _refused(url: str, names: list[str]) -> list[str]:
    connection = await asyncpg.connect(url)
    try:
        rows = await connection.fetch(
            "SELECT name FROM pg_file_settings WHERE error IS NOT NULL AND name = ANY($1)", names
        )
        return [row["name"] for row in rows]
    finally:
        await connection.close()
