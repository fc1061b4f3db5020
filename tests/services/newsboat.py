"""The terminal reader newsboat: Debian's own, and that of a later Debian, which knows `freshrss`."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.services import later_debian
from tests.services.server import ServiceMissing, find_binary


@dataclass(frozen=True)
class Newsboat:
    """The command that starts it; its files are in the home directory."""

    command: list[str]
    version: str
    name: str = "newsboat"


@contextmanager
def installed_newsboat() -> Iterator[Newsboat]:
    find_binary("tmux")
    yield _newsboat([find_binary("newsboat")])


@contextmanager
def later_newsboat() -> Iterator[Newsboat]:
    find_binary("tmux")
    yield _newsboat(later_debian.command_of("newsboat", "newsboat"))


def _newsboat(command: list[str]) -> Newsboat:
    told = subprocess.run([*command, "--version"], capture_output=True, text=True)
    version = re.search(r"\d+\.\d+", told.stdout)
    if told.returncode != 0 or version is None:
        raise ServiceMissing(f"{command!r} does not start: {told.stdout[-500:]}{told.stderr[-500:]}")
    return Newsboat(command, version[0])


if __name__ == "__main__":
    try:
        with later_newsboat():
            pass
    except ServiceMissing as missing:
        sys.exit(str(missing))
