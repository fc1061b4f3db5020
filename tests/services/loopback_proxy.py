"""An HTTP proxy that relays to this machine only, for programs that would also ask strangers."""

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar
from urllib.parse import urlsplit

PATIENCE = 60
# Headers about one connection only (RFC 9110, section 7.6.1), and those that `send_response` writes itself.
NOT_RELAYED = {"connection", "proxy-connection", "keep-alive", "transfer-encoding", "server", "date"}


@dataclass(frozen=True)
class LoopbackProxy:
    """`refused` are the hosts that a program asked for in vain."""

    port: int
    refused: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def running_loopback_proxy() -> Iterator[LoopbackProxy]:
    class Handler(_Relay):
        refused: ClassVar[list[str]] = []

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, name="loopback proxy")
    thread.start()
    try:
        yield LoopbackProxy(server.server_port, Handler.refused)
    finally:
        server.shutdown()
        thread.join(PATIENCE)
        server.server_close()


class _Relay(BaseHTTPRequestHandler):
    refused: ClassVar[list[str]]

    def do_GET(self) -> None:
        """Relays a request to this machine. The first line has the whole URL (RFC 9112, section 3.2.2)."""
        url = urlsplit(self.path)
        if url.scheme != "http" or url.hostname != "127.0.0.1":
            self._refuse(url.hostname or self.path)
            return
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        target = http.client.HTTPConnection("127.0.0.1", url.port or 80, timeout=PATIENCE)
        headers = {name: text for name, text in self.headers.items() if name.lower() not in NOT_RELAYED}
        target.request(self.command, url._replace(scheme="", netloc="").geturl() or "/", body, headers)
        self._answer(target.getresponse())
        target.close()

    do_POST = do_HEAD = do_GET

    def do_CONNECT(self) -> None:
        self._refuse(self.path.rpartition(":")[0])

    def _answer(self, response: http.client.HTTPResponse) -> None:
        body = response.read()
        self.send_response(response.status, response.reason)
        for name, text in response.getheaders():
            if name.lower() not in NOT_RELAYED | {"content-length"}:
                self.send_header(name, text)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _refuse(self, host: str) -> None:
        self.refused.append(host)
        self.send_error(403, "Only this machine")

    def log_message(self, format: str, *args: object) -> None:
        """Prints nothing."""
