"""Python files and modules that pages, docstrings and comments name exist."""

import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.docs.pages import NAMES, ROOT

FOLDERS = ("src", "tests", "bench", "tools", "examples", "deploy")
SOURCES = sorted(
    path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py") if "node_modules" not in path.parts
)
# What a reader of the tutorial writes.
READERS_OWN = {"read.py"}
# Files that are no modules, and attributes of a client that an example calls `feedmill`.
NO_MODULES = {"toml", "db", "service", "yaml", "entries", "mark", "search", "subscribe"}

_FILE = re.compile(r"(?<![\w/.:*{-])(?:[\w-]+/)*[\w-]+\.py\b")
_MODULE = re.compile(r"(?<![\w./@-])(?:feedmill|tests)(?:\.[a-z_]\w*)+")


def ends_of(path: Path) -> Iterator[str]:
    """The ways to name a file: by its whole path, or by the end of it."""
    parts = path.relative_to(ROOT).parts
    return ("/".join(parts[start:]) for start in range(len(parts)))


FILES = {end for path in SOURCES for end in ends_of(path)} | READERS_OWN


@cache
def is_module(name: str) -> bool:
    """Whether a dotted name is a package, a module, or something in a module."""
    first, *rest = name.split(".")
    place = ROOT / "src" / first if first == "feedmill" else ROOT / first
    while rest and (place / rest[0]).is_dir():
        place /= rest.pop(0)
    if not rest or (place / f"{rest[0]}.py").is_file():
        return True
    return len(rest) == 1 and defines(place / "__init__.py", rest[0])


def defines(path: Path, name: str) -> bool:
    return path.is_file() and re.search(rf"\b{name}\b", path.read_text()) is not None


def missing_in(text: str) -> list[str]:
    files = [name for name in _FILE.findall(text) if name not in FILES]
    modules = [name for name in _MODULE.findall(text) if name.split(".")[1] not in NO_MODULES and not is_module(name)]
    return files + modules


def prose_of(source: str) -> str:
    """The comments and the docstrings of a module."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return "\n".join(
        token.string
        for token in tokens
        if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and token.string.startswith('"""'))
    )


def test_every_file_and_module_that_a_page_names_exists() -> None:
    missing = {page: missing_in((ROOT / page).read_text()) for page in NAMES}

    assert {page: names for page, names in missing.items() if names} == {}


def test_every_file_and_module_that_a_comment_or_docstring_names_exists() -> None:
    sources = {str(path.relative_to(ROOT)): path.read_text() for path in SOURCES}
    # Finding the prose takes long, so first everything is looked at.
    missing = {name: missing_in(prose_of(source)) for name, source in sources.items() if missing_in(source)}

    assert {name: names for name, names in missing.items() if names} == {}


@pytest.mark.parametrize(
    "text", ["see `collect/refrsh.py`", "in feedmill.collect.refrsh", "feedmill.loggers.get_logger"]
)
def test_a_name_that_does_not_exist_is_found(text: str) -> None:
    assert missing_in(text) != []


@pytest.mark.parametrize(
    "text", ["`collect/refresh.py`", "feedmill.collect.refresh", "feedmill.parse_feed", "refresh.py"]
)
def test_a_name_that_exists_is_accepted(text: str) -> None:
    assert missing_in(text) == []
