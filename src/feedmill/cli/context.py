"""What every command gets: what was typed before it, and the settings that follow from that."""

from dataclasses import dataclass
from functools import cached_property

import click

from feedmill import logs
from feedmill.errors import BadSetting
from feedmill.settings import Settings, load


@dataclass
class Context:
    given: tuple[str, ...] = ()
    debug: bool = False

    @cached_property
    def settings(self) -> Settings:
        """The effective settings, read when a command first needs them, so that --help always works."""
        return self.settings_with()

    @cached_property
    def quiet_settings(self) -> Settings:
        """For commands that speak for themselves: only warnings are logged, unless somebody set log_level."""
        if "log_level" in self.settings.model_fields_set:
            return self.settings
        return self.settings_with(log_level="warning")

    def settings_with(self, **more: object) -> Settings:
        """The settings with those that a command takes as options of its own."""
        options = {name: value for name, value in more.items() if value is not None}
        settings = load(**{**dict(_split(pair) for pair in self.given), **options})
        logs.set_up(settings)
        return settings


pass_context = click.make_pass_decorator(Context)


def _split(pair: str) -> tuple[str, str]:
    name, separator, value = pair.partition("=")
    if not separator or not name:
        raise BadSetting(f"--set takes NAME=VALUE, not {pair!r}")
    return name.replace("-", "_"), value
