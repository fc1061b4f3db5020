"""Compiles the reader of plain documents beside its source, where Cython, a C compiler and Python's headers are.

Nothing depends on it: where it can't be built, the package is complete and reads feeds at its second-best speed.
"""

import os
import shlex
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCE = Path("src/feedmill/collect/plain_tree.pyx")


class CompileWhatCanBe(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        source = Path(self.root) / SOURCE
        built = source.with_suffix(sysconfig.get_config_var("EXT_SUFFIX"))
        built.unlink(missing_ok=True)
        try:
            compile_extension(source, built)
        except (OSError, subprocess.CalledProcessError) as error:
            self.app.display_warning(f"Feeds will be read without compiled code, which is slower: {error}")
            return
        if version != "editable":
            build_data.update(pure_python=False, infer_tag=True)
            build_data["artifacts"].append(f"/{built.relative_to(self.root)}")


def compile_extension(source: Path, built: Path) -> None:
    linker = shlex.split(sysconfig.get_config_var("LDSHARED") or "cc -shared")
    compiler = shlex.split(os.environ.get("CC", "")) or linker[:1]
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder, source.name).with_suffix(".c")
        _run(sys.executable, "-m", "cython", "-3", str(source), "-o", str(written))
        headers = sysconfig.get_path("include")
        _run(*compiler, *linker[1:], "-O3", "-fPIC", f"-I{headers}", str(written), "-o", str(built))


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603
