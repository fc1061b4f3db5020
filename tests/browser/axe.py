"""What axe-core calls serious on a page."""

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

SERIOUS = ("serious", "critical")
COLOURS = {"runOnly": ["color-contrast", "link-in-text-block"]}
# Only what is wrong leaves the browser: all that is right with a page takes four times as long to send as to find.
FIND = "(rules) => axe.run({ ...rules, resultTypes: ['violations'] }).then(({ violations }) => violations)"


def serious(page: Page, rules: dict[str, Any] | None = None) -> list[Any]:
    page.evaluate(AXE_SCRIPT)
    return [
        (each["id"], node["html"][:200], node["failureSummary"][:300])
        for each in page.evaluate(FIND, rules or {})
        if each["impact"] in SERIOUS
        for node in each["nodes"]
    ]
