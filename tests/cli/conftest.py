"""A mill for commands that work on feeds."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.cli.mill import Mill
from tests.www import Web

LOOPBACK = {"allow_private": "127.0.0.0/8", "host_gap": "0"}


@pytest.fixture
async def mill(tmp_path: Path) -> AsyncIterator[Mill]:
    async with Web() as web:
        yield Mill(tmp_path, web, LOOPBACK)
