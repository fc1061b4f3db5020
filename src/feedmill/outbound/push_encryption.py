"""Encryption and signatures of web push; imported only when a browser subscribes or is notified.

A message is encrypted for the browser (RFC 8291) and signed with the key of this instance (VAPID, RFC 8292), which the
browser named to its push service when it subscribed.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from py_vapid import Vapid02
from pywebpush import WebPusher

from feedmill.model.notifications.push_subscription import PushSubscription

PRIVATE_KEY_BYTES = 32
PUBLIC_KEY_BYTES = 65
AUTH_BYTES = 16
SIGNATURE_LIFE = timedelta(hours=12)


def make_private_key() -> str:
    """A new key of an instance."""
    value = ec.generate_private_key(ec.SECP256R1()).private_numbers().private_value
    return _encode(value.to_bytes(PRIVATE_KEY_BYTES))


def public_key_of(private_key: str) -> str:
    """The public key, as browsers want it."""
    key = ec.derive_private_key(int.from_bytes(_decode(private_key)), ec.SECP256R1()).public_key()
    return _encode(key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint))


def check_browser_keys(p256dh: str, auth: str) -> None:
    """Raises `ValueError` unless messages can be encrypted with these keys."""
    point, secret = _decode(p256dh), _decode(auth)
    if len(point) != PUBLIC_KEY_BYTES or len(secret) != AUTH_BYTES:
        raise ValueError("the keys of a push subscription have the wrong length")
    ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)


def encrypt_push(subscription: PushSubscription, content: bytes) -> bytes:
    """The body of a request to the push service, which can't read it."""
    keys = {"p256dh": subscription.p256dh, "auth": subscription.auth}
    encrypted: bytes = WebPusher({"endpoint": subscription.endpoint, "keys": keys}).encode(content)["body"]
    return encrypted


def push_authorization(private_key: str, endpoint: str, contact: str, now: datetime) -> str:
    """The header `Authorization` for requests to the push service of that address."""
    url = urlsplit(endpoint)
    claims = {
        "aud": f"{url.scheme}://{url.netloc}",
        "sub": contact,
        "exp": int((now + SIGNATURE_LIFE).timestamp()),
    }
    signer = Vapid02.from_raw(private_key.encode())
    # The library knows no contact with a path.
    signer.conf = {"no-strict": True}
    authorization: str = signer.sign(claims)["Authorization"]
    return authorization


def _encode(value: bytes) -> str:
    return urlsafe_b64encode(value).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
