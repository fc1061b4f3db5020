"""What every command gets: the settings, and a way to run asynchronous work."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import click

from feedmill import logs
from feedmill.app import App, build
from feedmill.errors import BadSetting
from feedmill.settings import Settings, load

Result = TypeVar("Result")


@dataclass
class Context:
    given: tuple[str, ...] = ()
    debug: bool = False

    @cached_property
    def settings(self) -> Settings:
        """The effective settings, read when a command first needs them, so that --help always works."""
        return self.settings_with()

    def settings_with(self, **more: object) -> Settings:
        """The settings with those that a command takes as options of its own."""
        settings = load(**dict(_split(pair) for pair in self.given), **more)
        logs.set_up(settings)
        return settings

    def run(self, work: Callable[[App], Awaitable[Result]]) -> Result:
        """Runs `work` in a world built from the settings."""

        async def in_app() -> Result:
            async with build(self.settings) as app:
                return await work(app)

        return asyncio.run(in_app())


pass_context = click.make_pass_decorator(Context)


def _split(pair: str) -> tuple[str, str]:
    name, separator, value = pair.partition("=")
    if not separator or not name:
        raise BadSetting(f"--set takes NAME=VALUE, not {pair!r}")
    return name.replace("-", "_"), value
