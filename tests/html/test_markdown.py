"""HTML as Markdown: blocks, links, lists, quotes and code; up to a length; any markup gives a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedmill.html.markdown import html_to_markdown

PIECES = '< > <p> </p> <b> </b> <a href="x"> </a> <ul> <ol> <li> </ul> <pre> </pre> <blockquote> </blockquote> &amp; a'
MARKUP = st.lists(st.sampled_from([*PIECES.split(), " ", "\n", "<td>", "</td>", "<h2>", "<hr>"]), max_size=60)


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p>One</p><p>Two</p>", "One\n\nTwo"),
        ("a<br>b", "a\nb"),
        ("<h2>Head</h2>text", "## Head\n\ntext"),
        ("<b>bold</b> <em>em</em> <code>x</code> <del>no</del>", "**bold** *em* `x` ~~no~~"),
        ('<a href="https://a.example/">link</a>', "[link](https://a.example/)"),
        ("<a>no link</a>", "no link"),
        ("<ul><li>one</li><li><p>two</p></li></ul>", "- one\n- two"),
        ("<ol><li>one<ul><li>in it</li></ul></li><li>two</li></ol>", "1. one\n  - in it\n2. two"),
        ("<blockquote><p>a</p><p>b</p></blockquote>", "> a\n> \n> b"),
        ("<pre>x = 1\n  y</pre><p>z</p>", "```\nx = 1\n  y\n```\n\nz"),
        ("<table><tr><td>a</td><td>b</td></tr></table>", "a | b |"),
        ('<img src="a.png" alt="A  cat"> and <img src="b.png">', "[image: A cat] and"),
        ("1 &lt; 2 &amp; 3", "1 < 2 & 3"),
        ("a<script>alert(1)</script>b<!-- c -->", "ab"),
        ("<p> </p><div></div>  text  ", "text"),
        ("", ""),
    ],
)
def test_markup_becomes_markdown(html: str, markdown: str) -> None:
    assert html_to_markdown(html, 1000) == (markdown, False)


def test_it_is_cut_where_it_is_long_enough() -> None:
    assert html_to_markdown("<p>abc</p><p>def</p>", 3) == ("abc", True)
    assert html_to_markdown("<p>abc</p>", 3) == ("abc", False)


def test_deep_nesting_does_not_make_lines_longer() -> None:
    assert len(html_to_markdown("<blockquote>" * 5000 + "x", 10_000).text) < 20


def test_links_are_written_by_the_caller() -> None:
    assert html_to_markdown('<a href="secret">x</a>', 100, lambda url: url[::-1]).text == "[x](terces)"


@given(MARKUP)
def test_any_markup_gives_a_text_within_the_limit(pieces: list[str]) -> None:
    html = "".join(pieces)

    whole, cut = html_to_markdown(html, 10_000), html_to_markdown(html, 20)

    assert not whole.is_cut
    assert len(cut.text) <= 20
    assert cut.is_cut or cut.text == whole.text
