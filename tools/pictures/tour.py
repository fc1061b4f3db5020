"""The animated tour: some steps through the real pages, each with a line that says what it shows."""

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page

from tools.pictures.running_demo import RunningDemo, open_next_article, wait_for_images

SIZE = (1080, 660)
QUALITY = 80
STEP_MILLISECONDS = 2600
# Set through properties: the policy of the pages allows no style in the HTML.
SHOW_CAPTION = """(text) => {
  const line = document.querySelector('#tour-line') || document.body.appendChild(document.createElement('div'));
  line.id = 'tour-line';
  line.textContent = text;
  Object.assign(line.style, {
    position: 'fixed', left: '50%', bottom: '18px', transform: 'translateX(-50%)', zIndex: 9999, padding: '9px 18px',
    borderRadius: '10px', background: '#12332f', color: '#fff', font: '600 17px system-ui, sans-serif',
    boxShadow: '0 4px 18px rgb(0 0 0 / 35%)', whiteSpace: 'nowrap',
  });
}"""


@dataclass(frozen=True)
class TourStep:
    caption: str
    act: Callable[[Page], None]
    theme: str = "light"


def go_to(path: str) -> Callable[[Page], None]:
    return lambda page: page.goto(path) and None


def star(page: Page) -> None:
    with page.expect_response(lambda response: response.request.method == "POST"):
        page.keyboard.press("s")


STEPS = [
    TourStep("All unread articles, as they arrive", go_to("/unread")),
    TourStep("j opens the next one, with archived pictures", open_next_article),
    TourStep("Stars, labels, read later: one key each", star),
    TourStep("Articles in any language", go_to("/folder/6?show=all")),
    TourStep("Read with the keyboard, the mouse or a thumb", open_next_article),
    TourStep("Search in everything that was ever fetched", go_to("/search?q=weir OR heron")),
    TourStep("Filters sort, label or hide what arrives", go_to("/filters")),
    TourStep("Each feed explains when it is fetched, and why", go_to("/feed/9/health")),
    TourStep("A broken feed says what is wrong", go_to("/feed/1/health")),
    TourStep("Pools hand articles on to other programs", go_to("/pools")),
    TourStep("And all of it in the dark", go_to("/unread"), "dark"),
]


def record_tour(browser: Browser, demo: RunningDemo, path: Path, steps: list[TourStep] = STEPS) -> None:
    """Writes the tour as an animated WebP."""
    frames, page, theme = [], None, ""
    for step in steps:
        if page is None or step.theme != theme:
            page, theme = demo.open_page(browser, SIZE, step.theme), step.theme
        step.act(page)
        wait_for_images(page)
        page.evaluate(SHOW_CAPTION, step.caption)
        frames.append(Image.open(io.BytesIO(page.screenshot())).convert("RGB"))
    frames[0].save(
        path, save_all=True, append_images=frames[1:], duration=STEP_MILLISECONDS, loop=0, quality=QUALITY, method=6
    )
