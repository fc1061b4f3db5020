"""What an adapter brings along is imported only where that adapter is chosen."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

# What each of the adapters stands on that a laptop does not use.
BROUGHT_ALONG = {"asyncmy", "asyncpg", "celery", "kombu", "obstore", "redis"}
EMBEDDED = """
import asyncio, json, sys
from feedmill.app import build_app
from feedmill.cli import serve
from feedmill.settings import load_settings

async def main():
    async with build_app(load_settings(data=sys.argv[1])):
        print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))

asyncio.run(main())
"""

HELP = """
import sys
from feedmill.cli import cli
cli(["--help"], standalone_mode=False)
print({"aiohttp", "sqlalchemy", "fastapi"} & set(sys.modules))
"""


@pytest.mark.external
def test_help_imports_no_command() -> None:
    done = subprocess.run([sys.executable, "-c", HELP], capture_output=True, text=True, check=True)

    assert "serve        Run everything in one process" in done.stdout
    assert done.stdout.endswith("set()\n")


@pytest.mark.external
def test_one_process_on_a_file_imports_no_other_database_queue_or_store(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", EMBEDDED, str(tmp_path)], capture_output=True, text=True, check=True, cwd=tmp_path
    )

    imported = set(json.loads(done.stdout))
    assert "starlette" in imported
    assert imported & BROUGHT_ALONG == set()
