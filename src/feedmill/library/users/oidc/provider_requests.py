"""Requests to identity providers, with small limits: their answers are read while somebody waits for a page."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import SplitResult, urlencode, urlsplit

import msgspec

from feedmill.i18n.messages import Message
from feedmill.identity_providers import IdentityProvider
from feedmill.library.users.oidc.errors import ProviderUnavailable
from feedmill.model.fetch_options import FetchOptions
from feedmill.model.fetch_outcome import FetchOutcome, Refused, Response, Retryable
from feedmill.outbound.client import Client
from feedmill.outbound.fetch_limits import FetchLimits
from feedmill.outbound.redirects import RequestPayload

LIMITS = FetchLimits(
    max_bytes=300_000,
    connect=timedelta(seconds=5),
    read=timedelta(seconds=5),
    total=timedelta(seconds=10),
    redirects=0,
)
FORM = "application/x-www-form-urlencoded"
DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class ProviderRequests:
    """`issuers` reaches the servers that the operator configured, also at private addresses; `others` all the rest.

    So the metadata of a provider can't lead us to a private address that nobody allowed.
    """

    issuers: Client
    others: Client

    async def get(
        self, provider: IdentityProvider, url: str, headers: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """The JSON object at the URL; raises `ProviderUnavailable`."""
        client = self._client(provider, url)
        return _read_object(provider, await client.get(url, None, LIMITS, FetchOptions(headers=headers or {})))

    async def post(
        self, provider: IdentityProvider, url: str, fields: Mapping[str, str], headers: Mapping[str, str]
    ) -> dict[str, Any]:
        """The JSON object that the form is answered with; raises `ProviderUnavailable`."""
        payload = RequestPayload(urlencode(fields).encode(), FORM, wants_body=True)
        client = self._client(provider, url)
        return _read_object(provider, await client.post(url, payload, LIMITS, FetchOptions(headers=headers)))

    def _client(self, provider: IdentityProvider, url: str) -> Client:
        return self.issuers if _server(urlsplit(url)) == _server(urlsplit(provider.issuer)) else self.others


def _server(url: SplitResult) -> tuple[str, str | None, int | None]:
    return url.scheme, url.hostname, url.port or DEFAULT_PORTS.get(url.scheme)


def _read_object(provider: IdentityProvider, outcome: FetchOutcome) -> dict[str, Any]:
    match outcome:
        case Response(body=body):
            try:
                found = msgspec.json.decode(body)
            except (msgspec.DecodeError, RecursionError):
                found = None
            if isinstance(found, dict):
                return found
            raise unavailable(provider, Message("identity_provider.not_json"))
        case Refused(detail=detail) | Retryable(detail=detail):
            raise unavailable(provider, detail)
    raise unavailable(provider, Message("identity_provider.status", status=outcome.status or 0))


def unavailable(provider: IdentityProvider, what: Message) -> ProviderUnavailable:
    return ProviderUnavailable(Message("identity_provider.unavailable", provider=provider.label, what=what))
