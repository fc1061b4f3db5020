"""Lists the effective settings and where each value comes from, with secrets hidden."""

from dataclasses import dataclass

from feedmill.logs import REDACTED, redact_secrets
from feedmill.setting_fields import SecretStr
from feedmill.settings import SettingOrigin, Settings

SettingValue = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class EffectiveSetting:
    """A setting. The value of a secret is `***`, or empty if it is not set."""

    name: str
    value: SettingValue
    origin: SettingOrigin
    description: str


def effective_settings(settings: Settings) -> list[EffectiveSetting]:
    """Every setting, in the order in which they are declared."""
    return [
        EffectiveSetting(name, _shown(getattr(settings, name)), settings.origin(name), field.description)
        for name, field in Settings.fields.items()
    ]


def _shown(value: object) -> SettingValue:
    match value:
        case SecretStr():
            return REDACTED if value.get_secret_value() else ""
        case bool() | int() | float() | None:
            return value
        case tuple():
            return ", ".join(str(part) for part in value)
    return str(redact_secrets(str(value)))
