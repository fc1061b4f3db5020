"""Finds the images of HTML and replaces their URLs by those of archived copies.

Each attribute that names images yields one URL: a `srcset` yields its best candidate (`srcset.best_candidate`),
so that an image offered in ten sizes is downloaded once.
"""

import re
from collections.abc import Iterator, Mapping
from html import escape
from itertools import groupby
from typing import NamedTuple

from feedmill.absolute_urls import absolute_url
from feedmill.html.base_url import find_base_url
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

# tag -> attribute -> the standard attribute that a browser shows without scripts. A browser reads <image> as <img>;
# <source src> belongs to audio and video.
_STANDARD_ATTRIBUTES: dict[str, dict[str, str]] = {
    "img": _IMAGE,
    "image": _IMAGE,
    "amp-img": _IMAGE,
    "source": _SRCSETS,
    "video": {"poster": "poster", "data-poster": "poster"},
}

_IMAGE_TAGS = frozenset(_STANDARD_ATTRIBUTES)

_HAS_IMAGES = re.compile(r"<(?:img|image|amp-img|source|video)[\t\n\f\r /]", re.I)
_PLAIN_NAME = re.compile(r"[a-z_][a-z0-9_.:-]*")


class ImageSlot(NamedTuple):
    """One attribute of one tag that names an image, with the image's absolute URL."""

    tag: Tag
    attribute: str
    url: str


def find_image_urls(html: str, base_url: str | None, limit: int = 200) -> list[str]:
    """Returns the absolute URLs of an entry's images, without duplicates, in order of appearance, at most `limit`."""
    distinct: dict[str, None] = {}
    for slot in image_slots(html, base_url):
        if len(distinct) == limit:
            break
        distinct[slot.url] = None
    return list(distinct)


def image_slots(html: str, base_url: str | None) -> Iterator[ImageSlot]:
    """Yields every attribute that names an image to archive, in order of appearance."""
    if not _HAS_IMAGES.search(html):
        return
    base = find_base_url(html, base_url)
    for tag in find_tags(html, _IMAGE_TAGS):
        yield from _slots(tag, attributes(html, tag), base)


def replace_images(html: str, base_url: str | None, archived: Mapping[str, str]) -> str:
    """Returns the HTML with `archived[url]` in place of the URL of each image that `image_slots` yields.

    An image that is not archived gets its absolute URL. Lazy-loading attributes become the standard ones, because
    no script will do it. Everything but the image tags is unchanged.
    """
    pieces: list[str] = []
    copied = 0
    for tag, slots in groupby(image_slots(html, base_url), key=lambda slot: slot.tag):
        pieces += (html[copied : tag.start], _image_tag(tag, attributes(html, tag), list(slots), archived))
        copied = tag.end
    return "".join((*pieces, html[copied:]))


def _slots(tag: Tag, attributes: dict[str, str], base: str | None) -> Iterator[ImageSlot]:
    standard_names = _STANDARD_ATTRIBUTES[tag.name]
    for name, value in attributes.items():
        if name in standard_names and (url := _image_url(value, standard_names[name], base)):
            yield ImageSlot(tag, name, url)


def _image_url(value: str, standard_name: str, base: str | None) -> str | None:
    if standard_name != "srcset":
        return absolute_url(value, base)
    best = best_candidate([candidate for candidate in parse_srcset(value) if absolute_url(candidate.address, base)])
    return absolute_url(best.address, base) if best else None


def _image_tag(tag: Tag, attributes: dict[str, str], slots: list[ImageSlot], archived: Mapping[str, str]) -> str:
    standard_names = _STANDARD_ATTRIBUTES[tag.name]
    values = {
        name: attributes[name] for name in attributes if name not in standard_names and _PLAIN_NAME.fullmatch(name)
    }
    for slot in _effective_slots(slots, archived):
        values[standard_names[slot.attribute]] = archived.get(slot.url, slot.url)
    if "src" in standard_names and "srcset" in values:
        values.setdefault("src", values["srcset"])
    return f"<{tag.name}" + "".join(f' {name}="{escape(value)}"' for name, value in values.items()) + ">"


def _effective_slots(slots: list[ImageSlot], archived: Mapping[str, str]) -> list[ImageSlot]:
    """Lazy attributes win, since the others then hold a placeholder; archived images win over those that are not."""
    lazy = [slot for slot in slots if slot.attribute.startswith("data-")]
    slots = lazy or slots
    return [slot for slot in slots if slot.url in archived] or slots
