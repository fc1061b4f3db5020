"""The effective settings as a person may see them: secrets hidden, and where each value comes from."""

from dataclasses import dataclass

from pydantic import SecretStr

from feedmill.logs import HIDDEN, without_secrets
from feedmill.settings import Origin, Settings

Value = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Effective:
    """A setting; the value of one that is a secret is `***`, or empty when nobody has set it."""

    name: str
    value: Value
    origin: Origin
    description: str


def effective(settings: Settings) -> list[Effective]:
    """Every setting, in the order in which they are declared."""
    return [
        Effective(name, _shown(getattr(settings, name)), settings.origin(name), field.description or "")
        for name, field in Settings.model_fields.items()
    ]


def _shown(value: object) -> Value:
    match value:
        case SecretStr():
            return HIDDEN if value.get_secret_value() else ""
        case bool() | int() | float() | None:
            return value
        case tuple():
            return ", ".join(str(part) for part in value)
    return str(without_secrets(str(value)))
