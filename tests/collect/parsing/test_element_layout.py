"""A layout is computed once for all elements with the same children, and the cache of layouts is bounded."""

from itertools import product

from feedmill.collect.parsing.formats.element_layout import MAX_REPEATS, Layouts
from feedmill.collect.parsing.formats.element_names import ElementNames


def test_elements_are_found_by_name_at_any_position() -> None:
    layouts = Layouts(ElementNames(""))

    places = layouts["title", "unheard-of", "http://purl.org/dc/elements/1.1/}creator", "TITLE"].places

    assert places == {"title": (0, 3), "dc:creator": (2,)}


def test_the_same_elements_have_the_same_layout() -> None:
    layouts = Layouts(ElementNames(""))

    assert layouts["title", "link"] is layouts["title", "link"]


def test_many_different_entries_do_not_fill_the_memory() -> None:
    layouts = Layouts(ElementNames(""))

    for elements in product(("title", "link", "guid"), repeat=7):
        assert layouts[elements].places
    for elements in (("category",) * 5_000, ("x" * 5_000,)):
        assert elements not in layouts
        assert len(layouts[elements].places.get("category", ())) in (0, MAX_REPEATS)
        assert elements not in layouts

    assert len(layouts) <= 1_000
    assert len(layouts.names) == 4
