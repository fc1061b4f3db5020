"""What a reader sees of an entry: its text, its links, its images, and nothing that acts."""

import re
import time
from collections.abc import Callable
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from feedmill.html.sanitize import COMMON_ATTRIBUTES, SAFE_TAGS, TAG_ATTRIBUTES, render_article_html, sanitize_html
from tests.examples import examples

BASE = "https://blog.example.org/2026/post"
LAZY = ' loading="lazy" decoding="async" referrerpolicy="no-referrer"'
REL = ' rel="noopener noreferrer nofollow"'
ADDED = {"loading", "decoding", "referrerpolicy", "rel", "controls", "preload"}
SAFE_ADDRESS = re.compile(r"https?://|mailto:|tel:|data:image/(?:png|jpeg|gif|webp|avif);base64,|/images/")


class Inspector(HTMLParser):
    """Another reader of HTML than the two that wrote it: what tags and attributes does it see?"""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [(tag, name, value or "") for name, value in attrs] or [(tag, "", "")]


def forbidden(html: str) -> list[tuple[str, str, str]]:
    """Whatever in the HTML is not plainly allowed."""
    inspector = Inspector()
    inspector.feed(html)
    return [each for each in inspector.found if not _is_allowed(*each)]


def _is_allowed(tag: str, name: str, value: str) -> bool:
    if tag not in SAFE_TAGS or (name and name not in TAG_ATTRIBUTES.get(tag, frozenset()) | COMMON_ATTRIBUTES | ADDED):
        return False
    if name == "srcset":
        return all(SAFE_ADDRESS.match(part.strip()) for part in value.split(", "))
    return name not in {"href", "src", "poster", "cite", "data-frame"} or bool(SAFE_ADDRESS.match(value))


# --- images -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ('<img src="/a.png">', '<img src="/images/1/x/0.png"'),
        ('<img src="../a.png">', '<img src="/images/1/x/0.png"'),
        ('<img src="b.png">', '<img src="https://blog.example.org/2026/b.png"'),
        ('<img srcset="/s.png 300w, /a.png 1600w">', '<img srcset="/images/1/x/0.png" src="/images/1/x/0.png"'),
        ('<img src="data:image/gif;base64,R0lG" data-src="/a.png">', '<img src="/images/1/x/0.png"'),
        ('<img data-srcset="/a.png 2x">', '<img srcset="/images/1/x/0.png" src="/images/1/x/0.png"'),
        ('<video poster="/a.png" src="/v.mp4"></video>', 'poster="/images/1/x/0.png"'),
        ('<picture><source srcset="/a.png"><img src="/b.png"></picture>', '<source srcset="/images/1/x/0.png">'),
        ('<image src="/a.png">', '<img src="/images/1/x/0.png"'),
    ],
)
def test_archived_images_take_the_place_of_the_original_wherever_it_is_named(written: str, shown: str) -> None:
    html = render_article_html(written, BASE, {"https://blog.example.org/a.png": "/images/1/x/0.png"})

    assert shown in html
    assert not forbidden(html)


def test_links_to_an_archived_image_stay_links_to_the_original() -> None:
    archived = {"https://blog.example.org/a.png": "/images/1/x/0.png"}

    html = render_article_html('<a href="/a.png"><img src="/a.png"></a>', BASE, archived)

    assert html == f'<a href="https://blog.example.org/a.png"{REL}><img src="/images/1/x/0.png"{LAZY}></a>'


def test_no_entry_can_point_at_our_own_site_by_a_relative_address() -> None:
    assert sanitize_html('<img src="/logout"><a href="/admin">x</a>') == f"<a{REL}>x</a>"


def test_addresses_of_the_bucket_are_taken_as_they_are() -> None:
    signed = "https://bucket.example/images/1/x/0.png?X-Sig=a%2Bb&X-Date=1"

    html = render_article_html('<img src="/a.png">', BASE, {"https://blog.example.org/a.png": signed})

    assert f'src="{signed.replace("&", "&amp;")}"' in html


