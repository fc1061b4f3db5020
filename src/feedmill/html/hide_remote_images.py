"""Rewrites images that are not archived, so that no page loads an image from another site.

Each gets an address of ours, from which the server fetches it, or a placeholder that says why there is none. Archived
images get a mark. The HTML must be sanitized: tags are well-formed, attributes quoted, quotes in them escaped.
"""

import re
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from html import escape, unescape

from markupsafe import Markup

from feedmill.model.hosts import host_of

_TAG = re.compile(r'<(img|source|video|/?picture|/?a)((?:\s+[\w-]+="[^"]*")*)\s*>')
_ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')
# Longer addresses would not fit into the request for them.
MAX_URL_LENGTH = 4000


@dataclass(frozen=True, slots=True)
class ArticleImages:
    """What is known of an article's images: the URLs of archived ones, the reasons of failed ones by original URL.

    `local_url` makes the address of ours from which an image that is not archived is loaded.
    """

    archived_urls: Container[str]
    failures: Mapping[str, str]
    local_url: Callable[[str], str]


class RemoteImageReplacer:
    """Rewrites one article; `hidden` counts the placeholders.

    Images in a `picture` get no mark, because the `img` must be a direct child of the `picture`.
    """

    def __init__(self, images: ArticleImages, translate: Callable[..., str]) -> None:
        self._images, self._translate = images, translate
        self.hidden = 0
        self._in_picture = self._in_link = False

    def hide(self, html: str) -> str:
        return _TAG.sub(self._tag, html)

    def _tag(self, match: re.Match[str]) -> str:
        name, attribute_text = match.groups()
        if name.endswith("picture"):
            self._in_picture = name == "picture"
            return match[0]
        if name.endswith("a"):
            self._in_link = name == "a"
            return match[0]
        attributes = {key: unescape(value) for key, value in _ATTRIBUTE.findall(attribute_text)}
        if name == "video":
            return self._video(attributes)
        if name == "source":
            return match[0] if self._all_local(attributes.get("srcset", "")) else ""
        return self._image(attributes)

    def _video(self, attributes: dict[str, str]) -> str:
        poster = attributes.get("poster", "/")
        if not self._is_local(poster):
            del attributes["poster"]
            attributes |= {"poster": self._images.local_url(poster)} if self._may_be_loaded(poster) else {}
        return _written("video", attributes)

    def _image(self, attributes: dict[str, str]) -> str:
        source = attributes.get("src", "")
        if not self._all_local(attributes.get("srcset", "")):
            del attributes["srcset"]
        if self._is_local(source):
            is_archived = source in self._images.archived_urls and not self._in_picture
            tag = _written("img", attributes)
            return self._marked(tag) if is_archived else tag
        if self._may_be_loaded(source):
            return _written("img", attributes | {"src": self._images.local_url(source)})
        self.hidden += 1
        reason = self._images.failures.get(source, self._translate("article.image_failed"))
        return image_placeholder(source, attributes.get("alt", ""), reason, self._translate, linked=not self._in_link)

    def _may_be_loaded(self, url: str) -> bool:
        return url not in self._images.failures and 0 < len(url) <= MAX_URL_LENGTH

    def _marked(self, tag: str) -> str:
        icon = '<svg class="i" aria-hidden="true"><use href="#i-archive"/></svg>'
        return f'<span class="kept" title="{self._translate("article.archived_image")}">{tag}{icon}</span>'

    def _all_local(self, srcset: str) -> bool:
        return all(self._is_local(each.split()[0]) for each in srcset.split(", ") if each.split())

    def _is_local(self, url: str) -> bool:
        own_path = url.startswith("/") and not url.startswith("//")
        return own_path or url.startswith("data:image/") or url in self._images.archived_urls


def image_placeholder(url: str, alt: str, reason: str, translate: Callable[..., str], *, linked: bool = True) -> Markup:
    """What is shown in place of an image: its text, why it is not there, and a link to the original."""
    icon = Markup('<svg class="i" aria-hidden="true"><use href="#i-image"/></svg>')
    host = host_of(url)
    link = Markup('<a href="{}" target="_blank" rel="noopener noreferrer nofollow">{}</a>').format(url, host)
    origin = link if linked and url.startswith(("https://", "http://")) else host
    text = alt.strip() or translate("article.absent_image")
    return Markup('<span class="absent">{}<span>{} <small>{} {}</small></span></span>').format(
        icon, text, reason, origin
    )


def _written(name: str, attributes: Mapping[str, str]) -> str:
    values = "".join([f' {key}="{escape(value)}"' for key, value in attributes.items()])
    return f"<{name}{values}>"
