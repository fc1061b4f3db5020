"""What the claims of a provider mean here: the name of an account, groups, the right of an admin."""

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from feedmill.errors import BadInput
from feedmill.identity_providers import EVERYBODY, IdentityProvider
from feedmill.library.users.manage_users import LONGEST_NAME, normalize_user_name

MOST_VALUES = 1000
LONGEST_LABEL = 200
_NO_NAME = re.compile(r"[^\w.@+-]+")


def claim_values(claims: Mapping[str, Any], name: str) -> list[str]:
    """The texts of a claim: of one text, or of a list. `realm_access.roles` is in an object within the claims."""
    found: Any = claims.get(name)
    if found is None and "." in name:
        found = claims
        for part in name.split("."):
            found = found.get(part) if isinstance(found, dict) else None
    values = found if isinstance(found, list) else [found]
    return [_text(value) for value in values[:MOST_VALUES] if isinstance(value, str | bool)]


def is_missing(provider: IdentityProvider, claims: Mapping[str, Any]) -> bool:
    """Whether a claim that the settings use is not there."""
    wanted = {provider.name_claim}
    wanted |= {provider.group_claim} if provider.allowed_groups else set()
    wanted |= {admin_claim(provider)} if provider.admin_value else set()
    return any(not claim_values(claims, name) for name in wanted)


def admin_claim(provider: IdentityProvider) -> str:
    return provider.admin_claim or provider.group_claim


def is_admin_by_claim(provider: IdentityProvider, claims: Mapping[str, Any]) -> bool | None:
    """Whether the provider makes the user an admin; None if it does not decide."""
    return provider.admin_value in claim_values(claims, admin_claim(provider)) if provider.admin_value else None


def may_create_account(provider: IdentityProvider, claims: Mapping[str, Any]) -> bool:
    """Whether the user is in a group that gets an account at the first sign-in."""
    groups = claim_values(claims, provider.group_claim)
    return EVERYBODY in provider.allowed_groups or not set(provider.allowed_groups).isdisjoint(groups)


def label_of(provider: IdentityProvider, claims: Mapping[str, Any]) -> str | None:
    """How the provider calls the user. It is shown, and identifies nobody."""
    found = [*claim_values(claims, provider.name_claim), *claim_values(claims, "email"), *claim_values(claims, "name")]
    return found[0][:LONGEST_LABEL] if found else None


def account_name(provider: IdentityProvider, claims: Mapping[str, Any]) -> str:
    """The name of a new account, from the claim of the settings."""
    wished = (claim_values(claims, provider.name_claim) or [""])[0][:200]
    try:
        return normalize_user_name(_NO_NAME.sub("-", wished).strip("-")[:LONGEST_NAME])
    except BadInput:
        return f"user-{sha256(str(claims['sub']).encode()).hexdigest()[:8]}"


def _text(value: str | bool) -> str:
    """Without what no database can store: NUL, and halves of characters."""
    if isinstance(value, bool):
        return str(value).lower()
    return value.replace("\0", "").encode("utf-8", "replace").decode()
