"""A signal that comes while a stopped server ends does not kill what remains to be done."""

import subprocess
import sys

import pytest

from tests.services.server import free_port

PROGRAM = """
import asyncio, signal
from starlette.applications import Starlette
from feedmill.serve.http.connections.server import listen, serve_on
from feedmill.settings import Settings

async def serve():
    settings = Settings(port=PORT)
    listening = listen(settings)
    listening.listen()
    asyncio.get_running_loop().call_soon(signal.raise_signal, signal.SIGTERM)
    await serve_on(listening, Starlette(), settings)
    signal.raise_signal(signal.SIGTERM)
    signal.raise_signal(signal.SIGHUP)
    print("the rest is done")

asyncio.run(serve())
"""


@pytest.mark.external
def test_a_second_signal_does_not_kill_the_remaining_work() -> None:
    program = PROGRAM.replace("PORT", str(free_port()))

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["the rest is done"]), done.stderr
