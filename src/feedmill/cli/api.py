"""`feedmill api`: the web server of a scaled-out installation."""

import click
import uvloop

from feedmill.app import build
from feedmill.cli.context import Context, pass_context
from feedmill.run.distributed import refuse_what_cannot_scale, sending
from feedmill.run.presence import present
from feedmill.serve import asgi
from feedmill.serve.keys import refuse_keys_of_ones_own
from feedmill.serve.listening import address, listen, serve_on
from feedmill.settings import Settings


@click.command()
@click.option("--listen", metavar="ADDRESS", help="The address to listen on (setting listen).")
@click.option("--port", type=int, help="The port to listen on (setting port).")
@pass_context
def api(context: Context, listen: str | None, port: int | None) -> None:
    """Show feeds and take orders, while worker processes collect.

    Needs Redis and a database that is no SQLite file, as 'feedmill worker' does.
    """
    settings = context.settings_with(listen=listen, port=port)
    refuse_what_cannot_scale(settings, "api")
    refuse_keys_of_ones_own(settings)
    uvloop.run(_serve(settings))


async def _serve(settings: Settings) -> None:
    listening = listen(settings)
    async with build(settings) as app, sending(app) as parts, present(app.coordination.sight, "api"):
        click.echo(f"Feedmill's API is running: open {address(settings)}")
        await serve_on(listening, asgi.create(app, parts.batches), settings)
