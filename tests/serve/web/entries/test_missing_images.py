"""Images that are not archived: no page requests them from another site, but from ours."""

import re
from urllib.parse import quote

import pytest

from feedmill.html.hide_remote_images import ArticleImages, RemoteImageReplacer
from feedmill.html.sanitize import render_article_html
from feedmill.i18n.translator import translator

ORIGINAL = "https://pictures.example/a.png"
OURS = "/images/1/ab12cd34/0.png"


GONE = "The site no longer has this image."


def hide(html: str, archived: dict[str, str] | None = None, failures: dict[str, str] | None = None) -> tuple[str, int]:
    archived = archived or {}
    images = ArticleImages(frozenset(archived.values()), failures or {}, lambda url: f"/item/1/image?url={quote(url)}")
    hiding = RemoteImageReplacer(images, translator("en"))
    return hiding.hide(render_article_html(html, "https://example.org/", archived)), hiding.hidden


def test_an_archived_image_stays_and_any_other_is_loaded_through_us() -> None:
    other = '<img src="https://other.example/b.png?a=1&amp;b=2" alt="A &gt; B &quot;c&quot;" width="3">'

    shown, hidden = hide(f'<img src="{ORIGINAL}">{other}', {ORIGINAL: OURS})

    assert f'src="{OURS}"' in shown
    assert hidden == 0
    assert 'src="/item/1/image?url=https%3A//other.example/b.png%3Fa%3D1%26b%3D2"' in shown
    assert 'alt="A &gt; B &quot;c&quot;" width="3"' in shown


def test_an_image_that_can_not_be_had_becomes_a_placeholder_that_says_why() -> None:
    image = '<img src="https://other.example/b.png" alt="A &gt; B &quot;c&quot;">'
    link = '<a href="https://other.example/b.png" target="_blank" rel="noopener noreferrer nofollow">other.example</a>'

    shown, hidden = hide(image, failures={"https://other.example/b.png": GONE})

    assert hidden == 1
    assert f"A &gt; B &#34;c&#34; <small>{GONE} {link}</small>" in shown
    assert "<img" not in shown


def test_a_placeholder_inside_a_link_has_no_link_of_its_own() -> None:
    html = '<a href="https://example.org/x"><img src="https://other.example/b.png"></a><img src="https://other.example/b.png">'

    shown, _ = hide(html, failures={"https://other.example/b.png": GONE})

    assert shown.count('href="https://other.example/b.png"') == 1
    assert f"<small>{GONE} other.example</small></span></span></a>" in shown


def test_a_poster_is_loaded_through_us_or_left_out() -> None:
    video = '<video src="https://v.example/v.mp4" poster="https://other.example/b.png"></video>'

    assert 'poster="/item/1/image?url=https%3A//other.example/b.png"' in hide(video)[0]
    assert "poster" not in hide(video, failures={"https://other.example/b.png": GONE})[0]


def test_an_address_that_is_too_long_to_ask_for_becomes_a_placeholder() -> None:
    assert hide(f'<img src="https://other.example/{"x" * 5000}.png">')[1] == 1


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
    assert [url for url in loaded if not url.startswith("/")] == []


def test_a_data_url_image_stays() -> None:
    assert hide('<img src="data:image/png;base64,iVBORw0KGgo=">')[1] == 0
