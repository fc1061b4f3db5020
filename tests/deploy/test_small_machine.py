"""`bench/small_machine.py`, whose figures are in `docs/running/raspberry-pi.md`, works with a small library."""

import re
import subprocess
import sys

import pytest

from tests.cli.command import environment
from tests.docs.pages import ROOT

SMALL = ("--cpu", "100", "--feeds", "20", "--entries", "1000", "--minutes", "0.1")


@pytest.mark.drill
@pytest.mark.timeout(600)
def test_no_process_is_killed_with_512_megabytes_and_one_core() -> None:
    command = [sys.executable, str(ROOT / "bench" / "small_machine.py"), *SMALL]

    done = subprocess.run(command, cwd=ROOT, env=environment(PYTHONPATH=str(ROOT)), capture_output=True, text=True)

    assert done.returncode == 0, done.stderr[-3000:]
    assert re.search(r"^processes killed for memory +0$", done.stdout, re.MULTILINE)
    assert re.search(r"^first fetch of all feeds +20 feeds", done.stdout, re.MULTILINE)
