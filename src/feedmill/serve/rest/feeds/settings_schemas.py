"""Schemas of a feed's settings, made from `model/feed_settings.py`."""

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BaseModel, Field, StringConstraints

from feedmill.model.feed_settings import DEFAULT_FEED_SETTINGS, JSON_SETTINGS, FeedSettings
from feedmill.model.setting_definitions import FeedSetting, SettingKind, SettingOptions
from feedmill.serve.rest.core.base_models import RequestBody
from feedmill.serve.rest.core.field_types import Id, StrictBool, StrictInt

LINES = StringConstraints(pattern=r"^[^\x00]*$")
ONE_LINE = StringConstraints(strip_whitespace=True, pattern=r"^[^\x00-\x1f\x7f]*$")

_REQUEST_TYPES: dict[SettingKind, Callable[[SettingOptions], Any]] = {
    SettingKind.FLAG: lambda options: StrictBool,
    SettingKind.NUMBER: lambda options: Annotated[StrictInt, Field(ge=options.minimum, le=options.maximum)],
    SettingKind.LINE: lambda options: Annotated[str, ONE_LINE, Field(max_length=options.maximum)],
    SettingKind.LINES: lambda options: Annotated[str, LINES, Field(max_length=options.maximum)],
    SettingKind.IDS: lambda options: Annotated[list[Id], Field(max_length=options.maximum)],
}


def request_field(setting: FeedSetting) -> Any:
    sent = _REQUEST_TYPES[setting.kind](setting.options)
    return Annotated[sent | None, Field(default=None, description=setting.options.about)]


class FeedSettingsChanges(RequestBody):
    """Settings that are left out are not changed; null resets one to its default."""

    __annotations__ = {name: request_field(setting) for name, setting in JSON_SETTINGS.items()}

    def changes(self) -> dict[str, Any]:
        """The sent fields, as values of `FeedSettings`."""
        given = self.model_dump(exclude_unset=True)
        values = {
            name: getattr(DEFAULT_FEED_SETTINGS, name) if value is None else value for name, value in given.items()
        }
        return values | {name: tuple(sorted(set(value))) for name, value in values.items() if isinstance(value, list)}


class FeedSettingsResponse(BaseModel):
    __annotations__ = {name: setting.type for name, setting in JSON_SETTINGS.items()}

    @classmethod
    def of(cls, settings: FeedSettings) -> "FeedSettingsResponse":
        return cls.model_validate(settings, from_attributes=True)
