"""`feedmill serve`: the whole product in one process."""

import sys

import click
import uvloop

from feedmill import __version__
from feedmill.app import build_app
from feedmill.cli.startup.context import Context, pass_context
from feedmill.cli.startup.data_permissions import warn_of_wide_permissions
from feedmill.run.announce_presence import announce_presence
from feedmill.run.embedded import open_embedded
from feedmill.run.periodic_parts import run_periodic_parts
from feedmill.run.schema_watch import watch_schema
from feedmill.serve import asgi
from feedmill.serve.data_lock import lock_data_folder
from feedmill.serve.http.connections.server import address_to_open, listen, serve_on
from feedmill.settings import Settings


@click.command()
@click.option("--listen", metavar="ADDRESS", help="The address to listen on (setting listen).")
@click.option("--port", type=int, help="The port to listen on (setting port).")
@pass_context
def serve(context: Context, listen: str | None, port: int | None) -> None:
    """Run everything in one process: collector, API and web pages."""
    settings = context.settings_with(listen=listen, port=port)
    with lock_data_folder(settings.data):
        uvloop.run(_serve(settings))


async def _serve(settings: Settings) -> None:
    listening = listen(settings)
    warn_of_wide_permissions(settings)
    async with (
        build_app(settings) as app,
        watch_schema(app.db),
        open_embedded(app) as parts,
        run_periodic_parts(app, parts),
        announce_presence(app.coordination.presence, "serve"),
    ):
        site = asgi.create_asgi_app(app, parts.batches)
        # From now on a browser waits in place of being refused.
        listening.listen()
        click.echo(f"Feedmill {__version__} keeps its data in {settings.data.absolute()}")
        click.echo(f"Feedmill is running: open {address_to_open(settings)}")
        if sys.stdout.isatty():
            click.echo("Stop it with Ctrl+C.")
        await serve_on(listening, site, settings)
