"""Layouts are found out once for all elements that consist of the same ones, and never fill the memory."""

from itertools import product

from feedmill.collect.formats.layout import MAX_REPEATS, Layouts
from feedmill.collect.formats.names import Names


def test_elements_are_found_by_name_wherever_they_stand() -> None:
    layouts = Layouts(Names(""))

    places = layouts["title", "unheard-of", "http://purl.org/dc/elements/1.1/}creator", "TITLE"].places

    assert places == {"title": (0, 3), "dc:creator": (2,)}


def test_the_same_elements_have_the_same_layout() -> None:
    layouts = Layouts(Names(""))

    assert layouts["title", "link"] is layouts["title", "link"]


def test_no_number_of_different_entries_fills_the_memory() -> None:
    layouts = Layouts(Names(""))

    for elements in product(("title", "link", "guid", "pubDate"), repeat=7):
        assert layouts[elements].places
    assert layouts[("category",) * 5_000].places == {"category": tuple(range(MAX_REPEATS))}

    assert len(layouts) <= 2_000
    assert ("category",) * 5_000 not in layouts
