"""A browser and its push service: decrypts what is pushed with the keys of the browser, and checks who signed it."""

import base64
import json
import os
from dataclasses import dataclass, field
from typing import Any

import http_ece
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from py_vapid import Vapid02

from feedmill.model.notifications.push_subscription import PushSubscription
from tests.scripted_web import Answer, ReceivedRequest, Web


def encode(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@dataclass
class PushedBrowser:
    """A browser that subscribed with the key of an instance. Its push service is at a path of the web."""

    web: Web
    instance_key: str
    path: str = "/push/alice"
    _key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    _auth: bytes = field(default_factory=lambda: os.urandom(16))

    def __post_init__(self) -> None:
        self.answer(201)

    def answer(self, status: int, headers: dict[str, str] | None = None) -> None:
        self.web.serve(self.path, Answer(status=status, headers=headers or {}))

    @property
    def subscription(self) -> PushSubscription:
        point = self._key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        return PushSubscription(f"http://127.0.0.1:{self.web.port}{self.path}", encode(point), encode(self._auth))

    @property
    def requests(self) -> list[ReceivedRequest]:
        return self.web.seen(self.path)

    @property
    def received(self) -> list[dict[str, Any]]:
        """What the service worker gets; each request is checked as a push service does."""
        return [self._open(request) for request in self.requests]

    def _open(self, request: ReceivedRequest) -> dict[str, Any]:
        headers = {name.lower(): value for name, value in request.headers.items()}
        assert headers["content-encoding"] == "aes128gcm"
        assert int(headers["ttl"]) > 0
        assert len(request.body) <= 4096
        self._check_signature(headers["authorization"])
        opened = http_ece.decrypt(request.body, private_key=self._key, auth_secret=self._auth, version="aes128gcm")
        content: dict[str, Any] = json.loads(opened)
        return content

    def _check_signature(self, authorization: str) -> None:
        assert Vapid02.verify(authorization)
        parts = dict(part.split("=", 1) for part in authorization.removeprefix("vapid ").split(","))
        assert parts["k"] == self.instance_key
        claims = json.loads(decode(parts["t"].split(".")[1]))
        assert claims["aud"] == f"http://127.0.0.1:{self.web.port}"
        assert claims["sub"].startswith("https://")
