"""The documentation as a site: whole, and asking nobody else for anything."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import ROOT

pytestmark = pytest.mark.external

# What a browser would load by itself; a link that a person follows is no matter.
_LOADED = re.compile(r"""<(?:script|img|iframe|source)[^>]*\ssrc=["']?((?:https?:)?//[^"'\s>]+)""")
_LINKED = re.compile(r"""<link[^>]*\shref=["']?((?:https?:)?//[^"'\s>]+)""")
_STYLED = re.compile(r"""(?:url\(|@import )["']?((?:https?:)?//[^"')]+)""")


def test_every_page_is_in_the_site_which_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(tmp_path)]

    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, "")
    pages = "".join(page.read_text() for page in tmp_path.rglob("*.html"))
    styles = "".join(style.read_text() for style in tmp_path.rglob("*.css"))
    foreign = {*_LOADED.findall(pages), *_LINKED.findall(pages), *_STYLED.findall(pages + styles)}
    assert foreign == set()
