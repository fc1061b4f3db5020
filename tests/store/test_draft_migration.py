"""`tools/draft-migration` prints the schema in the SQL of each database."""

import subprocess
import sys
from pathlib import Path

import pytest

from feedmill.store.dialect import DIALECTS
from feedmill.store.schema import feeds, subscriptions

pytestmark = pytest.mark.external

TOOL = Path(__file__).parents[2] / "tools" / "draft-migration"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_it_prints_every_table(dialect: str) -> None:
    printed = subprocess.run([sys.executable, TOOL, dialect], capture_output=True, text=True, check=True).stdout

    assert all(f"CREATE TABLE IF NOT EXISTS {table.name} " in printed for table in (feeds, subscriptions))
