"""`feedmill api`: the web server of a scaled-out installation."""

import click
import uvloop

from feedmill.app import build_app
from feedmill.cli.startup.context import Context, pass_context
from feedmill.cli.startup.data_permissions import warn_of_wide_permissions
from feedmill.run.announce_presence import announce_presence
from feedmill.run.distributed import open_distributed, require_scalable_settings
from feedmill.run.schema_watch import watch_schema
from feedmill.secret_key import require_shared_key
from feedmill.serve import asgi
from feedmill.serve.http.connections.server import address_to_open, listen, serve_on
from feedmill.settings import Settings


@click.command()
@click.option("--listen", metavar="ADDRESS", help="The address to listen on (setting listen).")
@click.option("--port", type=int, help="The port to listen on (setting port).")
@pass_context
def api(context: Context, listen: str | None, port: int | None) -> None:
    """Run the web server of a scaled-out installation; worker processes fetch the feeds.

    Needs Redis and a database other than SQLite, as 'feedmill worker' does.
    """
    settings = context.settings_with(listen=listen, port=port)
    require_scalable_settings(settings, "api")
    require_shared_key(settings)
    uvloop.run(_serve(settings))


async def _serve(settings: Settings) -> None:
    listening = listen(settings)
    warn_of_wide_permissions(settings)
    async with (
        build_app(settings) as app,
        watch_schema(app.db),
        open_distributed(app) as parts,
        announce_presence(app.coordination.presence, "api"),
    ):
        site = asgi.create_asgi_app(app, parts.batches)
        # From now on a browser waits in place of being refused.
        listening.listen()
        click.echo(f"Feedmill's API is running: open {address_to_open(settings)}")
        await serve_on(listening, site, settings)
