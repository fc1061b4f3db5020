"""docs/architecture.md describes every folder, and names none that is not there."""

import re
from itertools import takewhile
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, blocks

SOURCE = ROOT / "src" / "feedmill"
PAGE = (ROOT / "docs" / "architecture.md").read_text()
TREE = next(block.text for block in blocks(PAGE) if block.text.startswith("src/feedmill/"))
# Folders whose own folders are described with them.
WITH_PARTS = (
    *("store", "store/entries", "library", "library/users", "collect", "archive", "cli", "i18n", "model"),
    *("serve", "serve/http", "serve/rest", "serve/web"),
)
NOUN_LAYERS = ("store", "library", "serve/rest", "serve/web")
NOT_NOUNS = {"core", "drivers", "migrations", "schema", "sidebar", "static"}

_NAME = re.compile(r"[a-z_]\w*(?=/|\.py\b)")


def folders_in(folder: Path) -> set[str]:
    """Those that hold a file; what a renamed folder leaves behind is compiled code alone."""
    return {each.name for each in folder.iterdir() if each.is_dir() and _has_files(each)}


def _has_files(folder: Path) -> bool:
    return any(path.is_file() and "__pycache__" not in path.parts for path in folder.rglob("*"))


def section(path: str) -> str:
    """What the tree says of a folder: its line, and those that are indented further."""
    lines = TREE.splitlines()
    for depth, name in enumerate(path.split("/"), 1):
        indent = "  " * depth
        start = next(number for number, line in enumerate(lines) if line.startswith(f"{indent}{name}/"))
        inside = takewhile(lambda line: line.startswith(f"{indent} "), lines[start + 1 :])  # noqa: B023
        lines = [lines[start], *inside]
    return "\n".join(lines)


def test_every_package_and_module_at_the_top_is_described() -> None:
    modules = {path.stem for path in SOURCE.glob("*.py")} - {"__main__"}
    top = "\n".join(line for line in TREE.splitlines() if re.match(r"  \S", line))

    assert modules | folders_in(SOURCE) <= set(_NAME.findall(top))


@pytest.mark.parametrize("path", WITH_PARTS)
def test_every_folder_of_a_layer_is_described(path: str) -> None:
    assert folders_in(SOURCE / path) <= set(_NAME.findall(section(path)))


@pytest.mark.parametrize("path", NOUN_LAYERS)
def test_a_noun_says_what_it_is_about(path: str) -> None:
    described = set(re.findall(r"^\| `(\w+)` \| \S", PAGE, re.MULTILINE))

    assert folders_in(SOURCE / path) - NOT_NOUNS <= described


def test_no_folder_is_described_that_is_not_there() -> None:
    there = {path.name for path in SOURCE.rglob("*") if path.is_dir()}

    assert set(re.findall(r"\b([a-z_]\w*)/", TREE)) - {"feedmill", "src"} - there == {"reference"}


def test_every_folder_with_folders_is_looked_into() -> None:
    packages = {path.parent for path in SOURCE.rglob("*/__init__.py") if path.parent != SOURCE}
    with_parts = {str(package.parent.relative_to(SOURCE)) for package in packages if package.parent != SOURCE}

    assert with_parts - {"collect/parsing"} <= {*WITH_PARTS}