def test_an_image_that_is_repeated_for_browsers_without_scripts_is_shown_once() -> None:
    html = '<img data-src="/a.png"><noscript><img src="/a.png"></noscript><noscript><img src="/b.png"></noscript>'

    assert render_article_html(html, BASE).count("<img") == 2


def test_nothing_to_show_is_nothing() -> None:
    assert render_article_html(None) == render_article_html("") == ""


# --- what is left and what goes ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("<p>one<p>two", "<p>one</p><p>two</p>"),
        ("<p>one</p>\n<p>two <b>x</b><br>y</p><p>three", "<p>one</p>\n<p>two <b>x</b><br>y</p><p>three</p>"),
        ("<ul><li>one</p><p>two</ul>three", "<ul><li>one<p>two</p></li></ul>three"),
        ("<ul><li>a<li>b<ul><li>c</ul></ul>", "<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>"),
        ("<b><p>x</b>y</p>", "<b><p>x</p></b>y"),
        ("<table><tr><td>1<tr><td>2</table>", "<table><tbody><tr><td>1</td></tr><tr><td>2</td></tr></tbody></table>"),
        ("<dl><dt>a<dd>b<dt>c</dl>", "<dl><dt>a</dt><dd>b</dd><dt>c</dt></dl>"),
        ("</div></p>text</table>", "text"),
        ("<td>x</div></td>", "x"),
        ("1 < 2 & 3 > 2", "1 &lt; 2 &amp; 3 &gt; 2"),
        ("<pre>  a\n  b</pre>", "<pre>  a\n  b</pre>"),
        ("<center><tt>x</tt></center>", "<div><code>x</code></div>"),
        ("<span class=k>def</span> f", "def f"),
        ('<td colspan="2">', ""),
        ("<a href='MAILTO:a@b.c'>m</a>", f'<a href="MAILTO:a@b.c"{REL}>m</a>'),
        ("<time datetime='2026-02-18T08:30:00+01:00'>t</time>", '<time datetime="2026-02-18T08:30:00+01:00">t</time>'),
    ],
)
def test_text_keeps_its_shape_and_becomes_well_formed(written: str, shown: str) -> None:
    assert sanitize_html(written, BASE) == shown


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "<scr<script>ipt>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        '<img src="x" hx-get="/x" data-hx-post="/y" hx-on:click="alert(1)" x-data="{}" @click="a()">',
        "<a href=javascript:alert(1)>x</a>",
        "<a href=' java\nscript:alert(1)'>x</a>",
        "<a href='&#106;avascript:alert(1)'>x</a>",
        "<a href='data:text/html,<script>alert(1)</script>'>x</a>",
        "<a href='vbscript:x'>x</a>",
        "<img src='data:image/svg+xml;base64,PHN2Zz4='>",
        "<img src='data:text/html;base64,PHN2Zz4='>",
        "<img srcset='javascript:alert(1) 1x, data:image/svg+xml,x 2x'>",
        "<svg><script>alert(1)</script></svg>",
        "<svg onload=alert(1)><a xlink:href='javascript:alert(1)'><text>x</text></a></svg>",
        "<svg><style><img src=x onerror=alert(1)></style></svg>",
        "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>",
        "<math href='javascript:alert(1)'>x</math>",
        "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
        "<object data=x></object><embed src=x><applet code=x></applet>",
        "<form action=/x><input name=a autofocus onfocus=alert(1)><button formaction=/y>b</button></form>",
        "<style>@import '//x'</style><link rel=stylesheet href=//x><meta http-equiv=refresh content='0;url=//x'>",
        "<base href='//evil.example/'><p style='background:url(//x)' class=c id=i name=n>x</p>",
        "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>",
        "<template><script>alert(1)</script></template>",
        "<textarea><img title='</textarea><img src=x onerror=alert(1)>'></textarea>",
        "<title><img title='</title><img src=x onerror=alert(1)>'></title>",
        "<xmp><img title='</xmp><img src=x onerror=alert(1)>'></xmp><plaintext><script>",
        "<!--><script>alert(1)</script>--><!--!><img src=x onerror=alert(1)>-->",
        "<![CDATA[<script>alert(1)</script>]]>",
        "<video><source onerror=alert(1) src=x></video><audio src='javascript:alert(1)' autoplay onplay=a()>",
        "<details open ontoggle=alert(1)>x</details>",
        "<p title='\"><script>alert(1)</script>'>x</p>",
        '<p title="`onmouseover=alert(1)">x</p>',
        "<a href='https://x.example' ping='/p' target=_top download>x</a>",
        "<img src=`javascript:alert(1)`>",
        "<\x00script>alert(1)</script>",
        "<a/href=javascript&colon;alert(1)>x</a>",
    ],
)
def test_nothing_that_acts_is_left(hostile: str) -> None:
    for html in (sanitize_html(hostile, BASE), sanitize_html(hostile), render_article_html(hostile, BASE)):
        assert not forbidden(html)
        assert "<script" not in html.lower()


