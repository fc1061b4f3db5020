"""The pictures of the documentation can be made again, from the demo."""

from pathlib import Path
from typing import Any

from PIL import Image
from tools.pictures.documentation_shots import SHOTS, take_shot
from tools.pictures.running_demo import run_demo
from tools.pictures.tour import STEPS, record_tour

from tests.docs.pages import ROOT


def test_a_screenshot_and_a_tour_are_made_from_the_demo(chromium_service: Any, tmp_path: Path) -> None:
    [shot] = [shot for shot in SHOTS if shot.name == "reading-dark"]

    with run_demo() as demo:
        take_shot(chromium_service.browser, demo, shot, tmp_path)
        record_tour(chromium_service.browser, demo, tmp_path / "tour.webp", STEPS[:3])

    with Image.open(tmp_path / "reading-dark.png") as picture:
        assert picture.size == shot.size
    with Image.open(tmp_path / "tour.webp") as tour:
        assert tour.n_frames == 3


def test_the_pictures_are_those_that_the_tool_makes() -> None:
    # Plots are made by the benchmarks.
    pictures = {path.name for path in (ROOT / "docs" / "images").iterdir() if path.suffix != ".svg"}

    assert pictures == {*(f"{shot.name}.png" for shot in SHOTS), "tour.webp"}
