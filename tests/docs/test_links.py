"""Every link and picture in the pages leads somewhere."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from tests.docs.pages import NAMES, ROOT, prose

_LINK = re.compile(r"\]\(<?([^)>\s]+)>?\)|(?:src|href)=\"([^\"]+)\"")
_HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)


def test_every_link_leads_somewhere() -> None:
    links = [(name, link) for name in NAMES for link in _links(ROOT / name)]

    assert len(links) > 100
    assert [(name, link) for name, link in links if not _leads_somewhere(ROOT / name, link)] == []


def _links(page: Path) -> Iterator[str]:
    without_code = re.sub(r"`[^`\n]*`", "", prose(page.read_text()))
    for pair in _LINK.findall(without_code):
        link = "".join(pair)
        if not re.match(r"[a-z]+:", link):
            yield unquote(link)


def _leads_somewhere(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = page.parent / path if path else page
    if not target.exists() or not target.resolve().is_relative_to(ROOT):
        return False
    return not anchor or (target.suffix == ".md" and anchor in _anchors(target))


def _anchors(page: Path) -> set[str]:
    """What a page's headings are called in addresses."""
    return {_anchor(heading) for heading in _HEADING.findall(prose(page.read_text()))}


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
