"""The contract of the database, the schema, search and the databases of all releases, on PostgreSQL 17."""

import os
import subprocess
import sys
from pathlib import Path

from tests.services.server import Service

ROOT = Path(__file__).parents[2]
SUITES = [
    "tests/contracts/test_database.py",
    "tests/store/test_migrations.py",
    "tests/store/search/test_find_entries.py",
    "tests/releases",
]


def test_the_store_works_on_postgresql_17(later_postgres_service: Service) -> None:
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "postgresql", *SUITES]

    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**env, "FEEDMILL_TEST_POSTGRES_URL": later_postgres_service.url},
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stdout[-5000:]
    assert later_postgres_service.version.startswith("17.")
