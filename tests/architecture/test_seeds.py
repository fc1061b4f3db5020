"""`docs/seeds.md` names files and tests that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "seeds.md").read_text()
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| asked for")]
NAMED = sorted(set(re.findall(r"`([\w/.-]+/[\w.-]*(?:::\w+)?)`", PAGE)))


def test_every_requirement_says_where_it_lives_and_what_holds_it() -> None:
    points = [row.split(" | ") for row in PAGE.partition("## Where the documents")[0].splitlines() if row in ROWS]

    assert len(points) > 100
    assert all(len(point) == 4 and "`" in point[1] and "`tests/" in point[2] for point in points)


@pytest.mark.parametrize("name", [name for name in NAMED if not name.startswith("tests/")])
def test_every_place_that_is_named_exists(name: str) -> None:
    if name.split("/")[0] in ("backups", "images", "src"):
        return
    assert (ROOT / "src" / "feedmill" / name).exists() or (ROOT / name).exists()


@pytest.mark.parametrize("name", [name for name in NAMED if name.startswith("tests/")])
def test_every_test_that_is_named_exists(name: str) -> None:
    file, _, test = name.partition("::")

    assert f"def {test}" in (ROOT / file).read_text()
