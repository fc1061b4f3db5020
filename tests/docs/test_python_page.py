"""The page on the Python library: its example does what it shows, and its tables name every field."""

import contextlib
import io
import re
from inspect import signature

import pytest
from msgspec import Struct

import feedmill
from feedmill import Chapter, Enclosure, ParsedEntry, ParsedFeed
from tests.docs.pages import ROOT, blocks

PAGE = (ROOT / "docs" / "reference" / "python.md").read_text()
ROW = re.compile(r"^\| `(\w+)` \| `(.+?)` \| ", re.MULTILINE)


def test_the_example_prints_what_the_page_shows() -> None:
    example, shown = list(blocks(PAGE))[:2]
    printed = io.StringIO()

    with contextlib.redirect_stdout(printed):
        exec(compile(example.text, "docs/reference/python.md", "exec"), {})  # our own page

    assert (example.language, shown.language) == ("python", "text")
    assert printed.getvalue() == shown.text


@pytest.mark.parametrize("struct", [ParsedFeed, ParsedEntry, Enclosure, Chapter], ids=lambda struct: struct.__name__)
def test_every_field_is_in_its_table_with_its_type(struct: type[Struct]) -> None:
    section = PAGE.partition(f"## `{struct.__name__}`\n")[2].partition("\n## ")[0]

    named = {name: kind.replace("\\|", "|") for name, kind in ROW.findall(section)}

    assert named == {name: written(kind) for name, kind in struct.__annotations__.items()}


@pytest.mark.parametrize("name", ["parse_feed", "sanitize_html"])
def test_signatures_are_those_of_the_code(name: str) -> None:
    section = PAGE.partition(f"## `{name}`\n")[2]

    assert next(blocks(section)).text == f"{name}{written(signature(getattr(feedmill, name)))}\n"


def test_every_public_name_has_its_section() -> None:
    names = [name for name in feedmill.__all__ if not name.startswith("__")]

    assert [name for name in names if f"\n## `{name}`\n" not in PAGE] == []


def written(value: object) -> str:
    """A type or a signature as a person writes it: names without their modules."""
    text = value.__name__ if isinstance(value, type) and "[" not in str(value) else str(value)
    return re.sub(r"\b(?:\w+\.)+(?=\w)", "", text)
