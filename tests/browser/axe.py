"""What axe-core calls moderate, serious or critical on a page."""

from collections.abc import Sequence
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

SERIOUS = ("moderate", "serious", "critical")
COLOURS = {"runOnly": ["color-contrast", "link-in-text-block"]}
# Only what is wrong leaves the browser: all that is right with a page takes four times as long to send as to find.
FIND = """
(rules, part = document) =>
  axe.run(part, { ...rules, resultTypes: ['violations'] }).then(({ violations }) => violations)
"""
# In each theme; the page is loaded once.
FIND_IN_THEMES = f"""
async ([themes, rules, part]) => {{
  // A colour that is still on its way from one theme to the next belongs to neither.
  const still = new CSSStyleSheet();
  still.replaceSync('*, ::before, ::after {{ transition: none !important; animation: none !important }}');
  document.adoptedStyleSheets.push(still);
  const found = {{}};
  for (const theme of themes) {{
    document.documentElement.dataset.theme = theme;
    found[theme] = await ({FIND})(rules, part);
  }}
  return found;
}}
"""


def serious(page: Page, rules: dict[str, Any] | None = None) -> list[Any]:
    page.evaluate(AXE_SCRIPT)
    return _named(page.evaluate(FIND, rules or {}))


def unreadable(page: Page, themes: Sequence[str], part: str) -> dict[str, list[Any]]:
    """By theme the text in a part of the page that can't be read in its colours."""
    page.evaluate(AXE_SCRIPT)
    found = page.evaluate(FIND_IN_THEMES, [list(themes), COLOURS, part])
    return {theme: named for theme, violations in found.items() if (named := _named(violations))}


def _named(violations: list[Any]) -> list[Any]:
    return [
        (each["id"], node["html"][:200], node["failureSummary"][:300])
        for each in violations
        if each["impact"] in SERIOUS
        for node in each["nodes"]
    ]
