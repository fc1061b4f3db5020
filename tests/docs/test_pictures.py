"""The pictures of the documentation: all are shown, and small enough to load."""

from tests.docs.pages import ROOT

IMAGES = ROOT / "docs" / "images"
MOST_BYTES, MOST_TOUR_BYTES = 160_000, 1_500_000


def test_no_picture_is_large() -> None:
    limits = {".webp": MOST_TOUR_BYTES}

    assert [path.name for path in IMAGES.iterdir() if path.stat().st_size > limits.get(path.suffix, MOST_BYTES)] == []


def test_every_picture_is_shown_somewhere() -> None:
    pages = "".join(page.read_text() for page in [*ROOT.glob("README*.md"), *(ROOT / "docs").rglob("*.md")])

    assert [path.name for path in IMAGES.iterdir() if f"images/{path.name}" not in pages] == []


def test_the_tour_is_on_the_first_pages() -> None:
    for page in ("README.md", "README.zh-CN.md", "docs/index.md"):
        assert "images/tour.webp" in (ROOT / page).read_text(), page
