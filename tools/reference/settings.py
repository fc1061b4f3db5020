"""Generates docs/reference/settings.md: every setting, from its declaration."""

from feedmill.setting_fields import SecretStr, SettingField
from feedmill.settings import FILE_NAME, PREFIX, Settings
from reference import MADE

# Settings whose default depends on the installation; their descriptions say how.
COMPUTED_DEFAULTS = {"data"}


def page() -> str:
    parts = [
        f"# Settings\n\n{MADE}\n",
        "A setting is taken from the first of these places that has it:\n",
        "1. the command line: `feedmill --set port=9000 serve` (some commands have options of their own),",
        f"2. the environment: `{PREFIX}PORT=9000`,",
        f"3. the file `{FILE_NAME}` in the current folder, else for the installed package in `~/.config/feedmill`,",
        f"   or the one named by `{PREFIX}CONFIG`: `port = 9000` (in `~/.config/feedmill` with whole paths only),",
        "4. the default.\n",
        "`feedmill settings` prints those in force, with secrets hidden. A value that makes no sense, or a name",
        "that is no setting, stops the start with one line that names it.\n",
    ]
    return "\n".join(parts) + "\n" + "\n".join(setting(name, field) for name, field in Settings.fields.items())


def setting(name: str, field: SettingField) -> str:
    return (
        f"## `{name}`\n\n{field.description}\n\n"
        f"Default: {default(field)} · Environment: `{PREFIX}{name.upper()}`{limits(field)}\n"
    )


def default(field: SettingField) -> str:
    if field.name in COMPUTED_DEFAULTS:
        return "see above"
    value = field.default
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    if isinstance(value, tuple):
        value = ", ".join(str(part) for part in value)
    return "empty" if value == "" else f"`{value}`"


def limits(field: SettingField) -> str:
    """The choices of a setting, or its limits."""
    choices = getattr(field.annotation, "__args__", ()) if "Literal" in str(field.annotation) else ()
    if choices:
        return " · One of: " + ", ".join(f"`{choice}`" for choice in choices)
    return f" · {field.limits_in_words.capitalize()}" if field.limits else ""
