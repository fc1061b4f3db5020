"""Metrics in Prometheus's text form, version 0.0.4."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_ESCAPED = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})


@dataclass(frozen=True, slots=True)
class Sample:
    """One line. `suffix` is for the parts of a histogram."""

    value: float
    labels: Mapping[str, str]
    suffix: str = ""


@dataclass(frozen=True, slots=True)
class Family:
    """A metric: what it is called, what kind it is, what it means, and its lines."""

    name: str
    kind: str
    help: str
    samples: tuple[Sample, ...]


def gauge(name: str, help: str, value: float) -> Family:
    return Family(name, "gauge", help, (Sample(value, {}),))


def gauges(name: str, help: str, label: str, values: Mapping[str, float]) -> Family:
    return Family(name, "gauge", help, tuple(Sample(value, {label: key}) for key, value in values.items()))


def counter(name: str, help: str, value: float) -> Family:
    return Family(name, "counter", help, (Sample(value, {}),))


def histogram(name: str, help: str, within: Mapping[float, int], count: int, total: float) -> Family:
    """`within` has how many were at most as much as each bound, all smaller ones included."""
    buckets = [Sample(number, {"le": _number(bound)}, "_bucket") for bound, number in within.items()]
    rest = (Sample(count, {"le": "+Inf"}, "_bucket"), Sample(total, {}, "_sum"), Sample(count, {}, "_count"))
    return Family(name, "histogram", help, (*buckets, *rest))


def render(families: Iterable[Family]) -> str:
    return "".join(f"{line}\n" for family in families for line in _lines(family))


def _lines(family: Family) -> Iterator[str]:
    yield f"# HELP {family.name} {family.help}"
    yield f"# TYPE {family.name} {family.kind}"
    for sample in family.samples:
        labels = ",".join(f'{name}="{value.translate(_ESCAPED)}"' for name, value in sample.labels.items())
        yield f"{family.name}{sample.suffix}{f'{{{labels}}}' if labels else ''} {_number(sample.value)}"


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))
