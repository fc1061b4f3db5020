"""Builds the wheel as a release does, and installs it into an environment of its own."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from feedmill import __version__
from feedmill.store.migrations import read_migrations
from tests.cli import command
from tests.cli.command import Server
from tests.services.later_debian import NEXT_RELEASE, scripts_of
from tests.store import next_version

ROOT = Path(__file__).parents[2]
UV = Path(sys.executable).parent / "uv"
LONGEST_COMMAND = 300
# A development version counts as older than its release.
NEXT_VERSION = f"{__version__.partition('.dev')[0]}.post1"
NEXT_SCHEMA = read_migrations("sqlite")[-1].version + 1


@dataclass(frozen=True)
class Installation:
    """An environment with Feedmill in it."""

    environment: Path

    @property
    def packages(self) -> Path:
        [packages] = self.environment.glob("lib/*/site-packages")
        return packages

    def run(self, folder: Path, *words: str, typed: str = "", **env: str) -> subprocess.CompletedProcess[str]:
        """Runs a command in a folder that is also the home of its user."""
        return subprocess.run(
            [self.environment / "bin" / "feedmill", *words],
            cwd=folder,
            env=self._variables(folder, **env),
            input=typed,
            capture_output=True,
            text=True,
            timeout=LONGEST_COMMAND,
        )

    @contextmanager
    def serving(self, folder: Path, **env: str) -> Iterator[Server]:
        """A running `feedmill serve`, started in that folder."""

        def start(*args: str, cwd: Path, streams: tuple[int, int, int], **_: object) -> subprocess.Popen[bytes]:
            program, variables = self.environment / "bin" / "feedmill", self._variables(folder, **env)
            stdin, stdout, stderr = streams
            return subprocess.Popen([program, *args], cwd=cwd, env=variables, stdin=stdin, stdout=stdout, stderr=stderr)

        with command.serving(cwd=folder, start=start) as server:
            yield server

    @contextmanager
    def running(self, folder: Path, *words: str, **env: str) -> Iterator[subprocess.Popen[bytes]]:
        """A command that goes on during the block; what it writes is in the file `log` of the folder."""
        with (folder / "log").open("ab") as log:
            program = self.environment / "bin" / "feedmill"
            process = subprocess.Popen(
                [program, *words], cwd=folder, env=self._variables(folder, **env), stdout=log, stderr=log
            )
        try:
            yield process
        finally:
            process.terminate()
            process.wait(LONGEST_COMMAND)

    def _variables(self, folder: Path, **env: str) -> dict[str, str]:
        ours = {"FEEDMILL_", "PYTHON", "XDG_", "VIRTUAL_ENV"}
        kept = {name: value for name, value in os.environ.items() if not name.startswith(tuple(ours))}
        return {**kept, "HOME": str(folder), **env}


def build_wheel(folder: Path, source: Path = ROOT) -> Path:
    """Builds the source archive, and the wheel from that; both are then in the folder."""
    build = [UV, "build", "--quiet", "--python", sys.executable, "--out-dir", folder]
    subprocess.run([*build, "--build-constraints", ROOT / "requirements-build.lock", source], check=True)
    [wheel] = folder.glob("*.whl")
    return wheel


def build_next_wheel(folder: Path) -> Path:
    """Builds the wheel of a next version, which has one migration more than this one."""
    source = folder / "source"
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "man", source / "man")
    for name in ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"):
        shutil.copy(ROOT / name, source)
    version = source / "src" / "feedmill" / "__init__.py"
    version.write_text(version.read_text().replace(f'"{__version__}"', f'"{NEXT_VERSION}"'))
    migrations = source / "src" / "feedmill" / "store" / "migrations"
    (migrations / f"{NEXT_SCHEMA:04}_{next_version.NAME}.sqlite.sql").write_text(next_version.FILES["sqlite"])
    return build_wheel(folder, source)


def install_wheel(
    wheel: Path, place: Path, python: str = sys.executable, lock: str = "requirements.lock"
) -> Installation:
    """Installs the wheel and the libraries of a lock file, by default those of the core, into a new environment."""
    subprocess.run([UV, "venv", "--quiet", "--python", python, place], check=True)
    install = [UV, "pip", "install", "--quiet", "--python", place / "bin" / "python"]
    subprocess.run([*install, "--require-hashes", "-r", ROOT / lock], check=True)
    subprocess.run([*install, "--no-deps", wheel], check=True)
    return Installation(place)


def find_python(version: str) -> str:
    """The Python of that version: on the path, one that pyenv has installed, or that of a later Debian.

    Raises `ServiceMissing`.
    """
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        return sys.executable
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found = sorted(pyenv.glob(f"versions/{version}.*/bin/python{version}"))
    on_path = shutil.which(f"python{version}", path=_path_without_shims(pyenv))
    if found or on_path:
        return str(found[-1] if found else on_path)
    return str(scripts_of(f"python{version}", "usr/bin", NEXT_RELEASE) / f"python{version}")


def _path_without_shims(pyenv: Path) -> str:
    """A shim exists for versions that are installed but not chosen, and then fails."""
    return os.pathsep.join(folder for folder in os.get_exec_path() if not folder.startswith(str(pyenv)))
