"""Sanitizes HTML, and renders article HTML with its archived images.

The stored HTML never changes; it is rendered each time it is shown:

    archived = {"https://example.org/a.png": "/images/1/ab12cd34/0.png"}
    html = render_article_html(entry["content_html"], entry["base_url"], archived)
"""

import re
from collections.abc import Callable, Container, Mapping
from types import MappingProxyType

import nh3

from feedmill.absolute_urls import absolute_url
from feedmill.html.base_url import find_base_url
from feedmill.html.drawings import drawing_size
from feedmill.html.embedded_frames import FrameLink, link_to_frame
from feedmill.html.formulas import FORMULA_ATTRIBUTES, FORMULA_TAGS, safe_formula_value
from feedmill.html.images import replace_images
from feedmill.html.rewrite_tags import ALLOWED_TAGS, rewrite_tags
from feedmill.html.srcset import parse_srcset
from feedmill.html.tracking_parameters import without_trackers

DrawingUrl = Callable[[int], str]
NO_IMAGES: Mapping[str, str] = MappingProxyType({})

# fmt: off
COMMON_ATTRIBUTES = frozenset({"dir", "lang", "title"})
TAG_ATTRIBUTES: dict[str, frozenset[str]] = {
    "a": frozenset({"data-frame", "href"}),
    "audio": frozenset({"src"}),
    "blockquote": frozenset({"cite"}),
    "col": frozenset({"span"}),
    "colgroup": frozenset({"span"}),
    "del": frozenset({"cite", "datetime"}),
    "img": frozenset({"alt", "height", "src", "srcset", "width"}),
    "ins": frozenset({"cite", "datetime"}),
    "ol": frozenset({"reversed", "start"}),
    "q": frozenset({"cite"}),
    "source": frozenset({"media", "sizes", "src", "srcset", "type"}),
    "td": frozenset({"colspan", "rowspan"}),
    "th": frozenset({"colspan", "rowspan", "scope"}),
    "time": frozenset({"datetime"}),
    "video": frozenset({"height", "poster", "src", "width"}),
    **FORMULA_ATTRIBUTES,
}
# fmt: on
URL_ATTRIBUTES = frozenset({"cite", "data-frame", "href", "poster", "src"})
NUMBER_ATTRIBUTES = frozenset({"colspan", "height", "rowspan", "span", "start", "width"})
SCHEMES = frozenset({"http", "https", "mailto", "tel"})
REL = "noopener noreferrer nofollow"
FORCED_ATTRIBUTES = {
    "img": {"loading": "lazy", "decoding": "async", "referrerpolicy": "no-referrer"},
    "audio": {"controls": "", "preload": "none"},
    "video": {"controls": "", "preload": "none"},
}

SAFE_TAGS = ALLOWED_TAGS | FORMULA_TAGS
ALLOWED_ATTRIBUTES = {tag: TAG_ATTRIBUTES.get(tag, COMMON_ATTRIBUTES) | COMMON_ATTRIBUTES for tag in SAFE_TAGS}
NO_ATTRIBUTES: dict[str, str] = {}

_NUMBER = re.compile(r"-?[0-9]{1,5}%?")
_WORDS = re.compile(r"[\w .,:;()/+*-]{1,200}")
_CONTACT = re.compile(r"(?:mailto|tel):[^\x00-\x20\x7f\"'<>`\\]{1,500}", re.I)
# Images embedded in the HTML; no SVG.
_INLINE_IMAGE = re.compile(r"data:image/(?:png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/=]+")

_cleaner = nh3.Cleaner(
    tags=set(SAFE_TAGS),
    clean_content_tags={"script", "style"},
    attributes={tag: {*ALLOWED_ATTRIBUTES[tag], *FORCED_ATTRIBUTES.get(tag, NO_ATTRIBUTES)} for tag in SAFE_TAGS},
    url_schemes={*SCHEMES, "data"},
    link_rel=REL,
)


