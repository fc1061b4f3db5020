"""Draws plots as inline SVG: bars, stacked bars, sparklines, heat grids.

Each data point is a `PlotMark`: its value, its tooltip, and its kind (a CSS class: ok, same, none, failed …).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup


@dataclass(frozen=True, slots=True)
class PlotMark:
    value: float
    title: str = ""
    kind: str = "ok"


def bars(marks: Sequence[PlotMark], title: str, height: int = 64, width: int = 5, gap: int = 1) -> Markup:
    """Thin bars from left to right; a value of 0 is a thin line, so that it has a tooltip."""
    most = max((mark.value for mark in marks), default=0) or 1
    shapes = [
        _bar(index * (width + gap), max(2, round(height * mark.value / most)), width, height, mark)
        for index, mark in enumerate(marks)
    ]
    return _svg("plot bars", max(1, len(marks) * (width + gap)), height, title, shapes, stretches=True)


def _bar(x: int, bar_height: int, width: int, height: int, mark: PlotMark) -> Markup:
    shape = Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}" rx="1">').format(
        mark.kind, x, height - bar_height, width, bar_height
    )
    return shape + Markup("<title>{}</title></rect>").format(mark.title)


def shaped_bars(marks: Sequence[PlotMark], title: str, height: int = 72, width: int = 5, gap: int = 1) -> Markup:
    """Bars that also differ in shape: narrower for unchanged, with a dot above for failed."""
    top = 6
    most = max((mark.value for mark in marks), default=0) or 1
    shapes: list[Markup] = []
    for index, mark in enumerate(marks):
        x, bar_height = index * (width + gap), max(2, round((height - top) * mark.value / most))
        narrow = 1 if mark.kind == "same" else 0
        shapes.append(_bar(x + narrow, bar_height, width - 2 * narrow, height, mark))
        if mark.kind == "failed":
            shapes.append(_dot(x + width / 2, height - bar_height - 4))
    return _svg("plot bars", max(1, len(marks) * (width + gap)), height, title, shapes, stretches=True)


def stacked_bar(parts: Sequence[PlotMark], most: float, title: str, width: int = 240, height: int = 12) -> Markup:
    """One horizontal bar made of parts; `most` is the value of the full width."""
    shapes: list[Markup] = []
    x = 0.0
    for part in parts:
        part_width = width * part.value / (most or 1)
        shapes.append(_part(x, part_width, height, part))
        x += part_width
    return _svg("plot stack", width, height, title, shapes)


def _dot(x: float, y: float) -> Markup:
    return Markup('<circle class="failed" cx="{}" cy="{}" r="2"/>').format(x, y)


def _part(x: float, part_width: float, height: int, part: PlotMark) -> Markup:
    shape = Markup('<rect class="{}" x="{:.1f}" y="0" width="{:.1f}" height="{}">').format(
        part.kind, x, part_width, height
    )
    return shape + Markup("<title>{}</title></rect>").format(part.title)


def sparkline(values: Sequence[float], title: str, width: int = 96, height: int = 20) -> Markup:
    """A small line chart of the values."""
    if not values:
        return Markup("")
    most = max(values) or 1
    step = width / max(1, len(values) - 1)
    heights = [height - 1 - (height - 2) * value / most for value in values]
    points = " ".join(f"{index * step:.1f},{y:.1f}" for index, y in enumerate(heights))
    line = Markup('<polyline points="{}"/>').format(points)
    return _svg("plot spark", width, height, title, [line])


def heat_grid(
    rows: Sequence[Sequence[float]],
    row_names: Sequence[str],
    title: str,
    titles: Sequence[Sequence[str]] = (),
    cell: int = 12,
    margin: int = 36,
    column_names: Sequence[str] = (),
) -> Markup:
    """A grid of cells, shaded by value in five steps, with a name before each row.

    `column_names` are below the columns; empty ones are not drawn.
    """
    most = max((value for row in rows for value in row), default=0) or 1
    shapes = [
        _cell(margin + x * cell, y * cell, cell - 1, value / most, titles[y][x] if titles else str(value))
        for y, row in enumerate(rows)
        for x, value in enumerate(row)
    ]
    names = [
        Markup('<text x="0" y="{}">{}</text>').format(y * cell + cell - 3, name) for y, name in enumerate(row_names)
    ]
    below = [
        Markup('<text x="{}" y="{}">{}</text>').format(margin + x * cell, cell * len(rows) + 11, name)
        for x, name in enumerate(column_names)
        if name
    ]
    width = margin + cell * max((len(row) for row in rows), default=0)
    height = cell * len(rows) + (14 if below else 0)
    return _svg("plot heat", width, max(1, height), title, names + shapes + below)


def _cell(x: int, y: int, size: int, share: float, title: str) -> Markup:
    level = 0 if share <= 0 else min(4, 1 + int(share * 4))
    return Markup('<rect class="heat{}" x="{}" y="{}" width="{}" height="{}" rx="2"><title>{}</title></rect>').format(
        level, x, y, size, size, title
    )


def _svg(
    kind: str, width: float, height: int, title: str, shapes: Sequence[Markup], *, stretches: bool = False
) -> Markup:
    """`stretches`: in a narrow space it keeps its height."""
    ratio = Markup(' preserveAspectRatio="none"') if stretches else ""
    head = Markup('<svg class="{}" viewBox="0 0 {} {}" width="{}" height="{}"{} role="img"><title>{}</title>').format(
        kind, width, height, width, height, ratio, title
    )
    return head + Markup("").join(shapes) + Markup("</svg>")
