"""The npm package google-reader-api, a client library of the Google Reader API, in a process of node."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.services.node import Node, install_package, locked_version
from tests.services.server import ServiceMissing, end

HERE = Path(__file__).parent / "google-reader-api"
PACKAGE = "google-reader-api"


class LibraryError(Exception):
    """A method of the library has thrown."""


@dataclass(frozen=True)
class GoogleReaderLibrary:
    """A client of the library that has the account of one user."""

    process: "subprocess.Popen[str]"
    called: set[str] = field(default_factory=set)

    def methods(self) -> set[str]:
        """The names of all methods that it has."""
        return set(self._ask({"list": True}))

    def call(self, method: str, *args: Any) -> Any:
        """The result of one of its methods; raises `LibraryError`."""
        self.called.add(method)
        return self._ask({"method": method, "args": args})

    def _ask(self, question: dict[str, Any]) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise LibraryError(answer["error"])
        return answer["result"]


@contextmanager
def google_reader_library(url: str, name: str, password: str, log: Path) -> Iterator[GoogleReaderLibrary]:
    """The library with this account; `url` is the address that ends before `/accounts/ClientLogin`."""
    command = [*install().node, str(HERE / "call.mjs"), url, name, password]
    with log.open("w") as written:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=written,
            text=True,
            encoding="utf-8",
            start_new_session=True,
        )
    try:
        yield GoogleReaderLibrary(process)
    finally:
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        end(process)


def install() -> Node:
    """Installs the library in the version of its lock file, unless it is installed."""
    return install_package(HERE, PACKAGE)


def version() -> str:
    return locked_version(HERE, PACKAGE)


if __name__ == "__main__":
    try:
        install()
    except ServiceMissing as missing:
        sys.exit(str(missing))
