"""Plots are plain SVG without inline styles, and have a text alternative."""

from lxml import etree

from feedmill.serve.web.core.plots import PlotMark, bars, heat_grid, shaped_bars, sparkline, stacked_bar

SVG = "{http://www.w3.org/2000/svg}"


def _tree(drawn: str) -> etree._Element:
    return etree.fromstring(drawn)


def test_bars_are_as_tall_as_their_values_and_nothing_is_invisible() -> None:
    tree = _tree(
        bars([PlotMark(10, "ten"), PlotMark(5, "five", "failed"), PlotMark(0, "none", "none")], "Fetches", height=40)
    )

    assert [rect.get("height") for rect in tree.iter("rect")] == ["40", "20", "2"]
    assert [rect.get("class") for rect in tree.iter("rect")] == ["ok", "failed", "none"]
    assert [title.text for title in tree.iter("title")] == ["Fetches", "ten", "five", "none"]


def test_texts_in_a_plot_are_escaped() -> None:
    drawn = bars([PlotMark(1, "<script>alert(1)</script>")], '"><b>')

    assert "<script>" not in drawn
    assert "<b>" not in drawn
    assert "style=" not in drawn


def test_a_sparkline_goes_from_edge_to_edge() -> None:
    [line] = _tree(sparkline([0, 5, 10], "Rhythm", 100, 20)).iter("polyline")

    assert line.get("points") == "0.0,19.0 50.0,10.0 100.0,1.0"


def test_without_values_a_plot_is_empty() -> None:
    assert sparkline([], "Rhythm") == ""
    assert list(_tree(bars([], "Fetches")).iter("rect")) == []
    assert list(_tree(heat_grid([], [], "Hours")).iter("rect")) == []


def test_a_heat_grid_has_five_steps() -> None:
    tree = _tree(heat_grid([[0, 1, 50, 100]], ["Mon"], "Hours"))

    assert [rect.get("class") for rect in tree.iter("rect")] == ["heat0", "heat1", "heat3", "heat4"]
    assert [text.text for text in tree.iter("text")] == ["Mon"]


def test_column_names_are_below_the_grid() -> None:
    plain, named = heat_grid([[1, 2]], ["Mon"], "Hours"), heat_grid([[1, 2]], ["Mon"], "Hours", column_names=["0", ""])

    assert [text.text for text in _tree(named).iter("text")] == ["Mon", "0"]
    assert int(_tree(named).get("height", "0")) > int(_tree(plain).get("height", "0"))


def test_failed_and_unchanged_fetches_differ_without_colours() -> None:
    marks = [PlotMark(10, "new"), PlotMark(10, "304", "same"), PlotMark(10, "no answer", "failed")]

    tree = _tree(shaped_bars(marks, "Fetches"))

    assert [rect.get("width") for rect in tree.iter("rect")] == ["5", "3", "5"]
    assert len(list(tree.iter("circle"))) == 1


def test_the_parts_of_a_stacked_bar_share_one_scale() -> None:
    parts = [PlotMark(25, "images"), PlotMark(50, "answers", "same")]

    tree = _tree(stacked_bar(parts, 100, "Space", width=200))

    assert [(rect.get("x"), rect.get("width")) for rect in tree.iter("rect")] == [("0.0", "50.0"), ("50.0", "100.0")]
    assert [rect.get("width") for rect in _tree(stacked_bar([PlotMark(0)], 0, "Nothing")).iter("rect")] == ["0.0"]
