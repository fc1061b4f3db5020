"""Runs a process without a web server until a signal ends it."""

import asyncio
from collections.abc import Awaitable, Callable

import click
import uvloop

from feedmill.app import App, build_app
from feedmill.run.schema_watch import watch_schema
from feedmill.settings import Settings
from feedmill.stop_signals import stop_signals


def run_until_stopped(settings: Settings, name: str, work: Callable[[App, asyncio.Event], Awaitable[None]]) -> None:
    """Builds the app and runs `work`; SIGTERM, Ctrl-C and the end of the terminal set the event that ends it."""

    async def run() -> None:
        stop = asyncio.Event()
        for number in stop_signals():
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        async with build_app(settings) as app, watch_schema(app.db):
            click.echo(f"Feedmill's {name} is running")
            await work(app, stop)

    uvloop.run(run())
