"""Programs of a later Debian than the machine's, unpacked aside with their own loader and libraries.

Packages come from the archive that the machine's own apt uses; its address is asked for each time and kept nowhere.
"""

import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.services.server import ServiceMissing, find_binary

RELEASE = "trixie"
# The one after it.
NEXT_RELEASE = "forky"
# In the environment, which git ignores and `make clean` removes.
UNPACKED = Path(sys.prefix) / "debian"


def command_of(package: str, program: str) -> list[str]:
    """The command of a program in a package of the later Debian; downloads the package the first time."""
    root = UNPACKED / RELEASE / package
    if not root.exists():
        _unpack(package, RELEASE, root)
    return [*_loader(root), str(root / "usr" / "bin" / program)]


def scripts_of(package: str, folder: str, release: str = RELEASE) -> Path:
    """A folder of a package with a script in place of each program, for programs that start each other."""
    root = UNPACKED / release / package
    if not root.exists():
        _unpack(package, release, root, folder)
    return root / folder


def _replace_by_scripts(unpacked: Path, folder: str, root: Path) -> None:
    """Moves the programs aside. A script starts one under its own name, by which the program finds its other files.

    Started by a link, as in an environment of Python, the program gets the name of the link.
    """
    scripts, programs = unpacked / folder, unpacked / "programs"
    scripts.rename(programs)
    scripts.mkdir()
    loader, *options = [part.replace(str(unpacked), str(root)) for part in _loader(unpacked)]
    for name in sorted(path.name for path in programs.iterdir()):
        command = shlex.join([*options, str(root / "programs" / name)])
        (scripts / name).write_text(f'#!/bin/sh\nexec {shlex.quote(loader)} --argv0 "$0" {command} "$@"\n')
        (scripts / name).chmod(0o755)


def _loader(root: Path) -> list[str]:
    """The command that starts a program with the libraries of the later Debian."""
    libraries = next(root.glob("usr/lib/*-linux-gnu*"))
    return [str(next(libraries.glob("ld-linux*.so.*"))), "--library-path", str(libraries)]


def _unpack(package: str, release: str, root: Path, scripts: str = "") -> None:
    """Unpacks the package and all that it depends on; the folder appears at once and complete.

    The programs in the folder `scripts` are replaced by scripts.
    """
    find_binary("apt-get")
    root.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="feedmill-apt-") as apt:
        archives = _download(package, release, Path(apt))
        unfinished = Path(tempfile.mkdtemp(dir=root.parent))
        try:
            for archive in archives:
                run(["dpkg-deb", "--extract", str(archive), str(unfinished)])
            if scripts:
                _replace_by_scripts(unfinished, scripts, root)
            # Servers run as another user than the one who unpacks.
            unfinished.chmod(0o755)
            rename_unless_there(unfinished, root)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)


def _download(package: str, release: str, apt: Path) -> list[Path]:
    """Downloads the package and its dependencies, as for a machine on which nothing is installed."""
    (apt / "sources.list").write_text(f"deb {archive_url()} {release} main\n")
    (apt / "status").touch()
    for folder in ("state/lists/partial", "cache/archives/partial"):
        (apt / folder).mkdir(parents=True)
    options = {
        "Dir::Etc::SourceList": apt / "sources.list",
        "Dir::Etc::SourceParts": "/dev/null",
        "Dir::Etc::PreferencesParts": "/dev/null",
        "Dir::State": apt / "state",
        "Dir::State::status": apt / "status",
        "Dir::Cache": apt / "cache",
        "Acquire::Languages": "none",
        # Root's own folder is closed to apt's user.
        "APT::Sandbox::User": "root",
    }
    apt_get = ["apt-get", "-qq", *(f"-o{name}={value}" for name, value in options.items())]
    run([*apt_get, "update"])
    run([*apt_get, "--yes", "--no-install-recommends", "--download-only", "install", package])
    return sorted((apt / "cache" / "archives").glob("*.deb"))


def archive_url() -> str:
    """The address at which the machine's own apt finds Debian."""
    own_release = platform.freedesktop_os_release().get("VERSION_CODENAME", "")
    listed = run(["apt-get", "indextargets", "--format", "$(REPO_URI)", f"Release: {own_release}"])
    if not listed.strip():
        raise ServiceMissing(f"apt has no source of Debian's packages for {own_release!r}")
    return listed.split()[0]


def run(command: list[str], typed: str = "") -> str:
    """What a program of the machine prints; `typed` is its input."""
    done = subprocess.run([find_binary(command[0]), *command[1:]], input=typed, capture_output=True, text=True)
    if done.returncode != 0:
        raise ServiceMissing(f"{command[0]} {command[-1]}: {done.stderr[-2000:]}")
    return done.stdout


def rename_unless_there(folder: Path, target: Path) -> None:
    try:
        os.rename(folder, target)
    except OSError:
        # Another worker unpacked the same package meanwhile.
        if not target.exists():
            raise
