"""Finds the images of HTML and replaces their URLs by those of archived copies.

Each attribute that names images gives one address: a `srcset` gives the candidate worth keeping (see
`srcset.wanted`), so that an image offered in ten sizes is not downloaded ten times.
"""

import re
from collections.abc import Iterator, Mapping
from html import escape
from itertools import groupby
from typing import NamedTuple

from feedmill.html.links import absolute_url, find_base_url
from feedmill.html.srcset import best_candidate, parse_srcset
from feedmill.html.tags import Tag, attributes, find_tags

# fmt: off
_LAZY_SRC = (
    "data-src", "data-original", "data-lazy-src", "data-lazy", "data-lazyload", "data-original-src",
    "data-actualsrc", "data-url", "data-echo", "data-cfsrc", "data-hi-res-src", "data-img-src",
    "data-image-src", "data-pagespeed-lazy-src", "data-croporisrc",
)
_LAZY_SRCSET = ("data-srcset", "data-lazy-srcset", "data-original-set", "data-original-srcset")
# fmt: on
_SRCSETS = {"srcset": "srcset", **dict.fromkeys(_LAZY_SRCSET, "srcset")}
_IMAGE = {"src": "src", **dict.fromkeys(_LAZY_SRC, "src"), **_SRCSETS}

# tag -> attribute -> the attribute that a browser without scripts shows. A browser reads <image> as <img>;
# <source src> belongs to sound and film.
_SHOWN_AS: dict[str, dict[str, str]] = {
    "img": _IMAGE,
    "image": _IMAGE,
    "amp-img": _IMAGE,
    "source": _SRCSETS,
    "video": {"poster": "poster", "data-poster": "poster"},
}

_SHOWING = frozenset(_SHOWN_AS)

_HAS_IMAGES = re.compile(r"<(?:img|image|amp-img|source|video)[\t\n\f\r /]", re.I)
_PLAIN_NAME = re.compile(r"[a-z_][a-z0-9_.:-]*")


class ImageSlot(NamedTuple):
    """One attribute of one tag that names an image, with the image's absolute address."""

    tag: Tag
    attribute: str
    url: str


def find_image_urls(html: str, base_url: str | None, limit: int = 200) -> list[str]:
    """Returns the first distinct absolute addresses of an entry's images, in order of appearance."""
    distinct: dict[str, None] = {}
    for slot in image_slots(html, base_url):
        if len(distinct) == limit:
            break
        distinct[slot.url] = None
    return list(distinct)


def image_slots(html: str, base_url: str | None) -> Iterator[ImageSlot]:
    """Yields every attribute that names an image to keep, in order of appearance."""
    if not _HAS_IMAGES.search(html):
        return
    base = find_base_url(html, base_url)
    for tag in find_tags(html, _SHOWING):
        yield from _slots(tag, attributes(html, tag), base)


def replace_images(html: str, base_url: str | None, archived: Mapping[str, str]) -> str:
    """Returns the HTML with `archived[url]` in place of each image that `image_slots` names.

    An image that is not archived gets its absolute address. Lazy attributes become what they stand for,
    because no script will do it. Everything but the image tags stays as it is.
    """
    pieces: list[str] = []
    copied = 0
    for tag, slots in groupby(image_slots(html, base_url), key=lambda slot: slot.tag):
        pieces += (html[copied : tag.start], _image_tag(tag, attributes(html, tag), list(slots), archived))
        copied = tag.end
    return "".join((*pieces, html[copied:]))


def _slots(tag: Tag, found: dict[str, str], base: str | None) -> Iterator[ImageSlot]:
    shown_as = _SHOWN_AS[tag.name]
    for name, value in found.items():
        if name in shown_as and (url := _image_url(value, shown_as[name], base)):
            yield ImageSlot(tag, name, url)


def _image_url(value: str, shown_as: str, base: str | None) -> str | None:
    if shown_as != "srcset":
        return absolute_url(value, base)
    best = best_candidate([candidate for candidate in parse_srcset(value) if absolute_url(candidate.address, base)])
    return absolute_url(best.address, base) if best else None


def _image_tag(tag: Tag, found: dict[str, str], slots: list[ImageSlot], archived: Mapping[str, str]) -> str:
    shown_as = _SHOWN_AS[tag.name]
    values = {name: found[name] for name in found if name not in shown_as and _PLAIN_NAME.fullmatch(name)}
    for slot in _effective_slots(slots, archived):
        values[shown_as[slot.attribute]] = archived.get(slot.url, slot.url)
    if "src" in shown_as and "srcset" in values:
        values.setdefault("src", values["srcset"])
    return f"<{tag.name}" + "".join(f' {name}="{escape(value)}"' for name, value in values.items()) + ">"


def _effective_slots(slots: list[ImageSlot], archived: Mapping[str, str]) -> list[ImageSlot]:
    """What a lazy attribute stands beside is a placeholder; what is archived beats what is not."""
    lazy = [slot for slot in slots if slot.attribute.startswith("data-")]
    slots = lazy or slots
    return [slot for slot in slots if slot.url in archived] or slots
