"""Verifies ID tokens with Authlib; imported with the first sign-in."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from authlib.common.urls import add_params_to_uri
from authlib.oauth2.rfc6749.parameters import prepare_grant_uri
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, Key, OKPKey, RSAKey
from joserfc.jws import extract_compact

# Signatures with a key pair. With HMAC the client secret would be the key, and `none` is no signature.
ALGORITHMS = {
    "RSA": ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    "EC": ("ES256", "ES384", "ES512"),
    "OKP": ("EdDSA", "Ed25519"),
}
KEY_TYPES: Mapping[str, type[RSAKey] | type[ECKey] | type[OKPKey]] = {"RSA": RSAKey, "EC": ECKey, "OKP": OKPKey}
# How much the clocks of the provider and of this machine may differ.
LEEWAY_SECONDS = 60
MOST_CHARACTERS = 100_000

# What `code_flow.py` uses of Authlib besides.
authorization_url = prepare_grant_uri
add_query = add_params_to_uri
code_challenge = create_s256_code_challenge


class BadIdToken(Exception):
    """The token is not valid; the text says why, without its content."""


class UnknownKey(BadIdToken):
    """No key of the provider fits the token."""


def verify_id_token(
    token: str, keys: Sequence[Mapping[str, Any]], issuer: str, client_id: str, nonce: str, now: datetime
) -> dict[str, Any]:
    """The claims of a token that the provider issued to us for this sign-in; raises `BadIdToken`."""
    if len(token) > MOST_CHARACTERS:
        raise BadIdToken("too_long")
    try:
        header = extract_compact(token.encode()).headers()
        key, algorithms = _find_key(header, keys)
        found = jwt.decode(token, key, algorithms=algorithms)
        claims = CodeIDToken(found.claims, found.header, _required(issuer, client_id), _expected(client_id, nonce))
        claims.validate(now=int(now.timestamp()), leeway=LEEWAY_SECONDS)
    except (JoseError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise BadIdToken(type(error).__name__) from error
    # As OpenID Connect Core has it: at most 255 ASCII characters.
    subject = claims["sub"]
    if not (isinstance(subject, str) and 1 <= len(subject) <= 255 and subject.isascii() and subject.isprintable()):
        raise BadIdToken("sub")
    return dict(claims)


def _required(issuer: str, client_id: str) -> dict[str, Any]:
    return {
        "iss": {"essential": True, "value": issuer},
        "aud": {"essential": True, "value": client_id},
        "sub": {"essential": True},
        "nonce": {"essential": True},
    }


def _expected(client_id: str, nonce: str) -> dict[str, str]:
    return {"client_id": client_id, "nonce": nonce}


def _find_key(header: Mapping[str, Any], keys: Sequence[Mapping[str, Any]]) -> tuple[Key, tuple[str, ...]]:
    """The key that the header names, or the only one of its type, and the algorithms that it may be used with."""
    kind = next((kind for kind, names in ALGORITHMS.items() if header.get("alg") in names), None)
    if kind is None:
        raise BadIdToken("algorithm")
    fitting = [key for key in keys if key.get("kty") == kind and key.get("use", "sig") == "sig"]
    if header.get("kid") is not None:
        fitting = [key for key in fitting if key.get("kid") == header["kid"]]
    if len(fitting) != 1:
        raise UnknownKey("key")
    return KEY_TYPES[kind].import_key(dict(fitting[0])), ALGORITHMS[kind]
