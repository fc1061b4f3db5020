"""Selectors: which elements of a page are meant, and the article that they cut out."""

import pytest
from lxml import html

from feedmill.html.readability import extract_article
from feedmill.html.selectors import MAX_SELECTOR_LENGTH, BadSelector, parse_selector

PAGE = """<body><header id="top">Top</header>
<main role="main"><div class="post big"><p id="p1">One</p><div class="inner"><p>Two</p></div>
<aside class="ad">Ad</aside><script>alert(1)</script></div>
<div class="post"><p data-x="a b">Three</p></div></main></body>"""


def meant(selector: str, page: str = PAGE) -> list[str]:
    chosen = parse_selector(selector)
    assert chosen is not None
    return [" ".join(element.text_content().split()) for element in chosen.outermost(html.fromstring(page))]


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("#top", ["Top"]),
        ("header", ["Top"]),
        ("HEADER#top", ["Top"]),
        (".inner", ["Two"]),
        (".post.big > p", ["One"]),
        (".post p", ["One", "Two", "Three"]),
        ("main > p", []),
        ("[role=main] > .post > .inner p", ["Two"]),
        ('[data-x="a b"]', ["Three"]),
        ("p[data-x]", ["Three"]),
        ("div p, .ad", ["One", "Two", "Ad", "Three"]),
        ("*.ad", ["Ad"]),
        (".missing", []),
    ],
)
def test_elements_are_found_in_the_order_of_the_page(selector: str, found: list[str]) -> None:
    assert meant(selector) == found


def test_what_is_inside_of_what_was_found_is_not_found_again() -> None:
    assert len(meant("div, p")) == 2


@pytest.mark.parametrize(
    "selector",
    ["p:nth-child(2)", "p >", "> p", ",", "a,,b", "p + p", "[", "[a=']", "..a", "p{", "a" * (MAX_SELECTOR_LENGTH + 1)],
)
def test_what_is_no_selector_of_ours_is_refused(selector: str) -> None:
    with pytest.raises(BadSelector) as refused:
        parse_selector(selector, "keep_selector")

    assert refused.value.field == "keep_selector"


def test_an_empty_selector_means_nothing() -> None:
    assert parse_selector("  ") is None


def test_a_page_as_deep_as_it_likes_is_walked_once() -> None:
    deep = "<div>" * 200 + "<p>End</p>" + "</div>" * 200

    assert meant("div div > div div > div div > p", f"<body>{deep}</body>") == ["End"]


def test_an_article_is_what_is_kept_without_what_is_dropped_and_without_scripts() -> None:
    found = extract_article(PAGE, parse_selector(".post"), parse_selector(".ad, .inner"))

    assert found is not None
    assert all(word in found for word in ("One", "Three"))
    assert not any(word in found for word in ("Two", "Ad", "alert", "Top"))


def test_where_nothing_is_kept_the_article_is_found_by_itself() -> None:
    page = f"<body><div>{'<p>The river rose, and the river fell, and nobody minded it much.</p>' * 6}</div></body>"

    assert "The river rose" in (extract_article(page, parse_selector(".post"), None) or "")
