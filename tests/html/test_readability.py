"""The article of a web page."""

import time

import pytest

from feedmill.html.readability import MAX_PAGE_LENGTH, extract_article
from feedmill.html.sanitize import sanitize_html

PROSE = "The river rose in the night, and by the morning, as everybody had feared, it stood in the streets. "
ARTICLE = f"<p>{PROSE}</p><p>Nobody was hurt. {PROSE}</p><img src='/flood.jpg'><p>{PROSE}</p>"
MENU = "<ul>" + "".join(f"<li><a href='/{n}'>Menu item {n}</a></li>" for n in range(20)) + "</ul>"
TEASER = "<div><h4><a href='/t'>Teaser</a></h4><p>Another story, quite long, and all of it elsewhere.</p></div>"

LAYOUTS = {
    "as HTML 5 has it": "<nav>{menu}</nav><main><article><h1>T</h1>{article}</article></main><aside>{teasers}</aside>",
    "with classes": "<div id=menu>{menu}</div><div class=post>{article}</div><div class='related x'>{teasers}</div>",
    "without any names": "<div>{menu}</div><div><div><h1>T</h1></div><div>{article}</div></div><div>{teasers}</div>",
    "in a table": "<table><tr><td>{menu}</td><td>{article}</td><td>{teasers}</td></tr></table>",
    "in blocks": "<div>{menu}</div><section>" + "<div class=b><div>{article}</div></div>" * 3 + "</section>",
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_article_is_found_and_what_stands_around_is_not(layout: str) -> None:
    page = LAYOUTS[layout].format(menu=MENU, article=ARTICLE, teasers=TEASER * 5)

    found = extract_article(f"<html><body>{page}</body></html>")

    assert found is not None
    assert found.count("The river rose") == page.count("The river rose")
    assert "/flood.jpg" in found
    assert "Menu item" not in found
    assert "Another story" not in found


def test_lines_that_are_only_broken_are_prose_too() -> None:
    found = extract_article(f"<body><div>{MENU}</div><div id=t>{PROSE}<br><br>{PROSE}<br></div></body>")

    assert found is not None
    assert found.count("The river rose") == 2


@pytest.mark.parametrize("page", ["", " ", "<", "<p>Too short.</p>", MENU, "x" * (MAX_PAGE_LENGTH + 1), "<!--", "\x00"])
def test_where_there_is_no_article_none_is_found(page: str) -> None:
    assert extract_article(page) is None


@pytest.mark.parametrize("piece", ["<div>", "<p>a, b, c", "<a href=x>y", "<table><tr><td>", "<b>", "<div class=ad>x"])
def test_a_hostile_page_takes_no_longer_than_a_moment(piece: str, size_share: float) -> None:
    page = piece * int(MAX_PAGE_LENGTH * size_share / len(piece))
    started = time.process_time()

    extract_article(page)

    assert time.process_time() - started < 20 * size_share


def test_the_players_of_known_sites_stay_and_other_frames_go() -> None:
    frames = "<iframe src='//www.youtube.com/embed/dQw4w9WgXcQ'></iframe><iframe src='https://ads.example/'></iframe>"
    prose = "<p>The stone turns slowly at first, then faster, and the flour comes warm from between the two.</p>" * 5

    found = extract_article(f"<html><body><article>{prose}{frames}</article></body></html>") or ""

    assert "dQw4w9WgXcQ" in sanitize_html(found)
    assert "ads.example" not in found
