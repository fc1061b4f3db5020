"""Every example of the page on searching is understood, and none of the language is missing there."""

import re
from datetime import UTC, datetime
from typing import get_args

from feedmill.library.search.query_names import UserNames
from feedmill.library.search.query_parser import parse_query
from feedmill.library.search.query_tokens import FIELDS, SCOPES, tokenize
from feedmill.model.search_query import EntryStateName, MediaName
from tests.docs.pages import ROOT, inline_code

PAGE = (ROOT / "docs" / "reference" / "search.md").read_text()
NOW = datetime(2026, 2, 18, tzinfo=UTC)
FIRST_CELL = re.compile(r"^\| (`.*?`) \| ", re.MULTILINE)


def test_every_example_is_understood() -> None:
    examples = [code for cell in FIRST_CELL.findall(PAGE) for code in inline_code(cell)]
    examples += inline_code(PAGE.partition("Spellings of other readers")[2].partition("\n\n")[0])

    for example in examples:
        assert parse_query(tokenize(example), UserNames(), NOW)

    assert len(examples) > 30


def test_every_field_and_value_is_shown() -> None:
    asked = {f"{field}:" for field in FIELDS} | {f"in:{scope}:" for scope in SCOPES}
    asked |= {f"is:{state}" for state in get_args(EntryStateName)} | {f"has:{media}" for media in get_args(MediaName)}

    assert {word for word in asked if f"`{word}" not in PAGE} == set()
