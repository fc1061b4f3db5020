"""`docs/seeds.md` names files and tests that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "feedmill"
PAGE = (ROOT / "docs" / "seeds.md").read_text()
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| requirement |")]
NAMED = sorted(set(re.findall(r"`([\w/.-]+/[\w.-]*(?:::\w+)?)`", PAGE)))


def test_every_requirement_names_its_file_and_its_test() -> None:
    points = [row.split(" | ") for row in PAGE.partition("## Where the documents")[0].splitlines() if row in ROWS]

    assert len(points) > 100
    assert all(len(point) == 4 and "`" in point[1] and "`tests/" in point[2] for point in points)


def test_every_named_file_exists() -> None:
    places = [name for name in NAMED if name.split("/")[0] not in ("tests", "backups", "images", "src")]

    assert len(places) > 50
    assert [name for name in places if not (SOURCE / name).exists() and not (ROOT / name).exists()] == []


def test_every_named_test_exists() -> None:
    tests = [name.partition("::") for name in NAMED if name.startswith("tests/")]

    assert len(tests) > 50
    assert [(file, test) for file, _, test in tests if f"def {test}" not in (ROOT / file).read_text()] == []
