"""Checks the types of the members of JSON answers."""

from datetime import datetime
from typing import Any

Shape = dict[str, Any]


def time(value: Any) -> bool:
    """A time in RFC 3339 with a time zone."""
    return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None


def unlike(value: Any, shape: Any, path: str = "") -> list[str]:
    """The paths of members that are missing or of another type; those that the shape does not name may be there.

    A shape is a type, a predicate, a dictionary of shapes, or a list with the shape of all elements.
    """
    if isinstance(shape, dict):
        return [each for name, of in shape.items() for each in _member(value, name, of, f"{path}.{name}")]
    if isinstance(shape, list):
        items = enumerate(value) if isinstance(value, list) else None
        return [path] if items is None else [e for n, item in items for e in unlike(item, shape[0], f"{path}[{n}]")]
    # Not isinstance: True is no number here.
    return [] if (type(value) is shape if isinstance(shape, type) else shape(value)) else [f"{path}={value!r}"]


def _member(value: Any, name: str, shape: Any, path: str) -> list[str]:
    is_there = isinstance(value, dict) and name in value
    return unlike(value[name], shape, path) if is_there else [f"{path} is missing"]
