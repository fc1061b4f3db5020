"""`feedmill serve`: the whole product in one process."""

import asyncio
import socket

import click
import uvicorn

from feedmill.app import build
from feedmill.cli.context import Context, pass_context
from feedmill.errors import CallerError
from feedmill.run.embedded import embedded, scheduling
from feedmill.serve import asgi
from feedmill.serve.occupancy import occupied
from feedmill.serve.server import Server
from feedmill.settings import Settings

GRACE_SECONDS = 3


@click.command()
@click.option("--listen", metavar="ADDRESS", help="The address to listen on (setting listen).")
@click.option("--port", type=int, help="The port to listen on (setting port).")
@pass_context
def serve(context: Context, listen: str | None, port: int | None) -> None:
    """Collect, keep and show feeds, all in this process."""
    settings = context.settings_with(listen=listen, port=port)
    with occupied(settings.data):
        asyncio.run(_serve(settings))


async def _serve(settings: Settings) -> None:
    listening = _listen(settings)
    async with build(settings) as app, embedded(app) as parts, scheduling(parts):
        config = uvicorn.Config(
            asgi.create(app),
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
            server_header=False,
        )
        click.echo(f"Feedmill is running: open {_address(settings)}")
        await Server(config).serve(sockets=[listening])


def _listen(settings: Settings) -> socket.socket:
    """Takes the port first, so that a port in use is said before anything is touched."""
    family = socket.AF_INET6 if ":" in settings.listen else socket.AF_INET
    listening = socket.socket(family)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.listen, settings.port))
    except OSError as error:
        listening.close()
        raise CallerError(
            f"can't listen on {_address(settings)}: {error.strerror} (choose another with --port)"
        ) from error
    return listening


def _address(settings: Settings) -> str:
    host = f"[{settings.listen}]" if ":" in settings.listen else settings.listen
    return f"http://{host}:{settings.port}"
