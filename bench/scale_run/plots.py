"""Draws samples over the time of day as SVG that is readable on light and dark pages."""

from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise
from math import ceil, floor, log10
from pathlib import Path
from typing import Any, NamedTuple

from readers import GROUPS

WIDTH, HEIGHT = 720, 300
LEFT, RIGHT, TOP, BOTTOM = 62, 14, 46, 34
COLOURS = ("#2f8f5f", "#d0672e", "#4a7fd0", "#a35bb5", "#b8952b", "#c24a63", "#5f8f9a", "#7a7a7a")
# Text and lines follow the colour scheme of the page; the lines of the figures are readable on both.
STYLE = (
    "text{fill:#333;font:12px system-ui,sans-serif}.grid{stroke:#999;stroke-opacity:.3}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}}"
)
GB, MB = 1e9, 1e6


class Line(NamedTuple):
    label: str
    points: Sequence[tuple[float, float]]


class Plot(NamedTuple):
    """`unit` is written above the axis. `logarithmic` for figures of very different sizes."""

    title: str
    unit: str
    lines: Sequence[Line]
    logarithmic: bool = False


def draw(plot: Plot) -> str:
    lines = [line for line in plot.lines if line.points]
    hours = max((x for line in lines for x, _ in line.points), default=1) or 1
    values = [y for line in lines for _, y in line.points]
    axis = _LogAxis(values) if plot.logarithmic else _Axis(values)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        'role="img">',
        f"<title>{escape(plot.title)}</title><style>{STYLE}</style>",
        f'<text x="8" y="16">{escape(plot.title)}, {escape(plot.unit)}</text>',
    ]
    for value in axis.ticks:
        y = _y(axis.share(value))
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{_number(value)}</text>')
    step = next(step for step in (0.05, 0.25, 1, 3, 6, 12, 24, 1000) if hours / step <= 8)
    for tick in range(floor(hours / step + 1e-6) + 1):
        x = _x(tick * step / hours)
        parts.append(f'<text x="{x:.1f}" y="{HEIGHT - 12}" text-anchor="middle">{tick * step:g} h</text>')
    x = LEFT
    for line, colour in zip(lines, COLOURS, strict=False):
        points = " ".join(f"{_x(hour / hours):.1f},{_y(axis.share(value)):.1f}" for hour, value in line.points)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
        parts.append(f'<rect x="{x}" y="25" width="10" height="10" fill="{colour}"/>')
        parts.append(f'<text x="{x + 14}" y="34">{escape(line.label)}</text>')
        x += 28 + 7 * len(line.label)
    return "\n".join([*parts, "</svg>", ""])


class _Axis:
    def __init__(self, values: Sequence[float]) -> None:
        most = max(values, default=1) or 1
        rough = most / 5
        step = next(n * 10 ** floor(log10(rough)) for n in (1, 2, 5, 10) if n * 10 ** floor(log10(rough)) >= rough)
        self.ticks = [step * number for number in range(ceil(most / step) + 1)]

    def share(self, value: float) -> float:
        return value / self.ticks[-1]


class _LogAxis:
    def __init__(self, values: Sequence[float]) -> None:
        above = [value for value in values if value > 0] or [1]
        self._low, high = floor(log10(min(above))), max(ceil(log10(max(above))), floor(log10(min(above))) + 1)
        self.ticks = [10.0**power for power in range(self._low, high + 1)]
        self._span = high - self._low

    def share(self, value: float) -> float:
        return max((log10(value) - self._low) / self._span, 0) if value > 0 else 0.0


def _x(share: float) -> float:
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def _y(share: float) -> float:
    return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:g}"


# --- the plots of a run ------------------------------------------------------------------------------------


def plots_of(samples: Sequence[Mapping[str, Any]], reads: Sequence[tuple[float, str, float]]) -> dict[str, Plot]:
    """The plots by the name of their file. `reads` has the hour, the kind and the milliseconds of each page."""

    samples = [sample for sample in samples if sample["hours"] > 0]

    def line(label: str, name: str, unit: float = 1) -> Line:
        return Line(label, [(each["hours"], each[name] / unit) for each in samples if each.get(name) is not None])

    def rate(label: str, name: str, unit: float = 1) -> Line:
        pairs = [(a, b) for a, b in pairwise(samples) if None not in (a.get(name), b.get(name))]
        # A process that was started again, or another server, begins at zero.
        pairs = [(a, b) for a, b in pairs if b[name] >= a[name] and b["seconds"] > a["seconds"]]
        return Line(label, [(b["hours"], (b[name] - a[name]) / (b["seconds"] - a["seconds"]) / unit) for a, b in pairs])

    processes = [
        name.removesuffix("_cpu") for name in dict.fromkeys(n for s in samples for n in s) if name.endswith("_cpu")
    ]
    tables = [n.removesuffix("_dead") for n in dict.fromkeys(n for s in samples for n in s) if n.endswith("_dead")]
    plots = {
        "lateness": Plot(
            "Lateness of fetches",
            "simulated seconds",
            [
                line("p50", "late_p50"),
                line("p99", "late_p99"),
                line("p50 at the crowded host", "late_crowded_p50"),
                line("p99 there", "late_crowded_p99"),
            ],
            True,
        ),
        "fetches": Plot(
            "Fetches", "per real second", [line("fetches", "fetches_per_second"), rate("new entries", "new_entries")]
        ),
        "claims": Plot(
            "Feeds that are claimed, and that are due", "feeds", [line("claimed", "claims"), line("due", "due")]
        ),
        "wal": Plot("WAL", "MB per real second", [rate("WAL", "wal_bytes", MB)]),
        "wal-pages": Plot(
            "WAL records",
            "per real second",
            [rate("records", "wal_records"), rate("full page images", "wal_full_pages")],
        ),
        "tables": Plot("Tables", "GB", [line(name, f"{name}_size", GB) for name in tables], True),
        "indexes": Plot("Indexes", "GB", [line(name, f"{name}_indexes", GB) for name in tables], True),
        "dead-rows": Plot("Dead rows", "thousands", [line(name, f"{name}_dead", 1000) for name in tables]),
        "vacuum": Plot("Vacuums of a table until now", "number", [line(name, f"{name}_vacuums") for name in tables]),
        "processors": Plot("Processors", "cores", [rate(name, f"{name}_cpu") for name in processes]),
        "memory": Plot(
            "Memory",
            "MB",
            [*(line(name, f"{name}_memory", MB) for name in processes), line("Redis", "redis_memory", MB)],
        ),
        "redis": Plot("Redis", "commands per real second", [rate("commands", "redis_commands")]),
        "readers": Plot("Pages of a reader with many feeds, p99 of an hour", "ms", _by_hour(reads), True),
    }
    return {name: plot for name, plot in plots.items() if any(each.points for each in plot.lines)}


def _by_hour(reads: Sequence[tuple[float, str, float]]) -> list[Line]:
    found: dict[str, dict[int, list[float]]] = {}
    for hour, kind, ms in reads:
        found.setdefault(GROUPS.get(kind, kind), {}).setdefault(int(hour), []).append(ms)
    return [
        Line(kind, [(hour + 0.5, sorted(times)[int(len(times) * 0.99)]) for hour, times in sorted(hours.items())])
        for kind, hours in sorted(found.items())
    ]


def write_plots(plots: Mapping[str, Plot], folder: Path) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"scale-{name}.svg" for name in plots]
    for file, plot in zip(files, plots.values(), strict=True):
        file.write_text(draw(plot))
    return files
