"""Form fields of a feed's settings, made from `model/feed_settings.py`."""

from typing import Any

from starlette.datastructures import FormData

from feedmill.model.feed_settings import FEED_SETTINGS, FeedSettings
from feedmill.model.setting_definitions import FeedSetting, FormSection, SettingKind
from feedmill.serve.web.core.form_fields import CHECKBOX, TEXT, matching
from feedmill.serve.web.core.read_form import form_text

_FIELDS = {
    SettingKind.FLAG: CHECKBOX,
    SettingKind.NUMBER: matching(r"[0-9]{1,6}").or_empty,
    SettingKind.LINE: TEXT,
    SettingKind.LINES: TEXT,
}
# Labels are ticked, or created by name: see `filters/filter_fields.py`. Most settings with a column are fields of the
# subscription: see `feeds/subscription_fields.py`.
_SETTINGS = [
    setting
    for setting in FEED_SETTINGS.values()
    if setting.kind is not SettingKind.IDS and (setting.options.section or not setting.options.has_column)
]
SETTING_FIELDS = {setting.name: _FIELDS[setting.kind] for setting in _SETTINGS}
SECTIONS = {
    section: [setting for setting in _SETTINGS if setting.options.section is section] for section in FormSection
}


def read_settings(sent: FormData) -> FeedSettings:
    """The submitted settings, not validated, without the labels."""
    return FeedSettings(**{setting.name: _read(setting, form_text(sent, setting.name)) for setting in _SETTINGS})


def _read(setting: FeedSetting, written: str) -> Any:
    match setting.kind:
        case SettingKind.FLAG:
            return bool(written)
        case SettingKind.NUMBER:
            return int(written) if written.isascii() and written.isdigit() and len(written) < 7 else None
        case SettingKind.LINES:
            return "\n".join(written.strip().splitlines())
        case _:
            return written.strip()
