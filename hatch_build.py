"""Compiles the reader of plain documents beside its source, where Cython, a C compiler and Python's headers are.

Nothing depends on it: where it can't be built, the package is complete and reads feeds at its second-best speed.
"""

import contextlib
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCE = Path("src/feedmill/collect/plain_tree.pyx")
FLAGS = ("-O3", "-fPIC", "-DNDEBUG", "-fstack-protector-strong")


class CompileWhatCanBe(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        source = Path(self.root) / SOURCE
        built = source.with_suffix(sysconfig.get_config_var("EXT_SUFFIX"))
        try:
            compile_extension(source, built)
        except OSError as error:
            self.app.display_warning(f"Feeds will be read without compiled code, which is slower: {error}")
            _remove_if_outdated(built, source)
            return
        if version != "editable":
            build_data.update(pure_python=False, infer_tag=True)
            build_data["artifacts"].append(f"/{built.relative_to(self.root)}")


def compile_extension(source: Path, built: Path) -> None:
    linker = shlex.split(sysconfig.get_config_var("LDSHARED") or "cc -shared")
    compilers = (os.environ.get("CC", ""), linker[0])
    compiler = next((named for named in compilers if shutil.which(named)), "cc")
    headers = f"-I{sysconfig.get_path('include')}"
    fresh = Path(f"{built}.new")
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder, source.name).with_suffix(".c")
        _run(sys.executable, "-m", "cython", "-3", str(source), "-o", str(written))
        _run(compiler, *linker[1:], *FLAGS, headers, str(written), "-o", str(fresh))
    fresh.replace(built)  # at once: a process that starts now finds the old one or the new one whole


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["no reason given"]
        raise OSError(f"{command[0]}: {said[-1]}")


def _remove_if_outdated(built: Path, source: Path) -> None:
    with contextlib.suppress(OSError):
        if built.stat().st_mtime < source.stat().st_mtime:
            built.unlink()
