"""The demo runs from the wheel: its texts and pictures are in it, and the core libraries are enough."""

import re
import urllib.request
from pathlib import Path

import pytest

from tests.deploy.wheel import Installation
from tests.waiting import LONGEST_WAIT, wait_until

pytestmark = pytest.mark.external


def test_the_demo_of_an_installed_wheel_shows_its_articles(core: Installation, tmp_path: Path) -> None:
    log = tmp_path / "log"

    with core.running(tmp_path, "demo", TMPDIR=str(tmp_path)):
        wait_until(lambda: "open http" in log.read_text(), otherwise="the demo does not start")
        [address] = re.findall(r"open (http\S+)", log.read_text())
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with browser.open(address, timeout=LONGEST_WAIT) as response:
            page = response.read().decode()

    assert "The herons are back, and they brought an argument" in page
    assert "下雨天，茶馆里的三种人" in page
