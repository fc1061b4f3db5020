"""`tools/under-load` repeats a command while stress-ng runs, ends at the first failure, and leaves nothing behind."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.tmpfs import skip_or_fail_in_ci
from tests.docs.pages import ROOT

# Writes the ids of the programs that run beside it.
NOTE_PROGRAMS = """
import os, sys
from pathlib import Path
parent = os.getppid()
for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split():
    if int(pid) != os.getpid():
        Path(pid).write_text(Path(f"/proc/{pid}/cmdline").read_text())
with open("runs", "a") as runs:
    runs.write("x")
sys.exit(int(sys.argv[1]))
"""


@pytest.mark.parametrize(("code", "runs"), [(0, "xx"), (3, "x")])
def test_a_command_runs_beside_stress_ng_until_it_fails(tmp_path: Path, code: int, runs: str) -> None:
    if shutil.which("stress-ng") is None:
        skip_or_fail_in_ci("stress-ng is missing")
    command = [ROOT / "tools" / "under-load", "2", sys.executable, "-c", NOTE_PROGRAMS, str(code)]

    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    assert done.returncode == code, done.stderr
    assert (tmp_path / "runs").read_text() == runs
    programs = {path.name: path.read_text() for path in tmp_path.iterdir() if path.name.isdigit()}
    assert [line.startswith("stress-ng") for line in programs.values()] == [True]
    assert [pid for pid in programs if Path("/proc", pid).exists()] == []
