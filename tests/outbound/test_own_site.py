"""What is said of an address that does not lead to our own site."""

import asyncio
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from threading import Thread

import pytest

from feedmill.outbound import own_site
from feedmill.outbound.own_site import ask_own_site
from tests.scripted_web import Answer, Web
from tests.services.server import free_port

RESET_ON_CLOSE = struct.pack("ii", 1, 0)


@contextmanager
def answering(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """The address of a server that answers one connection so."""

    def serve() -> None:
        connection, _ = listening.accept()
        with connection:
            connection.recv(10_000)
            answer(connection)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        thread.join()


def _reset(connection: socket.socket) -> None:
    connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)


def test_a_server_that_does_not_speak_http_is_another_site() -> None:
    with answering(lambda connection: connection.sendall(b"SSH-2.0-x\r\n")) as url:
        assert ask_own_site(url) == "it is another site"


def test_a_server_that_never_answers_is_not_called_another_site(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_site, "ANSWER_SECONDS", 0.1)

    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        answer = ask_own_site(f"http://127.0.0.1:{silent.getsockname()[1]}")

    assert answer == "no answer within 0.1 s"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [(lambda connection: None, "Remote end closed connection"), (_reset, "Connection reset by peer")],
)
def test_a_connection_that_is_cut_is_not_called_another_site(
    answer: Callable[[socket.socket], None], reason: str
) -> None:
    with answering(answer) as url:
        assert reason in str(ask_own_site(url))


async def test_it_is_asked_without_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{free_port()}")

    async with Web() as web:
        web.serve("/health/live", Answer(b'{"status": "ok"}'))
        answer = await asyncio.to_thread(ask_own_site, web.url(""))

    assert answer is None