WORDS = """
<a <b <p <img <svg <math <style <script <table <td <!-- --> --!> <![CDATA[ ]]> </ /> > < ' " ` = & &lt; &#x3c; href=
src= srcset= onerror= onload= hx-get= data-hx-get= style= id= class= javascript: data:text/html, //x /y # alert(1)
data:image/png;base64,AAAA noscript> textarea> title> iframe> template> xmp> plaintext> </style> </script> </svg>
</math> </p> </td> poster= xlink:href= a0 é <math> <mi> </mi> <mtext> <mfenced> </mfenced> <mrow> <semantics>
<annotation> <annotation-xml </annotation-xml> <mglyph> <svg> <foreignObject> <desc> <title> <iframe <b> </b> <p>
encoding= https://x.example/
"""
PIECES = st.sampled_from([*WORDS.split(), " ", "\n", "\t", "\x0c", "\x00", "\u202e"])


@settings(max_examples=examples(600))
@given(st.lists(PIECES, max_size=40).map("".join))
def test_whatever_is_written_what_is_shown_never_holds_the_forbidden(html: str) -> None:
    for shown in (
        sanitize_html(html),
        sanitize_html(html, BASE),
        render_article_html(html, BASE, {BASE: "/images/1/x/0.png"}),
    ):
        assert not forbidden(shown)


@settings(max_examples=examples(200))
@given(st.lists(PIECES, max_size=30).map("".join))
def test_showing_what_was_shown_changes_nothing_more(html: str) -> None:
    once = sanitize_html(html, BASE)

    assert sanitize_html(once, BASE) == once


# --- formulas, frames, drawings ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (
            "<math display='block'><msup><mi mathvariant=normal>x</mi><mn>2</mn></msup></math>",
            '<math display="block"><msup><mi mathvariant="normal">x</mi><mn>2</mn></msup></math>',
        ),
        ("<p><math><mi>x<p>y", "<p><math><mi>x</mi></math></p><p>y</p>"),
        ("<math><mtext><b>a</b> b</mtext></math>c", "<math><mtext>a b</mtext></math>c"),
        ("<math><mrow/><mn>1</mn></math>", "<math><mrow></mrow><mn>1</mn></math>"),
        (
            "<math><mfenced open='[' separators=';'><mi>a</mi><mi>b</mi></mfenced></math>",
            "<math><mrow><mo>[</mo><mi>a</mi><mo>;</mo><mi>b</mi><mo>)</mo></mrow></math>",
        ),
        (
            "<math><semantics><mi>x</mi><annotation encoding='application/x-tex'>\\x</annotation></semantics></math>",
            "<math><semantics><mi>x</mi></semantics></math>",
        ),
        ("<math><mspace width='99999em' href=/x></math>", "<math><mspace></mspace></math>"),
        ("<mi>x</mi> alone", "x alone"),
    ],
)
def test_a_formula_keeps_its_shape_and_contains_nothing_but_mathml(written: str, shown: str) -> None:
    assert sanitize_html(written, BASE) == shown
    assert sanitize_html(shown, BASE) == shown


