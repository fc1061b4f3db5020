"""`tools/draft-migration` prints what the next migration of each database needs."""

import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from feedmill.store.dialect import DIALECTS
from feedmill.store.migrations import read_migration

TOOL = Path(__file__).parents[2] / "tools" / "draft-migration"


@pytest.fixture
def tool() -> dict[str, Any]:
    """The functions of the tool, which share one namespace."""
    functions: dict[str, Any] = runpy.run_path(str(TOOL))["draft"].__globals__
    return functions


@pytest.mark.parametrize("dialect", DIALECTS)
def test_without_a_release_it_prints_every_table(tool: dict[str, Any], dialect: str) -> None:
    tool["is_released"] = lambda: False

    printed = "\n".join(tool["draft"](dialect))

    assert [name for name in ("feeds", "subscriptions") if f"CREATE TABLE IF NOT EXISTS {name} " not in printed] == []


@pytest.mark.parametrize("dialect", DIALECTS)
def test_after_a_release_it_prints_what_the_migrations_lack(tool: dict[str, Any], dialect: str) -> None:
    there = tool["migrated_schema"](dialect)
    there["feeds"][0].remove("language")
    there["entries"][0].add("mood")
    there["entries"][1].clear()
    del there["webhooks"]
    tool["is_released"], tool["migrated_schema"] = lambda: True, lambda _: there

    printed = list(tool["draft"](dialect))

    assert sum(line.startswith("ALTER TABLE feeds ADD COLUMN language ") for line in printed) == 1
    assert sum(line.startswith("CREATE TABLE IF NOT EXISTS webhooks ") for line in printed) == 1
    assert any(line.startswith("CREATE INDEX IF NOT EXISTS entries_") for line in printed)
    assert [line for line in printed if line.startswith("--")] == [
        "-- the code no longer has the column entries.mood: ALTER TABLE entries DROP COLUMN mood"
    ]


def test_a_migration_that_was_drafted_for_sqlite_is_still_printed_for_the_others(tool: dict[str, Any]) -> None:
    read = tool["read_migrations"]
    drafted = read_migration("9999_moods", "ALTER TABLE entries ADD COLUMN mood INTEGER;\n")
    # The shell has made the file of the second one before the tool writes to it.
    drafts = {"sqlite": drafted, "postgresql": drafted._replace(statements=()), "mysql": None}
    tool["read_migrations"] = lambda dialect: (*read(dialect), *filter(None, [drafts[dialect]]))

    columns = {dialect: tool["migrated_schema"](dialect)["entries"][0] for dialect in drafts}

    assert ["mood" in columns[dialect] for dialect in drafts] == [True, False, False]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_it_prints_nothing_if_the_migrations_make_the_schema(tool: dict[str, Any], dialect: str) -> None:
    tool["is_released"] = lambda: True

    assert list(tool["draft"](dialect)) == []


@pytest.mark.external
def test_it_runs_as_a_command() -> None:
    done = subprocess.run([sys.executable, TOOL, "sqlite"], capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, "")
