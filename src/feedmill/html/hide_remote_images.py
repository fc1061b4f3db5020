"""Replaces images that are not archived by placeholders, so that no page loads an image from another site.

Archived images get a mark. The HTML must be sanitized: tags are well-formed, attributes quoted, quotes in them escaped.
"""

import re
from collections.abc import Callable, Container
from html import unescape

from markupsafe import Markup

from feedmill.model.hosts import host_of

_TAG = re.compile(r'<(img|source|video|/?picture)((?:\s+[\w-]+="[^"]*")*)\s*>')
_ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')


class RemoteImageReplacer:
    """Rewrites one article; `hidden` counts the images that were replaced.

    Images in a `picture` get no mark, because the `img` must be a direct child of the `picture`.
    """

    def __init__(self, archived_urls: Container[str], translate: Callable[..., str]) -> None:
        self._archived_urls, self._translate = archived_urls, translate
        self.hidden = 0
        self._in_picture = False

    def hide(self, html: str) -> str:
        return _TAG.sub(self._tag, html)

    def _tag(self, match: re.Match[str]) -> str:
        name, attribute_text = match.groups()
        if "picture" in name:
            self._in_picture = name == "picture"
            return match[0]
        attributes = {key: unescape(value) for key, value in _ATTRIBUTE.findall(attribute_text)}
        if name == "video":
            return match[0] if self._is_local(attributes.get("poster", "/")) else _without(match[0], "poster")
        if name == "source":
            return match[0] if self._all_local(attributes.get("srcset", "")) else ""
        if not self._is_local(attributes.get("src", "")):
            self.hidden += 1
            return self._placeholder(attributes)
        tag = match[0] if self._all_local(attributes.get("srcset", "")) else _without(match[0], "srcset")
        is_archived = attributes.get("src", "") in self._archived_urls and not self._in_picture
        return self._marked(tag) if is_archived else tag

    def _marked(self, tag: str) -> str:
        icon = '<svg class="i" aria-hidden="true"><use href="#i-archive"/></svg>'
        return f'<span class="kept" title="{self._translate("article.archived_image")}">{tag}{icon}</span>'

    def _placeholder(self, attributes: dict[str, str]) -> str:
        site = host_of(attributes.get("src", ""))
        alt_text = attributes.get("alt", "").strip() or self._translate("article.absent_image")
        icon = Markup('<svg class="i" aria-hidden="true"><use href="#i-image"/></svg>')
        return Markup('<span class="absent">{}<span>{} <small>{}</small></span></span>').format(icon, alt_text, site)

    def _all_local(self, srcset: str) -> bool:
        return all(self._is_local(each.split()[0]) for each in srcset.split(", ") if each.split())

    def _is_local(self, url: str) -> bool:
        own_path = url.startswith("/") and not url.startswith("//")
        return own_path or url.startswith("data:image/") or url in self._archived_urls


def _without(tag: str, name: str) -> str:
    return re.sub(rf'\s+{name}="[^"]*"', "", tag)
