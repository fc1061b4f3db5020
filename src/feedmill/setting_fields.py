"""Declares settings, and parses and validates their values.

Own code rather than pydantic-settings, whose import takes as long as everything else that `feedmill --help` needs.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass
from dataclasses import field as dataclass_field
from dataclasses import fields as dataclass_fields
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, get_args, get_origin

from feedmill.i18n.messages import Message

BOOLEANS = {
    **dict.fromkeys(("true", "1", "yes", "y", "on", "t"), True),
    **dict.fromkeys(("false", "0", "no", "n", "off", "f"), False),
}
LIMITS: Mapping[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "ge": ("at least", lambda value, limit: value >= limit),
    "gt": ("more than", lambda value, limit: value > limit),
    "le": ("at most", lambda value, limit: value <= limit),
    "lt": ("less than", lambda value, limit: value < limit),
}


class SecretStr:
    """A string that is hidden when it is printed or logged."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def get_secret_value(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "SecretStr('**********')" if self._text else "SecretStr('')"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SecretStr) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)


class BeforeValidator:
    """In `Annotated`: changes a value before it is parsed."""

    def __init__(self, change: Callable[[Any], Any]) -> None:
        self.change = change


class AfterValidator:
    """In `Annotated`: checks a parsed value, and may change it; raises `ValueError`."""

    def __init__(self, change: Callable[[Any], Any]) -> None:
        self.change = change


@dataclass(frozen=True, slots=True)
class SettingField:
    """One setting: its type, default and limits (`ge`, `gt`, `le`, `lt`)."""

    name: str
    annotation: Any
    default: Any
    limits: Mapping[str, float]

    @property
    def description(self) -> str:
        """One sentence on what it is for, in English."""
        return str(Message(f"setting.{self.name}"))

    @property
    def limits_in_words(self) -> str:
        return ", ".join(f"{LIMITS[kind][0]} {limit}" for kind, limit in self.limits.items())

    def read(self, value: object) -> Any:
        """Parses the value; raises `ValueError`, whose message says what is expected and never contains the value."""
        found = parse_as(self.annotation, value)
        if not all(LIMITS[kind][1](found, limit) for kind, limit in self.limits.items()):
            raise ValueError(f"it must be {self.limits_in_words}")
        return found


def Field(default: Any, **limits: float) -> Any:
    """Declares a setting in the class body of `Settings`. `setting.json` of each language says what it is for."""
    return dataclass_field(default=default, metadata={"limits": limits})


def declared_fields(settings: type) -> dict[str, SettingField]:
    """Every setting of the class, in the order of declaration."""
    return {
        field.name: SettingField(field.name, field.type, field.default, **field.metadata)
        for field in dataclass_fields(settings)
        if field.default is not MISSING
    }


def parse_as(kind: Any, value: object) -> Any:
    """Parses the value as the type `kind`; raises `ValueError`, whose message says what is expected."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _read_annotated(parts, value)
    if origin is UnionType:
        return None if value is None else parse_as(next(part for part in parts if part is not NoneType), value)
    if origin is tuple:
        return _read_tuple(parts[0], value)
    if origin is Literal:
        return _read_choice(parts, value)
    return PARSERS[kind](value)


def _read_annotated(parts: tuple[Any, ...], value: object) -> Any:
    kind, *validators = parts
    for validator in validators:
        if isinstance(validator, BeforeValidator):
            value = validator.change(value)
    value = parse_as(kind, value)
    for validator in validators:
        if isinstance(validator, AfterValidator):
            value = validator.change(value)
    return value


def _read_tuple(kind: Any, value: object) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(part, kind) for part in value):
        raise ValueError("expected a list, or a text with commas")
    return tuple(value)


def _read_choice(choices: tuple[Any, ...], value: object) -> Any:
    if value not in choices:
        raise ValueError(f"expected one of: {', '.join(choices)}")
    return value


def _read_text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("expected a text")
    return value


def _read_secret(value: object) -> SecretStr:
    return value if isinstance(value, SecretStr) else SecretStr(_read_text(value))


def _read_path(value: object) -> Path:
    return value if isinstance(value, Path) else Path(_read_text(value))


def _read_boolean(value: object) -> bool:
    found = BOOLEANS.get(str(value).strip().lower())
    if found is None:
        raise ValueError("expected true or false")
    return found


def _read_whole_number(value: object) -> int:
    try:
        found = _number(value, int)
    except ValueError:
        raise ValueError("expected a whole number") from None
    return int(found)


def _read_number(value: object) -> float:
    try:
        found = _number(value, float)
    except ValueError:
        raise ValueError("expected a number") from None
    return float(found)


def _number(value: object, kind: type[int] | type[float]) -> int | float:
    """Raises `ValueError` unless the value is a finite number of that kind."""
    if isinstance(value, str):
        value = kind(value)
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not math.isfinite(value)
        or kind(value) != value
    ):
        raise ValueError
    return value


PARSERS: Mapping[Any, Callable[[object], Any]] = {
    str: _read_text,
    SecretStr: _read_secret,
    Path: _read_path,
    bool: _read_boolean,
    int: _read_whole_number,
    float: _read_number,
}
