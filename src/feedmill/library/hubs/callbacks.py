"""The addresses at which hubs reach us, and the signatures of what they push."""

import hmac
from urllib.parse import urlsplit

from feedmill.model.hosts import is_ip_literal
from feedmill.outbound.address_policy import AddressPolicy
from feedmill.settings import Settings

CALLBACK_PATH = "/websub"
# As W3C's WebSub registers them.
ALGORITHMS = ("sha1", "sha256", "sha384", "sha512")
LONGEST_SIGNATURE = 200


def hub_reachable_site(settings: Settings) -> str:
    """The address of this server under which hubs reach it; empty without `public_url`, or if that is private."""
    host = urlsplit(settings.public_url).hostname or ""
    if is_ip_literal(host):
        is_public = AddressPolicy(settings.allow_private).verdict(host, 443) in ("public", "allowed")
    else:
        is_public = host != "localhost" and not host.endswith((".localhost", ".local"))
    return settings.public_url if is_public else ""


def callback_url(site: str, token: str) -> str:
    return f"{site}{CALLBACK_PATH}/{token}"


def is_signed(header: str, body: bytes, secrets: tuple[str | None, ...]) -> bool:
    """Whether `X-Hub-Signature` is the signature of the body with one of these secrets, by any registered algorithm."""
    algorithm, _, sent = header.strip()[:LONGEST_SIGNATURE].partition("=")
    if algorithm.lower() not in ALGORITHMS:
        return False
    signed = sent.strip().lower().encode("ascii", "replace")
    matches = [
        hmac.compare_digest(hmac.digest(secret.encode(), body, algorithm.lower()).hex().encode(), signed)
        for secret in secrets
        if secret
    ]
    return any(matches)
