"""The pages for contributors name files that are there."""

import re
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, inline_code

PAGES = [*sorted((ROOT / "docs" / "contributing").glob("*.md")), ROOT / "docs" / "glossary.md"]
STARTS = ("src/feedmill", ".")

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
