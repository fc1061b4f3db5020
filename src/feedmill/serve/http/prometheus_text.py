"""Writes metrics in the Prometheus text format, version 0.0.4."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_ESCAPED = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})


@dataclass(frozen=True, slots=True)
class MetricSample:
    """One sample line. `suffix` is for the parts of a histogram."""

    value: float
    labels: Mapping[str, str]
    suffix: str = ""


@dataclass(frozen=True, slots=True)
class MetricFamily:
    """A metric: its name, type, help text and samples."""

    name: str
    kind: str
    help: str
    samples: tuple[MetricSample, ...]


def gauge(name: str, help: str, value: float) -> MetricFamily:
    return MetricFamily(name, "gauge", help, (MetricSample(value, {}),))


def gauges(name: str, help: str, label: str, values: Mapping[str, float]) -> MetricFamily:
    return MetricFamily(name, "gauge", help, tuple(MetricSample(value, {label: key}) for key, value in values.items()))


def counter(name: str, help: str, value: float) -> MetricFamily:
    return MetricFamily(name, "counter", help, (MetricSample(value, {}),))


def histogram(name: str, help: str, within: Mapping[float, int], count: int, total: float) -> MetricFamily:
    """`within` has the cumulative count for each upper bound."""
    buckets = [MetricSample(number, {"le": _number(bound)}, "_bucket") for bound, number in within.items()]
    totals = (
        MetricSample(count, {"le": "+Inf"}, "_bucket"),
        MetricSample(total, {}, "_sum"),
        MetricSample(count, {}, "_count"),
    )
    return MetricFamily(name, "histogram", help, (*buckets, *totals))


def render_metrics(families: Iterable[MetricFamily]) -> str:
    return "".join(f"{line}\n" for family in families for line in _lines(family))


def _lines(family: MetricFamily) -> Iterator[str]:
    yield f"# HELP {family.name} {family.help}"
    yield f"# TYPE {family.name} {family.kind}"
    for sample in family.samples:
        labels = ",".join(f'{name}="{value.translate(_ESCAPED)}"' for name, value in sample.labels.items())
        yield f"{family.name}{sample.suffix}{f'{{{labels}}}' if labels else ''} {_number(sample.value)}"


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))
