"""The pictures of the documentation can be made again."""

import runpy
from pathlib import Path
from typing import Any

from tests.browser.site_server import SiteServer

TOOL = Path(__file__).parents[2] / "tools" / "screenshots"


def test_a_screenshot_of_the_documentation_is_taken(
    chromium_service: Any, site_server: SiteServer, tmp_path: Path
) -> None:
    tool = runpy.run_path(str(TOOL))
    [shot] = [shot for shot in tool["SHOTS"] if shot.name == "reading-dark"]

    tool["take"](chromium_service.browser, site_server, [shot], tmp_path)

    assert (tmp_path / "reading-dark.png").read_bytes().startswith(b"\x89PNG")
