"""`feedmill demo`: a reader with feeds of its own, in a temporary folder."""

import os
import signal
import sys
import tempfile
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from secrets import token_urlsafe
from types import FrameType

import click
import uvloop

from feedmill.app import App, build_app
from feedmill.cli.demo.feed_server import LOOPBACK, run_demo_web
from feedmill.cli.demo.prepare_reader import NAME, prepare_reader
from feedmill.cli.demo.sign_in_address import SignInAddress
from feedmill.cli.startup.context import Context, pass_context
from feedmill.errors import CallerError
from feedmill.lazy_loggers import set_up_at_first_line
from feedmill.run.embedded import open_embedded
from feedmill.run.periodic_parts import run_periodic_parts
from feedmill.serve import asgi
from feedmill.serve.http.connections.server import listen, listening_address, serve_on
from feedmill.settings import Settings
from feedmill.stop_signals import stop_signals

LIVE_INTERVAL = timedelta(minutes=1)


@click.command()
@click.option("--port", type=click.IntRange(1, 65535), help="The port to listen on; by default a free one.")
@pass_context
def demo(context: Context, port: int | None) -> None:
    """Try Feedmill with an account and feeds of its own, without a network.

    Everything is in a temporary folder, which is deleted when you stop it with Ctrl-C. Settings are not read, and
    nothing of another installation is used or changed.
    """
    if context.given:
        raise CallerError("the demo takes no settings and no data folder: use 'feedmill serve'")
    for number in stop_signals():
        if number != signal.SIGINT:
            signal.signal(number, _interrupt)
    with tempfile.TemporaryDirectory(prefix="feedmill-demo-") as folder:
        try:
            uvloop.run(_run(Path(folder), port or 0))
        finally:
            _ignore_signals()
    _print_end()


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Ends the demo as Ctrl-C does, so that its folder is removed."""
    signal.raise_signal(signal.SIGINT)


def _ignore_signals() -> None:
    """Nothing interrupts the end: what it would leave, nobody else removes."""
    for number in stop_signals():
        signal.signal(number, signal.SIG_IGN)


def _print_end() -> None:
    try:
        click.echo("The demo has ended, and its data is deleted.")
    except OSError:
        # The terminal is closed. What Python still has to write at its end goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


async def _run(folder: Path, port: int) -> None:
    # Not from the environment or a file: those are of a real installation.
    settings = Settings(data=folder, listen=LOOPBACK, port=port, log_level="error", websub=False)
    listening = listen(settings)
    click.echo("Starting ...")
    async with AsyncExitStack() as stack:
        web = await stack.enter_async_context(run_demo_web())
        own = frozenset({(LOOPBACK, web.port)})
        settings = replace(settings, port=listening.getsockname()[1], own_servers=own)
        set_up_at_first_line(settings)
        app = _with_short_intervals(await stack.enter_async_context(build_app(settings)))
        password = token_urlsafe(9)
        address = SignInAddress(await prepare_reader(app, web, password), token_urlsafe(12))
        parts = await stack.enter_async_context(open_embedded(app))
        await stack.enter_async_context(run_periodic_parts(app, parts))
        pages = asgi.create_asgi_app(app, parts.batches)
        pages.router.routes.insert(0, address.route)
        # From now on a browser waits in place of being refused.
        listening.listen()
        _print_welcome(settings, address, password, len(web.feeds))
        await serve_on(listening, pages, settings)
        _ignore_signals()


def _with_short_intervals(app: App) -> App:
    """The app with a schedule that may fetch every minute: the feeds are our own."""
    rules = replace(app.tools.rules, floor=LIVE_INTERVAL)
    return replace(app, tools=replace(app.tools, rules=rules))


def _print_welcome(settings: Settings, address: SignInAddress, password: str, feeds: int) -> None:
    site = listening_address(settings)
    click.echo(f"The demo is running with {feeds} feeds of its own: open {site}{address.path}")
    click.echo(f"Or sign in at {site} as {NAME} with the password {password}")
    click.echo("One feed has a new entry every minute. Stop it with Ctrl-C; everything is deleted then.")
