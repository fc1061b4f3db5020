"""Adds the images and videos that come with an article to its text, unless the text has them.

The HTML must be sanitized, and so is what is added.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from feedmill.html.players import find_player

MAX_IMAGES = 50
_IMAGE_FILE = re.compile(r"\.(?:avif|gif|jpe?g|png|webp)\Z", re.I)
# A picture in another size is the same picture: `wheel-300x200.jpg`, `wheel-scaled.jpg`.
_SIZE = re.compile(r"(?:-[0-9]{1,5}x[0-9]{1,5}|-scaled|@2x)\Z", re.I)
# Shorter names, such as `1.jpg`, are those of many pictures.
_DISTINCT_NAME = 6


@dataclass(frozen=True, slots=True)
class MediaFile:
    """A file that comes with an article: its address, and its type if the feed says it."""

    url: str
    type: str | None = None


@dataclass(slots=True)
class TextWithMedia:
    """The HTML with what was added, and the addresses of the files that are in it."""

    html: str
    shown_urls: set[str] = field(default_factory=set)


def add_attached_media(
    html: str, link: str | None, title: str, files: Sequence[MediaFile], archived: Mapping[str, str], image_alt: str
) -> TextWithMedia:
    """Adds the video of the article's page before the text, and attached images after it.

    `archived` has the addresses of archived images by their original ones.
    """
    text = TextWithMedia(html)
    for file in (MediaFile(link or ""), *files):
        if (player := find_player(file.url)) is not None:
            text.shown_urls.add(file.url)
            if player.id not in text.html:
                text.html = _frame(player.page_url, title) + text.html
    for file in [file for file in files if _is_image(file)][:MAX_IMAGES]:
        text.shown_urls.add(file.url)
        if not _has_image(text.html, file.url, archived):
            text.html += _image(archived.get(file.url, file.url), image_alt)
    return text


def _frame(url: str, title: str) -> str:
    return f'<a href="{escape(url)}" data-frame="{escape(url)}">{escape(title)}</a>'


def _image(url: str, alt: str) -> str:
    return f'<p><img src="{escape(url)}" alt="{escape(alt)}" loading="lazy" decoding="async"></p>'


def _is_image(file: MediaFile) -> bool:
    if not file.url.startswith(("https://", "http://")):
        return False
    if file.type:
        return file.type.lower().startswith("image/") and "svg" not in file.type.lower()
    return _IMAGE_FILE.search(file.url.partition("?")[0]) is not None


def _has_image(html: str, url: str, archived: Mapping[str, str]) -> bool:
    if url in archived and escape(archived[url]) in html:
        return True
    address = url.partition("?")[0]
    name = _SIZE.sub("", _IMAGE_FILE.sub("", address.rpartition("/")[2]))
    return f'"{escape(address)}' in html or (len(name) >= _DISTINCT_NAME and f"/{escape(name)}" in html)
