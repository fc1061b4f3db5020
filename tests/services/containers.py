"""Real containers: a base made of Debian's packages, an image that buildah builds on it, started by podman."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from tests.services.debian_base import make_archive
from tests.services.later_debian import RELEASE, run
from tests.services.server import ServiceMissing, find_binary, folder

ROOT = Path(__file__).parents[2]
IMAGE = "localhost/feedmill"
# In the place of Docker's own image of Python, which no registry gives us here: the same Python of the same Debian.
PYTHON_IMAGE = "localhost/python"
# A machine on which nothing was installed but Python.
DEBIAN_IMAGE = "localhost/debian"
PACKAGES = ("ca-certificates", "passwd", "python-is-python3", "python3", "python3-venv")
# With an image that is here, the network of this machine, and limits that it allows.
ON_THIS_MACHINE = ("--pull=never", "--network=host", "--ulimit=nofile=16384:16384", "--ulimit=nproc=10000:10000")
# This machine's certificates, for what is downloaded during the build.
CERTIFICATES = "/etc/ssl/certs:/etc/ssl/certs:ro"


@dataclass(frozen=True)
class Engine:
    """Storage of its own for images and containers, and the programs that work on it."""

    storage: Path
    version: str
    name: str = "podman"

    def build(self, *words: str) -> None:
        """Builds the image of Feedmill as its page says, on our base."""
        dockerfile = ROOT / "deploy" / "Dockerfile"
        ignored = ROOT / "deploy" / "Dockerfile.dockerignore"
        self._buildah(
            *("bud", "--quiet", "--format=docker", "--isolation=chroot", "--pull-never", "--volume", CERTIFICATES),
            *("--build-arg", f"PYTHON_IMAGE={PYTHON_IMAGE}", "--tag", IMAGE, *words),
            *("--file", str(dockerfile), "--ignorefile", str(ignored), str(ROOT)),
        )

    def build_from(self, folder: Path, tag: str) -> None:
        """Builds a Dockerfile of the tests."""
        options = ("--quiet", "--format=docker", "--isolation=chroot", "--pull-never")
        self._buildah("bud", *options, f"--tag={tag}", str(folder))

    def import_base(self, archive: Path, image: str) -> None:
        self.podman("import", "--quiet", str(archive), image)

    def start(self, *words: str) -> "Container":
        """Starts a container with the options of `docs/running/embedded.md`, and the network of this machine."""
        locked = ("--read-only", "--tmpfs=/tmp", "--cap-drop=ALL", "--security-opt=no-new-privileges")
        started = self.podman("run", "--detach", *ON_THIS_MACHINE, *locked, *words)
        return Container(self, started.strip())

    def start_machine(self, *words: str) -> "Container":
        """Starts a container in which nothing runs yet, in the place of an empty machine."""
        started = self.podman("run", "--detach", *ON_THIS_MACHINE, *words, "sleep", "infinity")
        return Container(self, started.strip())

    def podman(self, *words: str, typed: str = "") -> str:
        return run(self.podman_command(*words), typed)

    def podman_command(self, *words: str) -> list[str]:
        return ["podman", *self._storage(), "--runtime=runc", "--cgroup-manager=cgroupfs", *words]

    def _buildah(self, *words: str) -> str:
        return run(["buildah", *self._storage(), *words])

    def storage_settings(self) -> str:
        """The same storage as `storage.conf`, for a program that starts podman by itself."""
        places = f'graphroot = "{self.storage / "root"}"\nrunroot = "{self.storage / "run"}"\n'
        return f'[storage]\ndriver = "overlay"\n{places}'

    def _storage(self) -> list[str]:
        places = [f"--root={self.storage / 'root'}", f"--runroot={self.storage / 'run'}"]
        return [*places, "--storage-driver=overlay"]


@dataclass(frozen=True)
class Container:
    engine: Engine
    identity: str

    def run(self, *words: str, typed: str = "") -> str:
        """Runs a command inside; its output."""
        return self.engine.podman("exec", "--interactive", self.identity, *words, typed=typed)

    def fails_to_run(self, *words: str) -> bool:
        return self._fails("exec", self.identity, *words)

    def logs(self) -> str:
        """What it has written, to both of its outputs."""
        command = self.engine.podman_command("logs", self.identity)
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout

    def is_healthy(self) -> bool:
        """Runs the image's own health check."""
        state = self._state()
        if not state["Running"]:
            raise AssertionError(f"it ended with {state['ExitCode']}: {self.logs()[-2000:]}")
        return not self._fails("healthcheck", "run", self.identity)

    def stop(self) -> int:
        """Sends SIGTERM; the exit status of the process, 137 if it had to be killed after 40 seconds."""
        self.engine.podman("stop", "--time=40", self.identity)
        return self.exit_status()

    def kill(self) -> None:
        self.engine.podman("kill", "--signal=KILL", self.identity)
        self.engine.podman("wait", self.identity)

    def exit_status(self) -> int:
        return int(self._state()["ExitCode"])

    def remove(self) -> None:
        self.engine.podman("rm", "--force", "--time=0", self.identity)

    def _state(self) -> dict[str, Any]:
        [about] = json.loads(self.engine.podman("inspect", self.identity))
        return cast(dict[str, Any], about["State"])

    def _fails(self, *words: str) -> bool:
        try:
            self.engine.podman(*words)
        except ServiceMissing:
            return True
        return False


@contextmanager
def running_engine() -> Iterator[Engine]:
    """An engine with the image of Feedmill in it."""
    base = make_base()
    with open_engine() as engine:
        engine.import_base(base, PYTHON_IMAGE)
        engine.build()
        yield engine


@contextmanager
def engine_with_debian() -> Iterator[Engine]:
    """An engine with an image of Debian 12 that has Python and nothing of ours."""
    base = make_debian()
    with open_engine() as engine:
        engine.import_base(base, DEBIAN_IMAGE)
        yield engine


@contextmanager
def open_engine() -> Iterator[Engine]:
    version = run(["podman", "--version"]).split()[-1]
    with folder("containers") as storage:
        engine = Engine(storage, version)
        try:
            yield engine
        finally:
            engine.podman("rm", "--all", "--force", "--time=0")
            engine.podman("rmi", "--all", "--force")


def make_base() -> Path:
    """The file system on which the image of Feedmill is built."""
    _check_tools()
    return make_archive(RELEASE, "python", *PACKAGES)


def make_debian() -> Path:
    """The file system of Debian 12 with what the page on installing the package says first."""
    _check_tools()
    return make_archive("bookworm", "empty", "ca-certificates", "python3", "python3-venv")


def _check_tools() -> None:
    if os.getuid() != 0:
        raise ServiceMissing("containers are tested as root")
    for program in ("buildah", "podman", "runc"):
        find_binary(program)


if __name__ == "__main__":
    try:
        make_base()
        make_debian()
    except ServiceMissing as missing:
        sys.exit(str(missing))
