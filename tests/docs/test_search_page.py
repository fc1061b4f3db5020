"""Every example of the page on searching is understood, and none of the language is missing there."""

import re
from datetime import UTC, datetime
from typing import get_args

from feedmill.library.search_language import parse
from feedmill.library.search_names import OwnNames
from feedmill.library.search_tokens import FIELDS, SCOPES, cut
from feedmill.model.search import MediaName, StateName
from tests.docs.pages import ROOT, inline_code

PAGE = (ROOT / "docs" / "reference" / "search.md").read_text()
NOW = datetime(2026, 2, 18, tzinfo=UTC)
FIRST_CELL = re.compile(r"^\| (`.*?`) \| ", re.MULTILINE)


def test_every_example_is_understood() -> None:
    examples = [code for cell in FIRST_CELL.findall(PAGE) for code in inline_code(cell)]
    examples += inline_code(PAGE.partition("Spellings of other readers")[2].partition("\n\n")[0])

    for example in examples:
        assert parse(cut(example), OwnNames(), NOW)

    assert len(examples) > 30


def test_every_field_and_value_is_shown() -> None:
    asked = {f"{field}:" for field in FIELDS} | {f"in:{scope}:" for scope in SCOPES}
    asked |= {f"is:{state}" for state in get_args(StateName)} | {f"has:{media}" for media in get_args(MediaName)}

    assert {word for word in asked if f"`{word}" not in PAGE} == set()