@pytest.mark.parametrize(
    ("frame", "page", "text"),
    [
        ("<iframe src=//www.youtube.com/embed/dQw4w9WgXcQ?start=90>", "youtube.com/watch?v=dQw4w9WgXcQ&amp;t=90s", ""),
        (
            "<iframe data-src=https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ title='A talk'>",
            "dQw4w9WgXcQ",
            "A talk",
        ),
        ("<object data=https://www.youtube.com/v/dQw4w9WgXcQ&hl=en></object>", "watch?v=dQw4w9WgXcQ", ""),
        ("<lite-youtube videoid=dQw4w9WgXcQ></lite-youtube>", "watch?v=dQw4w9WgXcQ", ""),
        (
            "<iframe src=https://player.vimeo.com/video/76979871?h=8272103f6e>",
            "https://vimeo.com/76979871/8272103f6e",
            "",
        ),
        ("<iframe src='/map?a=1&amp;b=2'>", "https://blog.example.org/map?a=1&amp;b=2", "blog.example.org"),
        ("<iframe src=https://www.youtube.com/embed/videoseries?list=PL1>", "embed/videoseries?list=PL1", ""),
    ],
)
def test_a_frame_becomes_a_link_to_what_it_shows(frame: str, page: str, text: str) -> None:
    html = sanitize_html(f"<p>{frame}</iframe> after", BASE)

    assert re.search(rf'<a href="[^"]*{re.escape(page)}" data-frame="https://[^"]+"{REL}>[^<]*{text}</a>', html)
    assert html.endswith(" after</p>")
    assert not forbidden(html)


@pytest.mark.parametrize(
    "nothing",
    [
        "<iframe src=about:blank></iframe>",
        "<iframe src='javascript:alert(1)'></iframe>",
        "<iframe src='data:text/html,x'></iframe>",
        "<iframe src=https://counter.example/ width=1 height=1></iframe>",
        "<iframe srcdoc='<p>x'></iframe>",
        "<svg viewBox='0 0 9 9'><text>x</text><desc><p>y</p></desc></svg>",
    ],
)
def test_a_frame_without_a_page_leaves_nothing(nothing: str) -> None:
    assert sanitize_html(f"<p>a{nothing}b</p>", BASE) == "<p>ab</p>"


def test_the_same_frame_is_shown_once() -> None:
    video = "<embed src=https://www.youtube.com/v/dQw4w9WgXcQ>"

    assert sanitize_html(f"<object data=https://www.youtube.com/v/dQw4w9WgXcQ>{video}</object>").count("<a ") == 1


# How often something is repeated, and the HTML with it.
HOSTILE: dict[str, tuple[int, Callable[[int], str]]] = {
    "nested": (100_000, lambda n: "<div>" * n),
    "formatting": (10_000, lambda n: "".join(f"<b title={number}>" for number in range(n)) + "<p>x" * n),
    "walls": (20_000, lambda n: "<div><table><tr><td></div></td></tr></table>" * n),
    "attributes": (100_000, lambda n: "<img " + " ".join(f"a{number}=1" for number in range(n)) + ">"),
    "unmatched": (50_000, lambda n: "<p>" * n + "<div>" * n + "</p>" * n),
    "links": (50_000, lambda n: "<a href=x>" * n),
    "foreign": (50_000, lambda n: "<svg><style>" * n),
    "formulas": (50_000, lambda n: "<math><mrow>" * n + "<mi>x<p>" * n),
    "fences": (50_000, lambda n: "<math>" + "<mfenced><mi>a</mi>" * n),
    "frames": (50_000, lambda n: "".join(f"<iframe src=https://x.example/{number}></iframe>" for number in range(n))),
    "set off": (100_000, lambda n: "<b>x</b>" * n),
    "paragraphs": (100_000, lambda n: "<p>x</p> " * n + "<x-y>"),
    "interrupted": (20_000, lambda n: "<p>x</p><!-- y -->" * n),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_entry_takes_long_or_grows_out_of_bounds(name: str, size_share: float) -> None:
    count, make = HOSTILE[name]
    html = make(int(count * size_share))
    started = time.process_time()

    shown = sanitize_html(html, BASE)

    assert time.process_time() - started < 10 * size_share
    assert len(shown) < 10 * len(html)
