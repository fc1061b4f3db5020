"""The lock files: what is locked stays, until somebody asks for the newest versions."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.deploy.wheel import ROOT, UV

# A version before the one that is locked, of a library that no other one holds back.
OLDER = "arrow==1.3.0"


@pytest.mark.external
def test_an_upgrade_takes_the_newest_versions_and_all_else_keeps_them(tmp_path: Path) -> None:
    for path in (ROOT / "pyproject.toml", *ROOT.glob("requirements*.lock")):
        shutil.copy(path, tmp_path)
    bill = tmp_path / "requirements-bill.lock"
    bill.write_text(re.sub(r"^arrow==\S+", OLDER, bill.read_text(), flags=re.MULTILINE))

    _lock(tmp_path)
    assert OLDER in bill.read_text()
    kept = [path.name for path in ROOT.glob("requirements*.lock") if path.name != bill.name]
    assert [name for name in kept if (tmp_path / name).read_text() != (ROOT / name).read_text()] == []

    _lock(tmp_path, "--upgrade")
    assert OLDER not in bill.read_text()


def _lock(folder: Path, *options: str) -> None:
    subprocess.run([ROOT / "tools" / "lock", UV, *options], cwd=folder, check=True)
