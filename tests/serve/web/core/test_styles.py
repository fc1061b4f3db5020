"""Stylesheets: each class is defined in one file, and every class is used."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from feedmill.serve.web.core import assets

WEB = Path(assets.__file__).parent
SHEETS = sorted((WEB / "static" / "css").glob("*.css"))
# Class names with computed parts: a folder's depth, a feed's colour, the heat of an hour, a feed's state.
MADE = re.compile(r"d[1-7]|h[0-7]|heat[0-4]|is-(healthy|failing|broken|gone|stopped)")

_COMMENT = re.compile(r"/\*.*?\*/", re.S)
_BLOCK = re.compile(r"@[^{}]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")
_RULE = re.compile(r"([^{}]+)\{")
_CLASS = re.compile(r"\.([a-z][\w-]*)", re.I)
_WORD = re.compile(r"[\w-]+")
_QUOTED = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|`[^`]*`")


def selectors(css: str) -> Iterator[str]:
    for rule in _RULE.findall(css):
        yield from (each.strip() for each in rule.split(","))


def test_every_class_in_the_stylesheets_is_used_by_a_page() -> None:
    templates = "".join(path.read_text() for path in (WEB / "templates").rglob("*.html"))
    code = "".join(path.read_text() for path in [*WEB.rglob("*.py"), *(WEB / "static").rglob("*.js")])
    used = set(_WORD.findall(templates)) | set(_WORD.findall(" ".join(_QUOTED.findall(code))))

    styled = {name for path in SHEETS for name in _CLASS.findall(_without_comments(path))}

    assert {name for name in styled - used if not MADE.fullmatch(name)} == set()


def test_each_class_is_defined_in_one_file() -> None:
    """Rules for small screens may be in a file of their own."""
    files = Counter(
        each
        for path in SHEETS
        for each in {each for each in selectors(_BLOCK.sub("", _without_comments(path))) if each.startswith(".")}
    )

    assert [each for each, n in files.items() if n > 1] == []


def _without_comments(path: Path) -> str:
    return _COMMENT.sub("", path.read_text())
