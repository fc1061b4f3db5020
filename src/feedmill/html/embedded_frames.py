"""Describes the frames of an article as links: to the page of the video, or to what the frame would show."""

from typing import NamedTuple

from feedmill.absolute_urls import absolute_url
from feedmill.html.players import find_player
from feedmill.model.hosts import host_of

# Tags that show another page, and attributes that name it: lazy ones first, since the others then hold a blank page.
FRAME_TAGS = frozenset({"iframe", "amp-iframe", "embed", "object", "lite-youtube", "amp-youtube", "lite-vimeo"})
_SOURCES = ("data-src", "data-lazy-src", "data-litespeed-src", "src", "data")
_VIDEO_IDS = {
    "lite-youtube": ("videoid", "https://www.youtube.com/embed/"),
    "amp-youtube": ("data-videoid", "https://www.youtube.com/embed/"),
    "lite-vimeo": ("videoid", "https://player.vimeo.com/video/"),
}
MAX_TITLE = 200
# A frame of this size counts visitors.
_INVISIBLE_SIZES = frozenset({"0", "1", "0px", "1px"})


class FrameLink(NamedTuple):
    """A frame: the page to open in its place, the address of the frame itself, and what it is called."""

    page_url: str
    frame_url: str
    text: str


def link_to_frame(tag: str, found: dict[str, str], base: str | None) -> FrameLink | None:
    """The link for a frame with these attributes; None if it shows nothing."""
    if found.get("width", "").strip() in _INVISIBLE_SIZES or found.get("height", "").strip() in _INVISIBLE_SIZES:
        return None
    url = _frame_url(tag, found, base)
    if url is None:
        return None
    player = find_player(url)
    page_url = player.page_url if player else url
    title = " ".join(found.get("title", "")[: 2 * MAX_TITLE].split())[:MAX_TITLE]
    return FrameLink(page_url, url, title or host_of(page_url))


def _frame_url(tag: str, found: dict[str, str], base: str | None) -> str | None:
    if tag in _VIDEO_IDS:
        name, start = _VIDEO_IDS[tag]
        video_url = start + found.get(name, "")
        return video_url if find_player(video_url) else None
    return next((url for name in _SOURCES if (url := absolute_url(found.get(name, ""), base))), None)
