"""A WebSub hub in a thread of its own, on loopback. It checks subscribers by the rules of W3C's WebSub.

`violations` has what a subscriber broke, each with the section of the recommendation. Time does not pass in it: a test
says what it confirms, denies and pushes.
"""

import hmac
import http.client
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from secrets import token_hex
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

FORM = "application/x-www-form-urlencoded"
# How soon the thread notices that it shall end.
POLL_SECONDS = 0.01
PATIENCE = 60
# Types that a browser does not run.
SAFE_TYPES = ("application/octet-stream", "text/plain")
ALGORITHMS = ("sha1", "sha256", "sha384", "sha512")


@dataclass(frozen=True)
class HubReply:
    """What a callback answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Subscriber:
    """A subscription that the hub has confirmed."""

    topic: str
    callback: str
    secret: str
    lease_seconds: int


@dataclass
class WebSubHub:
    """`requests` are the forms that it was sent. With `verifies` it asks each subscriber back at once."""

    verifies: bool = True
    lease_seconds: int | None = None
    status: int = 202
    redirect_to: str | None = None
    redirect_status: int = 307
    requests: list[dict[str, str]] = field(default_factory=list)
    subscribers: dict[tuple[str, str], Subscriber] = field(default_factory=dict)
    violations: list[str] = field(default_factory=list)
    replies: list[HubReply] = field(default_factory=list)
    port: int = 0
    changed: threading.Condition = field(default_factory=threading.Condition)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hub"

    # --- what subscribers ask for ----------------------------------------------------------------------------

    def take_request(self, content_type: str, body: bytes) -> None:
        """Section 5.1: checks the request, then verifies its intent as section 5.3 says."""
        sent = {name: values[0] for name, values in parse_qs(body.decode(), keep_blank_values=True).items()}
        if content_type.partition(";")[0].strip() != FORM:
            self.violations.append(f"5.1: the request is {content_type}")
        if sent.get("hub.mode") == "publish":
            self._distribute(sent["hub.topic"])
            return
        if sent.get("hub.mode") not in ("subscribe", "unsubscribe"):
            self.violations.append(f"5.1: hub.mode is {sent.get('hub.mode')}")
        for name in ("hub.callback", "hub.topic"):
            if urlsplit(sent.get(name, "")).scheme not in ("http", "https"):
                self.violations.append(f"5.1: {name} is {sent.get(name)}")
        if not len(sent.get("hub.secret", "x").encode()) < 200:
            self.violations.append("5.1: the secret has 200 bytes or more")
        if not sent.get("hub.lease_seconds", "1").isdigit():
            self.violations.append("5.1: hub.lease_seconds is no number")
        with self.changed:
            self.requests.append(sent)
            self.changed.notify_all()
        if self.verifies:
            self.verify(sent)

    def verify(self, sent: Mapping[str, str], **replaced: str) -> HubReply:
        """Section 5.3: asks the callback whether it wants what was asked for."""
        challenge = token_hex(16)
        lease = self.lease_seconds or int(sent.get("hub.lease_seconds") or 864_000)
        asked = {"hub.mode": sent["hub.mode"], "hub.topic": sent["hub.topic"], "hub.challenge": challenge}
        if sent["hub.mode"] == "subscribe":
            asked["hub.lease_seconds"] = str(lease)
        reply = self.ask(sent["hub.callback"], asked | replaced)
        if 200 <= reply.status <= 299 and reply.body.decode() == (asked | replaced)["hub.challenge"]:
            self._check_confirmation(reply)
            self._note(sent, lease)
        return reply

    def _note(self, sent: Mapping[str, str], lease: int) -> None:
        key = (sent["hub.topic"], sent["hub.callback"])
        with self.changed:
            if sent["hub.mode"] == "subscribe":
                self.subscribers[key] = Subscriber(*key, sent.get("hub.secret", ""), lease)
            else:
                self.subscribers.pop(key, None)
            self.changed.notify_all()

    def _check_confirmation(self, reply: HubReply) -> None:
        """Section 8.2: the confirmation must not be able to run in a browser."""
        kind = reply.headers.get("content-type", "").partition(";")[0]
        if kind not in SAFE_TYPES or reply.headers.get("x-content-type-options") != "nosniff":
            self.violations.append(f"8.2: the confirmation is {kind}")

    def deny(self, sent: Mapping[str, str], reason: str = "") -> HubReply:
        """Section 5.2."""
        asked = {"hub.mode": "denied", "hub.topic": sent["hub.topic"], "hub.reason": reason}
        return self.ask(sent["hub.callback"], asked)

    # --- what it pushes --------------------------------------------------------------------------------------

    def publish(self, topic: str, body: bytes, content_type: str = "application/rss+xml", **how: Any) -> list[HubReply]:
        """Section 7: sends the body to all subscribers of the topic."""
        known = [each for each in self.subscribers.values() if each.topic == topic]
        assert known, f"nobody subscribes to {topic}"
        return [self.push(each, body, content_type, **how) for each in known]

    def _distribute(self, topic: str) -> None:
        """Fetches what a publisher has told it of, checks it by section 4, and sends it to the subscribers."""
        found = self._send("GET", topic, None, {})
        for name, url in (("hub", self.url), ("self", topic)):
            if f'<{url}>; rel="{name}"' not in found.headers.get("link", ""):
                self.violations.append(f"4: {topic} has no link to its {name}")
        for each in self._of(topic):
            self.push(each, found.body, found.headers["content-type"])

    def push(
        self,
        to: Subscriber,
        body: bytes,
        content_type: str = "application/rss+xml",
        *,
        algorithm: str = "sha256",
        secret: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> HubReply:
        link = f'<{self.url}>; rel="hub", <{to.topic}>; rel="self"'
        sent = {"Content-Type": content_type, "Link": link}
        if algorithm:
            key = (to.secret if secret is None else secret).encode()
            sent["X-Hub-Signature"] = f"{algorithm}={hmac.digest(key, body, algorithm).hex()}"
        return self._send("POST", to.callback, body, sent | dict(headers or {}))

    def ask(self, callback: str, asked: Mapping[str, str]) -> HubReply:
        joined = "&" if urlsplit(callback).query else "?"
        return self._send("GET", f"{callback}{joined}{urlencode(asked)}", None, {})

    def _send(self, method: str, url: str, body: bytes | None, headers: Mapping[str, str]) -> HubReply:
        parts = urlsplit(url)
        connection = http.client.HTTPConnection(parts.netloc, timeout=PATIENCE)
        try:
            connection.request(method, parts._replace(scheme="", netloc="").geturl(), body, dict(headers))
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            reply = HubReply(response.status, found, response.read())
        finally:
            connection.close()
        with self.changed:
            self.replies.append(reply)
        return reply

    # --- waiting ---------------------------------------------------------------------------------------------

    def subscriber(self, topic: str) -> Subscriber:
        """The only subscriber of a topic, as soon as it is confirmed."""
        with self.changed:
            assert self.changed.wait_for(lambda: self._of(topic), PATIENCE), f"nobody subscribed to {topic}"
        return self._of(topic)[0]

    def _of(self, topic: str) -> list[Subscriber]:
        return [each for each in self.subscribers.values() if each.topic == topic]


class _Handler(BaseHTTPRequestHandler):
    hub: WebSubHub
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        hub = self.hub
        if hub.redirect_to is not None and self.path == "/hub":
            self._answer(hub.redirect_status, Location=hub.redirect_to)
            return
        self._answer(hub.status)
        if 200 <= hub.status <= 299:
            # Section 5.1.2: the answer does not depend on the verification.
            content_type = self.headers.get("Content-Type", "")
            threading.Thread(target=hub.take_request, args=(content_type, body), daemon=True).start()

    def _answer(self, status: int, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args: Any) -> None:
        return


@contextmanager
def running_hub(**options: Any) -> Iterator[WebSubHub]:
    """A hub that listens in a thread; at the end no subscriber may have broken a rule."""
    hub = WebSubHub(**options)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": hub}))
    server.daemon_threads = True
    hub.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(POLL_SECONDS,), name="websub hub", daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join(PATIENCE)
    assert hub.violations == []
