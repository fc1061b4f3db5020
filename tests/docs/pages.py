"""The pages that are written for people, and the blocks of code in them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
TOP = ("README.md", "README.zh-CN.md", "CONTRIBUTING.md", "CHANGELOG.md")
PAGES = [*(ROOT / name for name in TOP), *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]

_BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`([^`\n]+)`")


class Block(NamedTuple):
    """A block of code and its language, which may be empty."""

    language: str
    text: str


def blocks(page: str) -> Iterator[Block]:
    for _, language, text in _BLOCK.findall(page):
        yield Block(language, text)


def prose(page: str) -> str:
    """A page without its blocks of code."""
    return _BLOCK.sub("", page)


def inline_code(page: str) -> list[str]:
    return _INLINE.findall(prose(page))
