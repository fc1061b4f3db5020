"""The tutorial, block by block, in a copy of the project: what it shows is what happens."""

import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import LONGEST_COMMAND, environment
from tests.services.server import free_port
from tests.waiting import wait_until

pytestmark = pytest.mark.external

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Walk:
    """Somebody who follows the tutorial, with other ports and a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ports = {"8000": str(free_port()), "8001": str(free_port())}
        self.env = environment() | {"FEEDMILL_PORT": self.ports["8000"]}
        self.running: list[subprocess.Popen[bytes]] = []
        self.said: list[str] = []
        (folder / ".venv" / "bin").mkdir(parents=True)
        (folder / ".venv" / ".run-ready").touch()
        for name in ("feedmill", "python", "uv"):
            (folder / ".venv" / "bin" / name).symlink_to(Path(sys.executable).parent / name)
        for name in ("Makefile", "pyproject.toml", "requirements.lock", "requirements-build.lock"):
            shutil.copy2(ROOT / name, folder)
        shutil.copytree(ROOT / "examples", folder / "examples")
        os.utime(folder / ".venv" / ".run-ready")

    def follow(self, kind: str, block: str) -> None:
        for port, ours in self.ports.items():
            block = block.replace(f"127.0.0.1:{port}", f"127.0.0.1:{ours}").replace(f" {port} ", f" {ours} ")
        if "make run" in block or block.rstrip().endswith("&"):
            self.begin(block.rstrip().removesuffix("&"))
        elif kind == "python":
            self.run([sys.executable, "-c", block])
        else:
            self.run(["bash", "-e", "-c", f"shopt -s expand_aliases\nalias feedmill=.venv/bin/feedmill\n{block}\nenv"])

    def begin(self, command: str) -> None:
        """Leaves a server running, in a terminal of its own."""
        started = subprocess.Popen(["bash", "-c", command], cwd=self.folder, env=self.env, start_new_session=True)
        self.running.append(started)
        port = self.ports["8000" if "make run" in command else "8001"]
        wait_until(lambda: _answers(f"http://127.0.0.1:{port}/"), otherwise=f"{command} does not answer")

    def run(self, command: list[str]) -> None:
        done = subprocess.run(
            command, cwd=self.folder, env=self.env, capture_output=True, text=True, timeout=LONGEST_COMMAND
        )
        assert done.returncode == 0, done.stdout + done.stderr
        self.said.append(done.stdout)
        # What a block exports is there for the next one, as in a terminal.
        self.env |= dict(re.findall(r"^(KEY)=(.*)$", done.stdout, re.MULTILINE))

    def end(self) -> None:
        for process in self.running:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(LONGEST_COMMAND)


def _answers(url: str) -> bool:
    try:
        urllib.request.urlopen(url, timeout=5).close()
    except OSError:
        return False
    return True


@pytest.fixture
def walk(tmp_path: Path) -> Iterator[Walk]:
    walk = Walk(tmp_path)
    yield walk
    walk.end()


def test_every_block_does_what_it_says(walk: Walk) -> None:
    page = (ROOT / "docs" / "tutorial.md").read_text()

    for kind, block in BLOCK.findall(page):
        walk.follow(kind, block)

    said = "\n".join(walk.said)
    assert "Notes from the weir" in said
    assert "starred: 水车又转起来了" in said
    assert re.search(r"^\d+ The herons are back$", said, re.MULTILINE)
    assert (walk.folder / "copy").is_dir()
