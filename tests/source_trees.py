"""Syntax trees of the product's modules, for tests of the source."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import feedmill

SOURCE = Path(feedmill.__file__).parent


class SourceTree(NamedTuple):
    """`name` is the path below `feedmill`."""

    name: str
    tree: ast.Module


def trees_with(*texts: str) -> Iterator[SourceTree]:
    """The modules that contain one of these texts; parsing all of them takes a second."""
    for path in sorted(SOURCE.rglob("*.py")):
        source = path.read_text()
        if any(text in source for text in texts):
            yield SourceTree(path.relative_to(SOURCE).as_posix(), ast.parse(source))
