"""Dumps of databases with their schema, as files of some tens of kB: how one is made, and how it is loaded."""

import asyncio
import gzip
import json
import lzma
import subprocess
from collections.abc import AsyncIterator
from glob import glob
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import bindparam, column, select, table, text
from sqlalchemy.sql import Executable

from feedmill.adapters.database import open_database
from feedmill.settings import load_settings
from feedmill.store.database import Database, Step
from feedmill.store.drivers.sqlite import SqliteDatabase
from feedmill.store.schema import metadata
from tests.services.server import find_binary

KINDS = ("sqlite", "postgresql", "mariadb", "d1")
FILES = {"sqlite": "sqlite.db.xz", "postgresql": "postgresql.sql.gz", "mariadb": "mariadb.sql.gz", "d1": "d1.jsonl.gz"}
# Not the tables in which D1 and FTS5 keep their own data.
OBJECTS = text(
    "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND substr(name, 1, 4) <> '_cf_'"
    " AND name NOT LIKE 'sqlite%' AND (name = 'search_index' OR name NOT LIKE 'search_index%')"
)
# As text, because JSON rounds such large numbers; the column makes a number of it again.
SEARCH_TEXTS = "CAST(place AS TEXT) AS place, entry_id, title, author, words"
INDEX_AGAIN = "INSERT INTO search_index(search_index) VALUES ('rebuild')"


async def dump_database(kind: str, settings: dict[str, str], folder: Path) -> None:
    """Writes the dump of a database of that kind into the folder."""
    path, url = folder / FILES[kind], settings["database"]
    match kind:
        case "sqlite":
            await _dump_sqlite(settings, path)
        case "postgresql":
            options = ["--inserts", "--no-owner", "--no-privileges", "--no-comments"]
            dumped = await asyncio.to_thread(_run, [_postgres_program("pg_dump"), *options, url])
            path.write_bytes(gzip.compress(_without_psql_commands(dumped), mtime=0))
        case "mariadb":
            dumped = await asyncio.to_thread(_run, _mariadb("mariadb-dump", url, "--skip-dump-date"))
            path.write_bytes(gzip.compress(dumped, mtime=0))
        case _:
            db = open_database(load_settings(**settings))
            lines = [json.dumps(line, ensure_ascii=False) async for line in _d1_lines(db)]
            await db.close()
            path.write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))


async def load_database(kind: str, settings: dict[str, str], folder: Path) -> None:
    """Loads the dump into a database of that kind without tables."""
    path, url = folder / FILES[kind], settings["database"]
    match kind:
        case "sqlite":
            Path(url.removeprefix("sqlite:///")).write_bytes(lzma.decompress(path.read_bytes()))
        case "postgresql":
            await _exec(settings, gzip.decompress(path.read_bytes()).decode())
        case "mariadb":
            await asyncio.to_thread(_run, _mariadb("mariadb", url), gzip.decompress(path.read_bytes()))
        case _:
            await _load_d1(settings, gzip.decompress(path.read_bytes()).decode())


async def _dump_sqlite(settings: dict[str, str], path: Path) -> None:
    db, copy = open_database(load_settings(**settings)), path.with_suffix("")
    assert isinstance(db, SqliteDatabase)
    await db.backup(copy)
    await db.close()
    path.write_bytes(lzma.compress(copy.read_bytes()))
    copy.unlink()


async def _exec(settings: dict[str, str], sql: str) -> None:
    db = open_database(load_settings(**settings))
    await db.exec(sql)
    await db.close()


def _without_psql_commands(dumped: bytes) -> bytes:
    """Commands such as `\\restrict` are for psql; we send the script to the server."""
    return b"\n".join(line for line in dumped.splitlines() if not line.startswith(b"\\"))


async def _d1_lines(db: Database) -> AsyncIterator[dict[str, Any]]:
    """The tables, then their rows, parents before children, then the search index, other indexes and triggers."""
    objects = await db.query(OBJECTS)
    for row in objects:
        if row["type"] == "table":
            yield {"sql": row["sql"]}
    for name in [*(each.name for each in metadata.sorted_tables), "search_texts"]:
        columns = SEARCH_TEXTS if name == "search_texts" else "*"
        for row in await db.query(select(text(columns)).select_from(table(name))):
            yield {"table": name, "row": dict(row)}
    yield {"sql": INDEX_AGAIN}
    for row in objects:
        if row["type"] != "table":
            yield {"sql": row["sql"]}


async def _load_d1(settings: dict[str, str], lines: str) -> None:
    db = open_database(load_settings(**settings))
    for line in lines.splitlines():
        loaded = json.loads(line)
        if "sql" in loaded:
            await db.exec(loaded["sql"])
        else:
            await db.batch([Step(_insert(loaded["table"], loaded["row"]), loaded["row"])])
    await db.close()


def _insert(name: str, row: dict[str, Any]) -> Executable:
    return table(name, *map(column, row)).insert().values({key: bindparam(key) for key in row})


def _postgres_program(name: str) -> str:
    return find_binary(name, *sorted(glob("/usr/lib/postgresql/*/bin"), reverse=True))


def _mariadb(program: str, url: str, *options: str) -> list[str]:
    parts = urlsplit(url)
    where = [f"--host={parts.hostname}", f"--port={parts.port}", f"--user={parts.username}", "--protocol=tcp"]
    return [find_binary(program), "--no-defaults", *where, *options, parts.path.strip("/")]


def _run(command: list[str], given: bytes = b"") -> bytes:
    return subprocess.run(command, input=given, capture_output=True, check=True).stdout
