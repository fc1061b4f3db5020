"""The desktop readers Liferea and RSS Guard, as Debian has them."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.services.server import ServiceMissing, find_binary

SCREEN_AND_BUS = ("Xvfb", "dbus-daemon")


@dataclass(frozen=True)
class DesktopReader:
    name: str
    version: str
    path: str


@contextmanager
def installed_liferea() -> Iterator[DesktopReader]:
    for needed in (*SCREEN_AND_BUS, "gdbus"):
        find_binary(needed)
    yield _installed("Liferea", "liferea")


@contextmanager
def installed_rssguard() -> Iterator[DesktopReader]:
    for needed in (*SCREEN_AND_BUS, "xdotool"):
        find_binary(needed)
    yield _installed("RSS Guard", "rssguard")


def _installed(name: str, package: str) -> DesktopReader:
    """The program, with the version of its package: RSS Guard prints its own only on a screen."""
    path = find_binary(package)
    ask = [find_binary("dpkg-query"), "--show", "--showformat=${Version}", package]
    told = subprocess.run(ask, capture_output=True, text=True)
    version = re.match(r"[\d.]+\d", told.stdout)
    if version is None:
        raise ServiceMissing(f"{path} is not of a Debian package: {told.stderr}")
    return DesktopReader(name, version[0], path)
