"""`feedmill serve`: the whole product in one process."""

import click
import uvloop

from feedmill.app import build
from feedmill.cli.context import Context, pass_context
from feedmill.run.embedded import embedded, scheduling
from feedmill.run.presence import present
from feedmill.serve import asgi
from feedmill.serve.listening import address, listen, serve_on
from feedmill.serve.occupancy import occupied
from feedmill.settings import Settings


@click.command()
@click.option("--listen", metavar="ADDRESS", help="The address to listen on (setting listen).")
@click.option("--port", type=int, help="The port to listen on (setting port).")
@pass_context
def serve(context: Context, listen: str | None, port: int | None) -> None:
    """Collect, keep and show feeds, all in this process."""
    settings = context.settings_with(listen=listen, port=port)
    with occupied(settings.data):
        uvloop.run(_serve(settings))


async def _serve(settings: Settings) -> None:
    listening = listen(settings)
    async with (
        build(settings) as app, embedded(app) as parts, scheduling(parts), present(app.coordination.sight, "serve"),
    ):  # fmt: skip
        click.echo(f"Feedmill is running: open {address(settings)}")
        await serve_on(listening, asgi.create(app, parts.batches), settings)
