"""Drawings in articles: what is shown of them as an image, and what is left out."""

import pytest
from lxml import etree

from feedmill.html.drawings import MAX_LENGTH, drawing_size, svg_document
from feedmill.html.rewrite_tags import MAX_DRAWINGS, find_drawing
from feedmill.html.sanitize import render_article_html
from tests.html.script_vectors import all_vectors

SVG = "{http://www.w3.org/2000/svg}"
CHART = (
    "<svg width=300 viewBox='0 0 300 120' height=120><linearGradient id=g><stop offset=0></linearGradient>"
    "<rect width=300 height=120 fill='url(#g)'/><text x=9 y=9>A &nbsp;&amp; b</text></svg>"
)


def drawn(html: str) -> list[str]:
    """The elements of the drawing; it must be well-formed."""
    document = svg_document(html)
    return [] if document is None else [str(each.tag).removeprefix(SVG) for each in etree.fromstring(document).iter()]


def test_a_drawing_is_an_image_at_its_place_and_its_words_are_not_repeated() -> None:
    html = render_article_html(f"<p>a</p>{CHART}<p>b</p>", None, {}, lambda number: f"/drawing/{number}")

    assert html.startswith('<p>a</p><img src="/drawing/0" alt="" width="300" height="120"')
    assert html.endswith("><p>b</p>")
    assert "A " not in html


def test_each_drawing_is_found_by_the_number_of_its_image() -> None:
    icon = "<svg width=16 height=16><path d='M0 0'/></svg>"
    html = f"{icon}{CHART}<svg viewBox='0 0 99 99'><svg><circle r=1 /></svg><g><p>text"

    shown = render_article_html(html, None, {}, str)

    assert (shown.count("<img"), 'src="1"' in shown, 'src="2"' in shown) == (2, True, True)
    assert find_drawing(html, 1) == CHART
    assert find_drawing(html, 2) == "<svg viewBox='0 0 99 99'><svg><circle r=1 /></svg><g>"
    assert find_drawing(html, 3) is None


def test_a_document_has_the_spelling_of_svg_and_its_own_references() -> None:
    document = svg_document(CHART)

    assert document is not None
    root = etree.fromstring(document)
    assert (root.get("viewBox"), root[1].get("fill"), root[2].text) == ("0 0 300 120", "url(#g)", "A \xa0& b")
    assert drawn(CHART) == ["svg", "linearGradient", "stop", "rect", "text"]


@pytest.mark.parametrize(
    "hostile",
    [
        "<svg onload=alert(1) xmlns:x=y x:href=z><script>alert(1)</script><circle r=1 onclick=alert(1) /></svg>",
        "<svg><a href='javascript:alert(1)'><circle r=1 /></a><image href='https://evil.example/a.png'/></svg>",
        "<svg><foreignObject><script>alert(1)</script><p>x</p></foreignObject><circle r=1 /></svg>",
        "<svg><style>@import url(//evil.example)</style><circle r=1 style='fill:url(//evil.example)'/></svg>",
        "<svg><circle r=1 fill='u\\72l(//evil.example)'/><animate attributeName=href to='javascript:alert(1)'/></svg>",
        "<svg><use href='https://evil.example/a.svg#x'/><circle r=1 /><set attributeName=onload to=alert(1)></svg>",
        "<svg>\x00\x0b<circle r='1\x1f'/><!-- --><![CDATA[<script>]]></svg>",
    ],
)
def test_nothing_in_a_drawing_acts_or_loads(hostile: str) -> None:
    document = svg_document(hostile) or ""

    assert {"svg", "circle"} <= set(drawn(hostile)) <= {"svg", "circle", "style"}
    assert not any(word in document for word in ("alert", "evil", "javascript"))


def test_every_vector_leaves_only_the_elements_of_drawings() -> None:
    for name, html in all_vectors():
        found = find_drawing(html, 0)
        document = found and svg_document(found)
        if not document:
            continue
        for each in etree.fromstring(document).iter():
            assert str(each.tag).startswith(SVG), name
            assert not [key for key in each.attrib if str(key).startswith("on")], name
            assert str(each.get("href", "#")).startswith("#"), name


def test_references_can_not_multiply() -> None:
    levels = "".join(f"<g id=a{n}>" + f"<use href='#a{n - 1}'/>" * 10 + "</g>" for n in range(1, 9))

    assert drawn(f"<svg><g id=a0><circle r=1 /></g>{levels}</svg>").count("use") == 10
    assert drawn("<svg><mask id=m><rect mask='url(#m)'/></mask></svg>") == ["svg", "mask", "rect"]
    assert "mask=" not in (svg_document("<svg><mask id=m><rect mask='url(#m)'/></mask></svg>") or "")


def test_icons_and_drawings_that_are_too_long_are_left_out() -> None:
    assert drawing_size({"width": "24", "height": "24"}) is None
    assert drawing_size({"viewbox": "0 0 24 24"}) is None
    assert drawing_size({"viewbox": "0 0 640.5 480", "aria-hidden": "true"}) is None
    assert drawing_size({"viewbox": "0 0 640.5 480"}) == (640, 480)
    assert drawing_size({"width": "100%", "height": "1e9"}) is None
    assert svg_document("<svg>" + " " * MAX_LENGTH) is None


def test_of_very_many_drawings_the_first_are_shown() -> None:
    icon = "<svg width=16 height=16><path d='M0 0'/></svg>"

    shown = render_article_html(f"{icon * 60}{CHART * 60}", None, {}, str)

    assert shown.count("<img") == MAX_DRAWINGS
    assert f'src="{60 + MAX_DRAWINGS - 1}"' in shown
