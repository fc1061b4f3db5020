"""A machine with an empty Debian and an ordinary user, who types commands; a container in which nothing runs."""

import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.deploy.wheel import ROOT
from tests.services.containers import CERTIFICATES, DEBIAN_IMAGE, Container, Engine
from tests.services.server import free_port

USER = "alice"
PASSWORD = "correct horse battery"
SERVE = "feedmill serve\n"
# Where our package lies, and which version of each library is installed. uv would keep the first answer for upgrades,
# so it finds the newest in the folder.
INSTALLERS = {"PIP_CONSTRAINT": "/wheels/constraints.txt", "UV_FIND_LINKS": "/wheels", "UV_SYSTEM_CERTS": "1"}
_LOCKED = re.compile(r"^(\S+==\S+)( ;[^\\\n]+)?", re.MULTILINE)


@dataclass
class DebianMachine:
    """`folder` has what the test can see of it: the homes, the wheels and what servers have printed."""

    container: Container
    folder: Path
    port: int
    seconds: dict[str, float] = field(default_factory=dict)
    _server: subprocess.Popen[bytes] | None = None

    @property
    def home(self) -> Path:
        """The user's home, as the test sees it."""
        return self.folder / "home" / USER

    def offer(self, wheel: Path) -> None:
        """From now on the installers take `feedmill` from this file."""
        offered = self.folder / "wheels" / wheel.name
        offered.write_bytes(wheel.read_bytes())
        locked = ("".join(line) for line in _LOCKED.findall((ROOT / "requirements-all.lock").read_text()))
        lines = [f"feedmill @ file:///wheels/{wheel.name}", *locked]
        (self.folder / "wheels" / "constraints.txt").write_text("\n".join(lines))

    def type(self, script: str) -> str:
        """Runs the lines as the user does after signing in; what they print. A server in the last line goes on."""
        printed = self._exec(USER, script.removesuffix(SERVE))
        if script.endswith(SERVE):
            self._start_server()
        return printed

    def type_as_root(self, script: str) -> str:
        return self._exec("root", script)

    def server_output(self) -> str:
        return (self.folder / "server.log").read_text()

    def stop_server(self) -> int:
        """Sends SIGTERM to the server; its exit status."""
        assert self._server is not None
        self._exec(USER, "kill $(cat .server.pid) && rm .server.pid")
        return self._server.wait()

    def files(self) -> set[str]:
        """Everything that the image does not have, and what was changed of it."""
        changed = self.container.engine.podman("diff", self.container.identity).splitlines()
        homes = {f"/home/{path.relative_to(self.folder / 'home')}" for path in (self.folder / "home").rglob("*")}
        return {line.split(maxsplit=1)[1] for line in changed} | homes

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - began

    def _exec(self, user: str, script: str) -> str:
        words = ("exec", "--interactive", "--user", user, self.container.identity, "bash", "-e", "-l", "-c")
        return self.container.engine.podman(*words, f"cd\n{script}", typed=f"{PASSWORD}\n" * 2)

    def _start_server(self) -> None:
        script = f"cd; echo $$ >.server.pid; exec {SERVE}"
        words = ("exec", "--user", USER, self.container.identity, "bash", "-l", "-c", script)
        with (self.folder / "server.log").open("wb") as log:
            self._server = subprocess.Popen(
                self.container.engine.podman_command(*words), stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )


@contextmanager
def debian_machine(engine: Engine, folder: Path, **settings: str) -> Iterator[DebianMachine]:
    """A new machine, on whose loopback is what is on ours; the settings are in its environment."""
    port = free_port()
    for name in ("home", "wheels"):
        (folder / name).mkdir()
    given = {"FEEDMILL_PORT": str(port), **settings, **INSTALLERS}
    container = engine.start_machine(
        *(f"--env={name}={value}" for name, value in given.items()),
        *(f"--volume={folder / name}:/{name}" for name in ("home", "wheels")),
        *("--volume", CERTIFICATES, DEBIAN_IMAGE),
    )
    machine = DebianMachine(container, folder, port)
    try:
        container.run("useradd", "--create-home", "--shell", "/bin/bash", USER)
        yield machine
    finally:
        container.remove()
