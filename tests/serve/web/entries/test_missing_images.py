"""Images that are not archived: no page requests them from another site."""

import re

import pytest

from feedmill.html.hide_remote_images import RemoteImageReplacer
from feedmill.html.sanitize import render_article_html
from feedmill.i18n.translator import translator

ORIGINAL = "https://pictures.example/a.png"
OURS = "/images/1/ab12cd34/0.png"


def hide(html: str, archived: dict[str, str] | None = None) -> tuple[str, int]:
    archived = archived or {}
    hiding = RemoteImageReplacer(frozenset(archived.values()), translator("en"))
    return hiding.hide(render_article_html(html, "https://example.org/", archived)), hiding.hidden


def test_an_archived_image_stays_and_any_other_becomes_a_placeholder() -> None:
    other = '<img src="https://other.example/b.png" alt="A &gt; B &quot;c&quot;">'

    shown, hidden = hide(f'<img src="{ORIGINAL}">{other}', {ORIGINAL: OURS})

    assert f'src="{OURS}"' in shown
    assert hidden == 1
    assert "other.example/b.png" not in shown
    assert "A &gt; B &#34;c&#34; <small>other.example</small>" in shown


def test_only_an_archived_image_is_marked_as_archived() -> None:
    both = f'<img src="{ORIGINAL}"><img src="https://other.example/b.png">'
    inside = f'<picture><img src="{ORIGINAL}"></picture>'

    shown, _ = hide(both + inside, {ORIGINAL: OURS})

    assert len(re.findall(r'<span class="kept" title="Archived"><img src="/images/[^>]*><svg', shown)) == 1
    assert "<picture><img" in shown


def test_an_image_in_the_object_store_stays() -> None:
    stored = "https://bucket.example/images/1/x/0.png?signature=abc"

    assert hide(f'<img src="{ORIGINAL}">', {ORIGINAL: stored})[1] == 0


@pytest.mark.parametrize(
    "html",
    [
        f'<img src="{ORIGINAL}" srcset="{ORIGINAL} 1x, https://other.example/2.png 2x">',
        f'<picture><source srcset="https://other.example/2.png"><img src="{ORIGINAL}"></picture>',
        '<video src="https://v.example/v.mp4" poster="https://other.example/2.png"></video>',
        '<img srcset="https://other.example/2.png 2x">',
        "<img src='https://other.example/2.png' alt='&quot; src=&quot;/images/x'>",
        "<IMG SRC=//other.example/2.png>",
        '<p title="<img src=x>">text</p><img src="https://other.example/2.png" title="> <img src=/a>">',
    ],
)
def test_no_url_of_another_site_is_left_for_the_browser_to_load(html: str) -> None:
    shown, _ = hide(html, {ORIGINAL: OURS})

    loaded = re.findall(r'(?:<(?:img|source)[^>]*?\s(?:src|srcset)|poster)="([^"]*)"', shown)
    assert [url for url in loaded if "other.example" in url] == []


def test_a_data_url_image_stays() -> None:
    assert hide('<img src="data:image/png;base64,iVBORw0KGgo=">')[1] == 0
