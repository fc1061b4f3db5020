"""The context of every command: the global options and the settings that follow from them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import click

from feedmill.errors import BadSetting
from feedmill.lazy_loggers import set_up_at_first_line
from feedmill.settings import Settings, load_settings


@dataclass
class Context:
    given: tuple[str, ...] = ()
    debug: bool = False

    @classmethod
    def of_options(cls, data: str | None, given: Sequence[str], debug: bool = False) -> Self:
        """The context of the options before the command."""
        return cls((*given, *([f"data={data}"] if data else [])), debug)

    @cached_property
    def settings(self) -> Settings:
        """The effective settings, read when a command first needs them, so that --help always works."""
        return self.settings_with()

    @cached_property
    def quiet_settings(self) -> Settings:
        """The settings for commands that print their own output: only warnings are logged, unless log_level is set."""
        if self.settings.origin("log_level") != "default":
            return self.settings
        return self.settings_with(log_level="warning")

    def settings_with(self, **more: object) -> Settings:
        """The settings with the options of a command on top."""
        options = {name: value for name, value in more.items() if value is not None}
        settings = load_settings(**{**dict(_split(pair) for pair in self.given), **options})
        set_up_at_first_line(settings)
        return settings


pass_context = click.make_pass_decorator(Context)


def _split(pair: str) -> tuple[str, str]:
    name, separator, value = pair.partition("=")
    if not separator or not name:
        raise BadSetting(f"--set takes NAME=VALUE, not {pair!r}")
    return name.replace("-", "_"), value
