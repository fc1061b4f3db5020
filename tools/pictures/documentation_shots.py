"""The screenshots of the documentation."""

import io
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser

from tools.pictures.running_demo import RunningDemo, open_next_article, wait_for_images

WIDE, NARROW = (1200, 720), (390, 760)
COLOURS = 256


@dataclass(frozen=True)
class DocumentationShot:
    """`keys` are pressed first, and open an article each."""

    name: str
    path: str
    theme: str = "light"
    size: tuple[int, int] = WIDE
    keys: str = ""
    language: str = "en"


SHOTS = [
    DocumentationShot("reading", "/unread", keys="j"),
    DocumentationShot("reading-dark", "/unread", "dark", keys="j"),
    DocumentationShot("reading-chinese", "/folder/6?show=all", "sepia", keys="j", language="zh-CN"),
    DocumentationShot("list-narrow", "/unread", size=NARROW),
    DocumentationShot("list-narrow-dark", "/unread", "dark", NARROW),
    DocumentationShot("health", "/feed/9/health"),
    DocumentationShot("health-failing", "/feed/1/health"),
    DocumentationShot("search", "/search?q=weir OR heron"),
    DocumentationShot("feeds", "/feeds"),
    DocumentationShot("filters", "/filters"),
    DocumentationShot("pools", "/pools"),
    DocumentationShot("admin-dark", "/admin", "dark"),
]


def take_shot(browser: Browser, demo: RunningDemo, shot: DocumentationShot, folder: Path) -> None:
    page = demo.open_page(browser, shot.size, shot.theme, shot.language)
    page.goto(shot.path)
    for key in shot.keys:
        open_next_article(page, key)
    wait_for_images(page)
    save_picture(page.screenshot(), folder / f"{shot.name}.png")
    page.context.close()


def save_picture(shot: bytes, path: Path) -> None:
    """Saves a screenshot with fewer colours: a third of the size, and no difference to see."""
    picture = Image.open(io.BytesIO(shot)).convert("RGB")
    picture.quantize(COLOURS, kmeans=1, dither=Image.Dither.NONE).save(path, optimize=True)
