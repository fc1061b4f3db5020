"""The metadata and the keys of identity providers (OpenID Connect Discovery), fetched when they are needed."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import msgspec

from feedmill.i18n.messages import Message
from feedmill.identity_providers import IdentityProvider
from feedmill.library.users.oidc.provider_requests import ProviderRequests, unavailable

KEPT_SECONDS = 3600
# How often the keys are fetched again because a token names one that is unknown.
KEYS_AGAIN_SECONDS = 60
MOST_KEYS = 50
WELL_KNOWN = "/.well-known/openid-configuration"
NOT_IN_URLS = frozenset(' "<>\\^`{|}')
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint", "end_session_endpoint")
_OPTIONAL = ("userinfo_endpoint", "end_session_endpoint")


class ProviderMetadata(msgspec.Struct, frozen=True):
    """What a provider publishes of itself, as far as it is used here."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str = ""
    end_session_endpoint: str = ""
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)
    authorization_response_iss_parameter_supported: bool = False


@dataclass(slots=True)
class KnownProvider:
    """What was fetched of a provider, and when."""

    metadata: ProviderMetadata
    fetched_at: float
    keys: list[dict[str, Any]] | None = None
    keys_fetched_at: float = 0


@dataclass(frozen=True, slots=True)
class ProviderDirectory:
    """Keeps the metadata and keys of each provider for an hour. What fails is asked for again the next time."""

    requests: ProviderRequests
    clock: Callable[[], float] = time.monotonic
    _known: dict[str, KnownProvider] = field(default_factory=dict)
    _locks: defaultdict[str, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))

    async def metadata(self, provider: IdentityProvider) -> ProviderMetadata:
        """Raises `ProviderUnavailable`, also if the metadata is not that of the configured issuer."""
        return (await self._provider(provider)).metadata

    async def keys(self, provider: IdentityProvider, *, again: bool = False) -> list[dict[str, Any]]:
        """The public keys, in the form of JSON Web Keys. `again`: fetched once more, unless they were just now."""
        known = await self._provider(provider)
        async with self._locks[provider.id]:
            is_recent = self.clock() - known.keys_fetched_at < KEYS_AGAIN_SECONDS
            if known.keys is None or (again and not is_recent):
                known.keys = _read_keys(provider, await self.requests.get(provider, known.metadata.jwks_uri))
                known.keys_fetched_at = self.clock()
            return known.keys

    async def _provider(self, provider: IdentityProvider) -> KnownProvider:
        async with self._locks[provider.id]:
            known = self._known.get(provider.id)
            if known is None or self.clock() - known.fetched_at > KEPT_SECONDS:
                found = await self.requests.get(provider, provider.issuer.rstrip("/") + WELL_KNOWN)
                known = KnownProvider(read_metadata(provider, found), self.clock())
                self._known[provider.id] = known
            return known


def read_metadata(provider: IdentityProvider, found: dict[str, Any]) -> ProviderMetadata:
    """Checks the metadata of a provider; raises `ProviderUnavailable`."""
    try:
        metadata = msgspec.convert(
            {name: value for name, value in found.items() if value is not None}, ProviderMetadata
        )
    except msgspec.ValidationError as error:
        raise unavailable(provider, Message("identity_provider.bad_metadata")) from error
    if metadata.issuer != provider.issuer:
        raise unavailable(provider, Message("identity_provider.other_issuer", issuer=metadata.issuer[:200]))
    for name in _ENDPOINTS:
        url = getattr(metadata, name)
        if not (name in _OPTIONAL and not url) and not _is_endpoint(url, provider):
            raise unavailable(provider, Message("identity_provider.bad_endpoint", name=name))
    return metadata


def _is_endpoint(url: str, provider: IdentityProvider) -> bool:
    """Whether it is a web address; one without TLS only if the issuer has none either."""
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return False
    schemes = ("https",) if provider.issuer.startswith("https:") else ("https", "http")
    return parts.scheme in schemes and has_host and url.isascii() and url.isprintable() and not set(url) & NOT_IN_URLS


def _read_keys(provider: IdentityProvider, found: dict[str, Any]) -> list[dict[str, Any]]:
    keys = found.get("keys")
    if not isinstance(keys, list):
        raise unavailable(provider, Message("identity_provider.no_keys"))
    return [key for key in keys if isinstance(key, dict)][:MOST_KEYS]
