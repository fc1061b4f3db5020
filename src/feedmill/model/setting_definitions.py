"""Defines a setting of a feed by a field of a class: what it is for, its limits, its place in a form."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, get_args, get_type_hints

from msgspec import Struct


class FormSection(StrEnum):
    """Where the form that edits a feed shows a setting."""

    NEW_ENTRIES = "new_entries"
    SELECTORS = "selectors"


NEW_ENTRIES, SELECTORS = FormSection


class SettingOptions(Struct, frozen=True):
    """`about` is for the reference. A setting without a section has a place of its own in the form.

    `maximum` is the largest number, or the most characters or ids. A setting that SQL reads has a column; all others
    share the column `settings`. A secret is never shown; a field of it that is left empty keeps it.
    """

    about: str
    section: FormSection | None = None
    minimum: int = 0
    maximum: int = 0
    has_lines: bool = False
    has_column: bool = False
    is_secret: bool = False
    is_url: bool = False


class SettingKind(StrEnum):
    """The type of a setting, which determines its form field and the values of a request."""

    FLAG = "flag"
    NUMBER = "number"
    LINE = "line"
    LINES = "lines"
    IDS = "ids"
    LOGIN = "login"
    HEADERS = "headers"


_KINDS: dict[Any, SettingKind] = {
    bool: SettingKind.FLAG,
    int | None: SettingKind.NUMBER,
    str | None: SettingKind.LINE,
    str: SettingKind.LINE,
    tuple[int, ...]: SettingKind.IDS,
    tuple[str, str] | None: SettingKind.LOGIN,
    Mapping[str, str]: SettingKind.HEADERS,
}


class FeedSetting(Struct, frozen=True):
    """The definition of one setting."""

    name: str
    type: Any
    default: Any
    options: SettingOptions

    @property
    def kind(self) -> SettingKind:
        return SettingKind.LINES if self.options.has_lines else _KINDS[self.type]


def define_settings(defaults: object) -> dict[str, FeedSetting]:
    """The settings that the fields of a class define, from an instance with their defaults."""
    definitions = {}
    for name, hint in get_type_hints(type(defaults), include_extras=True).items():
        held, options = get_args(hint)
        definitions[name] = FeedSetting(name, held, getattr(defaults, name), options)
    return definitions
