"""Runs a process without a web server until SIGTERM or Ctrl-C."""

import asyncio
import signal
from collections.abc import Awaitable, Callable

import click
import uvloop

from feedmill.app import App, build_app
from feedmill.run.schema_watch import watch_schema
from feedmill.settings import Settings


def run_until_stopped(settings: Settings, name: str, work: Callable[[App, asyncio.Event], Awaitable[None]]) -> None:
    """Builds the app and runs `work`; SIGTERM and Ctrl-C set the event that ends it."""

    async def run() -> None:
        stop = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        async with build_app(settings) as app, watch_schema(app.db):
            click.echo(f"Feedmill's {name} is running")
            await work(app, stop)

    uvloop.run(run())
