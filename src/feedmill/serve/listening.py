"""Where a web server listens, and the server there."""

import socket

import uvicorn
from starlette.types import ASGIApp

from feedmill.errors import CallerError
from feedmill.serve.server import Server
from feedmill.settings import Settings

GRACE_SECONDS = 3


def listen(settings: Settings) -> socket.socket:
    """Takes the port first, so that a port in use is said before anything is touched."""
    family = socket.AF_INET6 if ":" in settings.listen else socket.AF_INET
    listening = socket.socket(family)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.listen, settings.port))
    except OSError as error:
        listening.close()
        raise CallerError(
            f"can't listen on {address(settings)}: {error.strerror} (choose another with --listen or --port)"
        ) from error
    return listening


def address(settings: Settings) -> str:
    host = f"[{settings.listen}]" if ":" in settings.listen else settings.listen
    return f"http://{host}:{settings.port}"


async def serve_on(listening: socket.socket, asgi: ASGIApp, settings: Settings) -> None:
    """Answers until a signal ends it."""
    await Server(configured(asgi, settings)).serve(sockets=[listening])


def configured(asgi: ASGIApp, settings: Settings) -> uvicorn.Config:
    """How it is served. What a trusted proxy says of a request becomes the request's address and scheme."""
    return uvicorn.Config(
        asgi, log_config=None, access_log=False, timeout_graceful_shutdown=GRACE_SECONDS, server_header=False,
        proxy_headers=True, forwarded_allow_ips=[str(network) for network in settings.trusted_proxies],
    )  # fmt: skip
