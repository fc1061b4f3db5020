"""Replaces images that are not archived by placeholders, and marks those that are.

So no page asks another site for any.

What comes in has been sanitized: its tags are well-formed, their attributes quoted, quotes in them escaped.
"""

import re
from collections.abc import Callable, Container
from html import unescape
from urllib.parse import urlsplit

from markupsafe import Markup

_TAG = re.compile(r'<(img|source|video|/?picture)((?:\s+[\w-]+="[^"]*")*)\s*>')
_ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')


class RemoteImageReplacer:
    """One pass over an article; `hidden` counts the pictures that were taken out.

    What stands in a `picture` bears no mark, because that must hold its `img` itself.
    """

    def __init__(self, ours: Container[str], words: Callable[..., str]) -> None:
        self._ours, self._words = ours, words
        self.hidden = 0
        self._in_picture = False

    def hide(self, html: str) -> str:
        return _TAG.sub(self._tag, html)

    def _tag(self, found: re.Match[str]) -> str:
        name, written = found.groups()
        if "picture" in name:
            self._in_picture = name == "picture"
            return found[0]
        attributes = {key: unescape(value) for key, value in _ATTRIBUTE.findall(written)}
        if name == "video":
            return found[0] if self._is_ours(attributes.get("poster", "/")) else _without(found[0], "poster")
        if name == "source":
            return found[0] if self._all_ours(attributes.get("srcset", "")) else ""
        if not self._is_ours(attributes.get("src", "")):
            self.hidden += 1
            return self._placeholder(attributes)
        kept = found[0] if self._all_ours(attributes.get("srcset", "")) else _without(found[0], "srcset")
        is_archived = attributes.get("src", "") in self._ours and not self._in_picture
        return self._marked(kept) if is_archived else kept

    def _marked(self, tag: str) -> str:
        icon = '<svg class="i" aria-hidden="true"><use href="#i-archive"/></svg>'
        return f'<span class="kept" title="{self._words("article.archived_image")}">{tag}{icon}</span>'

    def _placeholder(self, attributes: dict[str, str]) -> str:
        site = urlsplit(attributes.get("src", "")).hostname or ""
        said = attributes.get("alt", "").strip() or self._words("article.absent_image")
        icon = Markup('<svg class="i" aria-hidden="true"><use href="#i-image"/></svg>')
        return Markup('<span class="absent">{}<span>{} <small>{}</small></span></span>').format(icon, said, site)

    def _all_ours(self, srcset: str) -> bool:
        return all(self._is_ours(each.split()[0]) for each in srcset.split(", ") if each.split())

    def _is_ours(self, url: str) -> bool:
        own_path = url.startswith("/") and not url.startswith("//")
        return own_path or url.startswith("data:image/") or url in self._ours


def _without(tag: str, name: str) -> str:
    return re.sub(rf'\s+{name}="[^"]*"', "", tag)
