"""Follows a page as an operator does: block by block, in a folder of its own, on loopback."""

import json
import os
import re
import signal
import subprocess
import sys
import tomllib
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from configparser import ConfigParser
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from tests.cli.command import environment
from tests.docs.pages import Block
from tests.services.server import free_port
from tests.waiting import wait_until

LONGEST_BLOCK = 600
PASSWORD = "correct horse battery"
# Leaves a server running, as in a terminal of its own.
WRAPPER = """#!/bin/bash
case " $* " in *" --help "*) ;; *" serve "*|*" api "*|*" scheduler "*|*" worker "*)
    {command} "$@" </dev/null >>servers.log 2>&1 &
    echo $! >>servers.pids
    exit 0
esac
exec {command} "$@"
"""
PROMPT = "$ "


@dataclass
class PageSetup:
    """What a page takes for granted. `names` are replaced in its blocks; `files` has, by language, the file into which
    a block is written and the command that reads it; `before` prepares for the block with that first line.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    before: Mapping[str, Callable[["Operator"], None]] = field(default_factory=dict)
    keeps_servers: bool = False


class Operator:
    """Somebody who follows a page in a terminal."""

    def __init__(self, folder: Path, setup: PageSetup) -> None:
        self.folder, self.setup = folder, setup
        self.port = free_port()
        bin_folder = folder / "bin"
        bin_folder.mkdir()
        command = Path(sys.executable).parent / "feedmill"
        (bin_folder / "feedmill").write_text(WRAPPER.format(command=command))
        (bin_folder / "feedmill").chmod(0o755)
        loopback = {"allow_private": "127.0.0.0/8", "host_gap": "0", "port": str(self.port)}
        path = os.pathsep.join([str(bin_folder), str(command.parent), os.environ["PATH"]])
        self.env = environment(loopback, PATH=path)
        self.said: list[str] = []

    def follow(self, block: Block) -> None:
        if prepare := self.setup.before.get(first_line(block)):
            prepare(self)
        text = self.rename(block.text)
        if block.language in self.setup.files:
            file, command = self.setup.files[block.language]
            (self.folder / file).parent.mkdir(exist_ok=True)
            (self.folder / file).write_text(text)
            self.run(["bash", "-e", "-c", command])
            (self.folder / file).unlink()
        elif text.startswith(PROMPT):
            self._follow_session(text)
        elif block.language in READERS:
            READERS[block.language](text)
        elif block.language == "python":
            self.run([sys.executable, "-c", text])
        else:
            self.shell(text)
        if not self.setup.keeps_servers:
            self.stop_servers()

    def rename(self, text: str) -> str:
        for name, ours in self.setup.names.items():
            text = text.replace(name, ours)
        return text.replace("127.0.0.1:8000", f"127.0.0.1:{self.port}")

    def shell(self, script: str) -> str:
        """Runs a script; what it exports is there for the next block."""
        done = self.run(["bash", "-e", "-o", "pipefail", "-c", f"{script}\nenv --null >environment"])
        exported = (self.folder / "environment").read_text().split("\0")
        self.env = dict(line.split("=", 1) for line in exported if "=" in line)
        self._wait_for_servers()
        return done

    def add(self, feed_url: str) -> int:
        """Adds a feed; its id."""
        added: dict[str, int] = json.loads(self.run(["feedmill", "add", "--json", "--no-fetch", feed_url]))
        return added["feed_id"]

    def new_key(self) -> str:
        """An API key of Alice's."""
        printed = self.run(["feedmill", "user", "key", "alice", "--for", "the page"])
        [key] = re.findall(r"fm_\S+", printed)
        return str(key)

    def run(self, command: list[str], accepts: Sequence[int] = (0,)) -> str:
        """What a command prints; it is asked for a password."""
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.env,
            capture_output=True,
            text=True,
            input=f"{PASSWORD}\n" * 2,
            timeout=LONGEST_BLOCK,
        )
        assert done.returncode in accepts, f"{command[-1]}\n{done.stdout}{done.stderr}{self._server_log()}"
        self.said.append(done.stdout)
        return done.stdout + done.stderr

    def _follow_session(self, text: str) -> None:
        """Runs the lines after a prompt; the lines below must be in the output, `…` standing for anything."""
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, *shown = part.replace("\\\n", "").splitlines()
            said = self.run(["bash", "-e", "-c", command], accepts=(0, 1) if shown else (0,))
            for line in shown:
                pattern = re.escape(line).replace("…", ".*")
                assert re.search(f"^{pattern}$", said, re.MULTILINE), f"{line!r} is not in {said}"

    def _wait_for_servers(self) -> None:
        if self._pids():
            wait_until(self._answers, otherwise="no server answers; see servers.log")

    def _answers(self) -> bool:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health/live", timeout=5).close()
        except OSError:
            return False
        return True

    def _pids(self) -> list[int]:
        file = self.folder / "servers.pids"
        return [int(line) for line in file.read_text().split()] if file.exists() else []

    def _server_log(self) -> str:
        file = self.folder / "servers.log"
        return file.read_text() if file.exists() else ""

    def stop_servers(self) -> None:
        pids = self._pids()
        for pid in pids:
            os.kill(pid, signal.SIGTERM)
        wait_until(lambda: not any(map(_runs, pids)), otherwise="a server does not stop")
        (self.folder / "servers.pids").unlink(missing_ok=True)


def _runs(pid: int) -> bool:
    """Whether the process is there and has not ended; nobody may have waited for it yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


READERS: dict[str, Callable[[str], object]] = {
    "json": lambda text: [json.loads(line) for line in one_line_each(text)],
    "ini": lambda text: ConfigParser().read_string(text),
    "yaml": yaml.safe_load,
    "toml": tomllib.loads,
    # What a program prints.
    "text": str.strip,
}


def one_line_each(text: str) -> list[str]:
    """JSON objects that begin at the margin, each on one line."""
    return [" ".join(part.split("\n")) for part in re.split(r"\n(?=\{)", text.strip())]


def first_line(block: Block) -> str:
    return block.text.split("\n", 1)[0].split("  ")[0].rstrip()
