"""Recognises the players of video sites by their addresses.

A player is only known here if its site offers an address that sets no cookies.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from urllib.parse import parse_qs, quote, urlsplit

from feedmill.model.hosts import host_of

MAX_START = 360_000
YOUTUBE_PICTURES = "https://i.ytimg.com/vi/"
DETAILS_URLS = {
    "youtube": "https://www.youtube.com/oembed?format=json&url=",
    "vimeo": "https://vimeo.com/api/oembed.json?width=960&url=",
}

_YOUTUBE_HOSTS = frozenset({"youtube.com", "youtube-nocookie.com", "m.youtube.com", "music.youtube.com"})
_YOUTUBE_PATH = re.compile(r"/(?:embed|v|e|shorts|live)/([A-Za-z0-9_-]{11})(?:[/&].*)?", re.S)
_YOUTUBE_ID = re.compile(r"[A-Za-z0-9_-]{11}")
# They have the length of an id, but stand for a list or for whatever is live now.
_NO_VIDEO = frozenset({"videoseries", "live_stream"})
_VIMEO_PATH = re.compile(r"/(?:video/)?([0-9]{1,12})(?:/([0-9a-f]{6,20}))?/?")
_VIMEO_HASH = re.compile(r"[0-9a-f]{6,20}")
_VIMEO_ID = re.compile(r"[0-9]{1,12}(?:-[0-9a-f]{6,20})?")
_START = re.compile(r"(?:(\d{1,3})h)?(?:(\d{1,4})m)?(?:(\d{1,6})s?)?")


@dataclass(frozen=True, slots=True)
class Player:
    """A video of a known site: `site` and `id` name it, and it starts after `start` seconds."""

    site: str
    id: str
    start: int = 0

    @property
    def name(self) -> str:
        """The name of the site, as people write it."""
        return _SITES[self.site].name

    @property
    def page_url(self) -> str:
        """The page of the video."""
        return _SITES[self.site].page_url(self)

    @property
    def frame_url(self) -> str:
        """The player at the address that sets no cookies; it starts at once."""
        return _SITES[self.site].frame_url(self)

    @property
    def frame_origin(self) -> str:
        return "/".join(self.frame_url.split("/", 3)[:3])

    @property
    def picture_url(self) -> str | None:
        """A picture of the video; None if only the site knows where it is."""
        return f"{YOUTUBE_PICTURES}{self.id}/hqdefault.jpg" if self.site == "youtube" else None

    @property
    def details_url(self) -> str:
        """What the site says of the video: a JSON document as oEmbed describes it."""
        return DETAILS_URLS[self.site] + quote(replace(self, start=0).page_url, safe="")


@dataclass(frozen=True, slots=True)
class _Site:
    name: str
    id: re.Pattern[str]
    page_url: Callable[[Player], str]
    frame_url: Callable[[Player], str]


def find_player(url: str) -> Player | None:
    """The video that a frame or a page shows; None if no known player shows it."""
    host = host_of(url).removeprefix("www.")
    if host in _YOUTUBE_HOSTS or host == "youtu.be":
        return _youtube(host, url)
    return _vimeo(url) if host in ("vimeo.com", "player.vimeo.com") else None


def named_player(site: str, id: str, start: int = 0) -> Player | None:
    """The player of that name; None if there is none."""
    known = _SITES.get(site)
    if known is None or not known.id.fullmatch(id) or id in _NO_VIDEO:
        return None
    return Player(site, id, min(max(start, 0), MAX_START))


def _youtube(host: str, url: str) -> Player | None:
    parts = urlsplit(url)
    query = parse_qs(parts.query[:2000])
    found = _YOUTUBE_PATH.fullmatch(parts.path[:200])
    if host == "youtu.be":
        id = parts.path[1:12]
    else:
        id = found[1] if found else query.get("v", [""])[0] if parts.path == "/watch" else ""
    start = (query.get("start") or query.get("t") or [""])[0]
    return named_player("youtube", id, _seconds(start))


def _vimeo(url: str) -> Player | None:
    parts = urlsplit(url)
    found = _VIMEO_PATH.fullmatch(parts.path[:200])
    if found is None:
        return None
    key = found[2] or parse_qs(parts.query[:2000]).get("h", [""])[0]
    id = f"{found[1]}-{key}" if _VIMEO_HASH.fullmatch(key) else found[1]
    return named_player("vimeo", id, _seconds(parts.fragment.removeprefix("t=")[:20]))


def _seconds(text: str) -> int:
    """The seconds of `90`, `90s` or `1h2m3s`; 0 if it is none of these."""
    found = _START.fullmatch(text)
    hours, minutes, seconds = (int(part or 0) for part in found.groups()) if found else (0, 0, 0)
    return hours * 3600 + minutes * 60 + seconds


def _youtube_page(player: Player) -> str:
    start = f"&t={player.start}s" if player.start else ""
    return f"https://www.youtube.com/watch?v={player.id}{start}"


def _youtube_frame(player: Player) -> str:
    start = f"&start={player.start}" if player.start else ""
    return f"https://www.youtube-nocookie.com/embed/{player.id}?autoplay=1&rel=0{start}"


def _vimeo_page(player: Player) -> str:
    return f"https://vimeo.com/{player.id.replace('-', '/')}"


def _vimeo_frame(player: Player) -> str:
    id, _, key = player.id.partition("-")
    private = f"&h={key}" if key else ""
    start = f"#t={player.start}s" if player.start else ""
    return f"https://player.vimeo.com/video/{id}?autoplay=1&dnt=1{private}{start}"


_SITES = {
    "youtube": _Site("YouTube", _YOUTUBE_ID, _youtube_page, _youtube_frame),
    "vimeo": _Site("Vimeo", _VIMEO_ID, _vimeo_page, _vimeo_frame),
}
