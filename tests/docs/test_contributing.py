"""The pages for contributors name files that are there."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, inline_code

PAGES = [*sorted((ROOT / "docs" / "contributing").glob("*.md")), ROOT / "docs" / "glossary.md"]
STARTS = ("src/feedmill", ".")
# Typed in the folder of the project, as these pages do, by somebody whose own Python has none of the libraries.
PLAIN_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
LOAD = "import runpy, sys; sys.path.insert(0, 'tools'); runpy.run_path(sys.argv[1])"

# A path, in whole or with names to be filled in, such as `serve/web/<noun>/<page>.py`.
_PATH = re.compile(r"(?:[\w.<>-]+/)+(?:[\w.<>-]+\.(?:py|html|json|toml|sql|md|css))?|tools/[\w-]+")


def _is_there(path: str) -> bool:
    """The folders before the first name to be filled in count."""
    fixed = path.partition("<")[0]
    fixed = fixed if fixed == path else fixed.rpartition("/")[0]
    return any((ROOT / start / fixed).exists() for start in STARTS)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_path_exists(page: Path) -> None:
    named = [code for code in inline_code(page.read_text()) if _PATH.fullmatch(code) and not code.startswith("/")]

    assert named or page.name == "index.md"
    assert [path for path in named if not _is_there(path)] == []


@pytest.mark.external
def test_the_tools_find_the_libraries_that_they_import() -> None:
    first_lines = {path: path.open().readline() for path in (ROOT / "tools").iterdir() if path.is_file()}
    python = {path: line.removeprefix("#!").split() for path, line in first_lines.items() if "python" in line}

    printed = {path.name: _output_of(*interpreter, "-c", LOAD, str(path)) for path, interpreter in python.items()}

    assert printed == dict.fromkeys(
        ["draft-migration", "draw-demo-pictures", "freeze-release", "screenshots", "write-reference"], ""
    )


@pytest.mark.external
def test_a_tool_is_started_by_its_name() -> None:
    assert "usage: tools/freeze-release VERSION" in _output_of("tools/freeze-release", "--help")


def _output_of(*command: str) -> str:
    done = subprocess.run(
        command, cwd=ROOT, env={"PATH": PLAIN_PATH}, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    return done.stdout