def render_article_html(
    html: str | None,
    base_url: str | None = None,
    archived: Mapping[str, str] = NO_IMAGES,
    drawing_url: DrawingUrl | None = None,
    *,
    keep_trackers: bool = False,
) -> str:
    """Returns safe HTML with `archived[url]` in place of each archived image; the others keep their own URL.

    With `drawing_url`, drawings are images that are loaded from there by their number. Links lose their tracking
    parameters unless `keep_trackers`.
    """
    if not html:
        return ""
    base = find_base_url(html, base_url)
    with_images = replace_images(html, base_url, archived)
    shown_link = _unchanged if keep_trackers else without_trackers
    return _sanitize(with_images, base, frozenset(archived.values()), drawing_url, shown_link)


def sanitize_html(html: str, base_url: str | None = None) -> str:
    """Returns safe HTML: text, links, images and formulas. Without `base_url`, relative URLs are dropped.

    A frame becomes a link to the page of its video, or to what it shows; `data-frame` has the address of the frame.
    """
    return _sanitize(html, find_base_url(html, base_url), frozenset())


def _unchanged(link: str) -> str:
    return link


def _sanitize(
    html: str,
    base: str | None,
    archived_urls: frozenset[str],
    drawing_url: DrawingUrl | None = None,
    shown_link: Callable[[str], str] = _unchanged,
) -> str:
    own_urls = set(archived_urls)

    def choose(tag: str, found: dict[str, str]) -> dict[str, str]:
        forced = FORCED_ATTRIBUTES.get(tag, NO_ATTRIBUTES)
        if not found:
            return forced
        allowed, chosen = ALLOWED_ATTRIBUTES[tag], {}
        for name, value in found.items():
            if name in allowed and (safe_value := _safe_value(tag, name, value, base, own_urls)) is not None:
                chosen[name] = shown_link(safe_value) if tag == "a" and name == "href" else safe_value
        return chosen | forced if forced else chosen

    def link_frame(tag: str, found: dict[str, str]) -> FrameLink | None:
        return link_to_frame(tag, found, base)

    def drawing_image(number: int, found: dict[str, str]) -> dict[str, str] | None:
        size = drawing_size(found) if drawing_url else None
        if drawing_url is None or size is None:
            return None
        own_urls.add(url := drawing_url(number))
        return {"src": url, "alt": found.get("aria-label", ""), "width": str(size[0]), "height": str(size[1])}

    cleaned: str = _cleaner.clean(rewrite_tags(html, choose, link_frame, drawing_image))
    return cleaned


def _safe_value(tag: str, name: str, value: str, base: str | None, archived_urls: Container[str]) -> str | None:
    """The safe value of an attribute; None if the attribute must be dropped."""
    if tag in FORMULA_TAGS and name not in COMMON_ATTRIBUTES:
        return safe_formula_value(value)
    if name in URL_ATTRIBUTES:
        return _safe_url(tag, name, value, base, archived_urls)
    if name == "srcset":
        return _safe_srcset(value, base, archived_urls)
    if name in NUMBER_ATTRIBUTES:
        return value if _NUMBER.fullmatch(value) else None
    if name in ("alt", "title"):
        return value
    return value if not value or _WORDS.fullmatch(value) else None


def _safe_url(tag: str, name: str, value: str, base: str | None, archived_urls: Container[str]) -> str | None:
    if value in archived_urls or (tag == "img" and name == "src" and _INLINE_IMAGE.fullmatch(value)):
        return value
    url = absolute_url(value, base)
    return value if url is None and name == "href" and _CONTACT.fullmatch(value) else url


def _safe_srcset(value: str, base: str | None, archived_urls: Container[str]) -> str | None:
    if value in archived_urls:
        return value
    candidates = [
        (_safe_url("", "srcset", each.address, base, archived_urls), each.descriptor) for each in parse_srcset(value)
    ]
    return ", ".join(f"{_without_commas(url)} {size}".strip() for url, size in candidates if url) or None


def _without_commas(url: str) -> str:
    return url.replace(",", "%2C")
