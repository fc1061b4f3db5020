"""The reference pages say what the code says."""

import subprocess
import sys
from pathlib import Path

import pytest

from feedmill.cli import COMMANDS
from feedmill.settings import PREFIX, Settings

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"


@pytest.mark.parametrize("name", Settings.model_fields)
def test_every_setting_is_in_the_reference(name: str) -> None:
    page = (REFERENCE / "settings.md").read_text()

    section = page.partition(f"## `{name}`\n")[2].partition("\n## ")[0]

    assert str(Settings.model_fields[name].description) in section
    assert f"`{PREFIX}{name.upper()}`" in section
    assert "Default: " in section


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_in_the_reference(name: str) -> None:
    assert f"## `feedmill {name}`\n" in (REFERENCE / "commands.md").read_text()


def test_the_pages_made_from_the_code_are_up_to_date() -> None:
    tool = [sys.executable, ROOT / "tools" / "write-reference", "--check"]

    done = subprocess.run(tool, capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, "")
