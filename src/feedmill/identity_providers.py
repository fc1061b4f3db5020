"""The setting `oidc`: the OpenID Connect providers that users sign in with.

In the settings file each is a table, `[oidc.keycloak]`. In the environment all of them are one JSON object.
"""

import json
import os
import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from feedmill.model.hosts import parse_host
from feedmill.setting_fields import SecretStr

# A part of the path to which the provider redirects.
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")
_SECRET_KEYS = ("client_secret", "client_secret_file", "client_secret_env")
EVERYBODY = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityProvider:
    """A provider. `allowed_groups` get an account at their first sign-in; `admin_value` in `admin_claim` is an admin.

    `sign_out`: signing out also ends the session at the provider.
    """

    id: str
    issuer: str
    client_id: str
    client_secret: SecretStr
    name: str = ""
    scopes: tuple[str, ...] = ("openid", "profile")
    name_claim: str = "preferred_username"
    group_claim: str = "groups"
    allowed_groups: tuple[str, ...] = ()
    admin_claim: str = ""
    admin_value: str = ""
    sign_out: bool = False

    def __str__(self) -> str:
        return f"{self.id} ({self.issuer})"

    @property
    def label(self) -> str:
        """The name on the button."""
        return self.name or self.id.replace("-", " ").title()


_FIELDS = {field.name: field.type for field in fields(IdentityProvider)}
_KNOWN = (_FIELDS.keys() - {"id"}) | set(_SECRET_KEYS)


def read_identity_providers(value: object) -> object:
    """Reads the tables of the settings file, or their JSON text; raises `ValueError`, which names no secret."""
    if isinstance(value, str):
        value = _from_json(value)
    if not isinstance(value, dict):
        return value
    return [_read_provider(str(name), table) for name, table in value.items()]


def _from_json(text: str) -> object:
    try:
        return json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        raise ValueError("expected a JSON object with one object for each provider") from None


def _read_provider(name: str, table: object) -> IdentityProvider:
    if not _ID.fullmatch(name):
        raise ValueError("the name of a provider has lower-case letters, digits and hyphens, at most 32")
    if not isinstance(table, dict):
        raise ValueError(f"{name}: expected a table with issuer and client_id")
    if unknown := sorted(table.keys() - _KNOWN):
        raise ValueError(f"{name}: there is no {unknown[0]}; there are {', '.join(sorted(_KNOWN))}")
    for needed in ("issuer", "client_id"):
        if not table.get(needed):
            raise ValueError(f"{name}: {needed} is missing")
    given = {key: _read_value(name, key, value) for key, value in table.items() if key not in _SECRET_KEYS}
    _check_issuer(name, given["issuer"])
    if "openid" not in given.get("scopes", ("openid",)):
        raise ValueError(f"{name}: scopes must contain openid")
    return IdentityProvider(id=name, client_secret=_read_client_secret(name, table), **given)


def _read_value(name: str, key: str, value: object) -> Any:
    if _FIELDS[key] is bool and isinstance(value, bool):
        return value
    if _FIELDS[key] == tuple[str, ...]:
        parts = value.replace(",", " ").split() if isinstance(value, str) else value
        if isinstance(parts, list) and all(isinstance(part, str) for part in parts):
            return tuple(parts)
        raise ValueError(f"{name}: {key} is a list of texts")
    if _FIELDS[key] is str and isinstance(value, str):
        return value
    raise ValueError(f"{name}: {key} is {'true or false' if _FIELDS[key] is bool else 'a text'}")


def _check_issuer(name: str, issuer: str) -> None:
    try:
        url = urlsplit(issuer)
        is_issuer = url.scheme in ("http", "https") and parse_host(url.netloc) is not None and issuer.isascii()
    except ValueError:
        is_issuer = False
    if not is_issuer or url.query or url.fragment:
        raise ValueError(f"{name}: write the issuer like https://auth.example.org/realms/home, as the provider does")


def _read_client_secret(name: str, table: dict[str, Any]) -> SecretStr:
    """The secret itself, or that in a file or in another variable; empty for a public client."""
    given = [key for key in _SECRET_KEYS if table.get(key)]
    if len(given) > 1:
        raise ValueError(f"{name}: give {given[0]} or {given[1]}, not both")
    if not given:
        return SecretStr("")
    value = _read_text(name, given[0], table[given[0]])
    if given[0] == "client_secret_file":
        return SecretStr(_read_file(name, Path(value)))
    if given[0] == "client_secret_env":
        if value not in os.environ:
            raise ValueError(f"{name}: client_secret_env names {value}, which is not set")
        return SecretStr(os.environ[value])
    return SecretStr(value)


def _read_text(name: str, key: str, value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name}: {key} is a text")
    return value


def _read_file(name: str, path: Path) -> str:
    try:
        return path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a text"
        raise ValueError(f"{name}: client_secret_file {path} can't be read: {reason}") from None
