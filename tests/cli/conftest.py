"""A command line with its own data folder and scripted web."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.cli.command_line import CommandLine
from tests.scripted_web import Web

LOOPBACK = {"allow_private": "127.0.0.0/8", "host_gap": "0"}


@pytest.fixture
async def cli(tmp_path: Path) -> AsyncIterator[CommandLine]:
    async with Web() as web:
        yield CommandLine(tmp_path, web, LOOPBACK)
