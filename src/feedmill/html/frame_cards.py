"""Shows the frames of an article as cards, which load nothing from other sites.

The card of a known player has its picture, and a script plays the video in place of it. Any other card leads to the
page of the frame. The HTML must be sanitized: a frame is a link with the attribute `data-frame` there.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from html import unescape
from typing import NamedTuple
from urllib.parse import urlencode

from markupsafe import Markup

from feedmill.html.players import Player, find_player
from feedmill.model.hosts import host_of

_LINK = re.compile(r'<a((?:\s+[\w-]+="[^"]*")*)\s*>([^<]*)</a>')
_ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')
# What frames are called when nobody gave them a title.
_NO_TITLES = re.compile(
    r"(?:(?:youtube|vimeo)[ -])?(?:video )?player|embedded (?:video|content)|[\w.-]+\.[a-z]{2,}", re.I
)
_CARD = Markup(
    '<a class="frame-card" href="{url}" target="_blank" rel="noopener noreferrer nofollow"{play}>{picture}'
    '<span>{icon}<span><span class="name" dir="auto">{title}</span> <small>{hint}</small></span></span>'
    "</a>"
)


class FrameInText(NamedTuple):
    """A frame of sanitized HTML: the page that it links to, its own address, and what the author called it."""

    page_url: str
    frame_url: str
    text: str
    player: Player | None


class CardPicture(NamedTuple):
    """The picture and the title of a video; empty if there is none.

    `title_url` is where a script reads a title that is not known yet.
    """

    src: str
    title: str = ""
    title_url: str = ""


def find_frames(html: str) -> Iterator[FrameInText]:
    """The frames of sanitized HTML, in order."""
    return (frame for link in _LINK.finditer(html) if (frame := _read_frame(link)))


def show_frame_cards(html: str, pictures: Mapping[Player, CardPicture], translate: Callable[..., str]) -> str:
    """Returns the HTML with a card in place of each frame."""

    def replace(link: re.Match[str]) -> str:
        frame = _read_frame(link)
        return link[0] if frame is None else frame_card(frame, pictures, translate)

    return _LINK.sub(replace, html)


def frame_card(frame: FrameInText, pictures: Mapping[Player, CardPicture], translate: Callable[..., str]) -> Markup:
    """The card of a frame."""
    player = frame.player
    picture = pictures.get(player) if player else None
    host = host_of(frame.page_url).removeprefix("www.")
    own_title = "" if _NO_TITLES.fullmatch(frame.text) else frame.text
    title = (picture.title if picture else "") or own_title or (player.name if player else host)
    return _CARD.format(
        url=frame.page_url,
        play=Markup(' data-player="{}"').format(player_path(player)) if player else "",
        picture=_picture(picture) if picture and picture.src else "",
        icon=_icon("play" if player else "external"),
        title=title,
        hint=translate("article.plays_here", site=player.name) if player else translate("article.opens_at", host=host),
    )


def player_path(player: Player) -> str:
    """The address of our page that has the player in a frame."""
    start = f"?{urlencode({'start': player.start})}" if player.start else ""
    return f"/player/{player.site}/{player.id}{start}"


def _read_frame(link: re.Match[str]) -> FrameInText | None:
    attribute_text, text = link.groups()
    if ' data-frame="' not in attribute_text:
        return None
    found = {name: unescape(value) for name, value in _ATTRIBUTE.findall(attribute_text)}
    frame_url = found["data-frame"]
    return FrameInText(found.get("href", frame_url), frame_url, unescape(text).strip(), find_player(frame_url))


def _picture(picture: CardPicture) -> Markup:
    title_url = Markup(' data-title="{}"').format(picture.title_url) if picture.title_url else ""
    return Markup('<img class="still" src="{}" alt="" loading="lazy" decoding="async"{}>').format(
        picture.src, title_url
    )


def _icon(name: str) -> Markup:
    return Markup('<svg class="i" aria-hidden="true"><use href="#i-{}"/></svg>').format(name)
