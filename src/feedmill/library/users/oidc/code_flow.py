"""The code flow with PKCE: begins a sign-in at a provider, and verifies what the browser comes back with.

What is remembered meanwhile (state, nonce, PKCE verifier) is in an encrypted cookie of the browser, not in this
process: the sign-in may end in another one.
"""

import hmac
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from secrets import token_urlsafe
from typing import Any
from urllib.parse import quote

import msgspec

from feedmill.encryption import Encryption, UnreadableSecret
from feedmill.errors import NotFound
from feedmill.i18n.messages import Message
from feedmill.identity_providers import IdentityProvider
from feedmill.library.users.oidc.claims import is_missing
from feedmill.library.users.oidc.errors import ProviderSignInRefused
from feedmill.library.users.oidc.provider_metadata import ProviderDirectory, ProviderMetadata
from feedmill.model.encrypted import Encrypted
from feedmill.model.user import SessionProvider
from feedmill.optional_imports import import_by_name
from feedmill.store.database import Database
from feedmill.store.users.identities import use_sign_in

LIFETIME = timedelta(minutes=10)
PURPOSE = "sign-in at a provider"
LONGEST_PARAMETER = 4000
# Authlib, which is optional.
ID_TOKENS = "feedmill.library.users.oidc.id_tokens"


class PendingSignIn(msgspec.Struct, frozen=True):
    """A sign-in that has begun. `linking_user_id`: the signed-in user to whom the identity is to be linked."""

    provider: str
    state: str
    nonce: str
    verifier: str
    redirect_uri: str
    next_path: str
    expires_at: float
    linking_user_id: int | None = None


@dataclass(frozen=True, slots=True)
class BegunSignIn:
    """Where the browser goes, and what its cookie holds meanwhile."""

    url: str
    cookie: str


@dataclass(frozen=True, slots=True)
class ProvenIdentity:
    """What a provider says about a user, after all checks."""

    provider: IdentityProvider
    claims: Mapping[str, Any]
    id_token: str
    pending: PendingSignIn


@dataclass(frozen=True, slots=True)
class SingleSignOn:
    """Signs in with the providers of the settings."""

    providers: Mapping[str, IdentityProvider]
    db: Database
    directory: ProviderDirectory
    encryption: Encryption
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    def provider(self, provider_id: str) -> IdentityProvider:
        """The provider of that id; raises `NotFound`."""
        if provider_id not in self.providers:
            raise NotFound(Message("identity_provider.no_such_provider"))
        return self.providers[provider_id]

    async def begin(
        self, provider: IdentityProvider, redirect_uri: str, next_path: str, linking_user_id: int | None = None
    ) -> BegunSignIn:
        """Begins a sign-in; raises `ProviderUnavailable`."""
        id_tokens = import_by_name(ID_TOKENS)
        metadata = await self.directory.metadata(provider)
        state, nonce, verifier = token_urlsafe(32), token_urlsafe(32), token_urlsafe(48)
        expires_at = (self.clock() + LIFETIME).timestamp()
        pending = PendingSignIn(
            provider.id, state, nonce, verifier, redirect_uri, next_path, expires_at, linking_user_id
        )
        url = id_tokens.authorization_url(
            metadata.authorization_endpoint,
            provider.client_id,
            "code",
            redirect_uri,
            list(provider.scopes),
            state,
            nonce=nonce,
            code_challenge=id_tokens.code_challenge(verifier),
            code_challenge_method="S256",
        )
        return BegunSignIn(url, self.encryption.encrypt(msgspec.json.encode(pending).decode(), PURPOSE).value)

    async def finish(self, provider: IdentityProvider, cookie: str | None, answer: Mapping[str, str]) -> ProvenIdentity:
        """Verifies the answer of a provider; raises `ProviderSignInRefused` or `ProviderUnavailable`.

        pending sign-in of this browser → state → issuer → code for tokens → ID token → more claims → used once
        """
        pending = self._pending(provider, cookie)
        _check_state(pending, answer)
        metadata = await self.directory.metadata(provider)
        _check_issuer(provider, metadata, answer)
        tokens = await self._redeem_code(provider, metadata, pending, _read_code(provider, answer))
        claims = await self._verify(provider, pending, tokens["id_token"])
        claims = await self._with_user_info(provider, metadata, tokens, claims)
        await self._use_once(pending)
        return ProvenIdentity(provider, claims, tokens["id_token"], pending)

    async def sign_out_url(self, session: SessionProvider, return_to: str) -> str | None:
        """Where the session at the provider is ended (RP-initiated logout); None if it is to stay."""
        provider = self.providers.get(session.id)
        if provider is None or not provider.sign_out:
            return None
        metadata = await self.directory.metadata(provider)
        if not metadata.end_session_endpoint:
            return None
        fields = {"client_id": provider.client_id, "post_logout_redirect_uri": return_to}
        if session.id_token:
            fields["id_token_hint"] = session.id_token
        url: str = import_by_name(ID_TOKENS).add_query(metadata.end_session_endpoint, list(fields.items()))
        return url

    def _pending(self, provider: IdentityProvider, cookie: str | None) -> PendingSignIn:
        try:
            text = self.encryption.decrypt(Encrypted(cookie or ""), PURPOSE)
            pending = msgspec.json.decode(text, type=PendingSignIn)
        except (UnreadableSecret, msgspec.DecodeError) as error:
            raise _expired("cookie") from error
        if pending.provider != provider.id:
            raise _expired("provider")
        if pending.expires_at <= self.clock().timestamp():
            raise _expired("expired")
        return pending

    async def _redeem_code(
        self, provider: IdentityProvider, metadata: ProviderMetadata, pending: PendingSignIn, code: str
    ) -> dict[str, str]:
        """Exchanges the code for tokens."""
        fields = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": pending.redirect_uri,
            "code_verifier": pending.verifier,
        }
        secret = provider.client_secret.get_secret_value()
        headers = {"Accept": "application/json"}
        if secret and "client_secret_basic" in metadata.token_endpoint_auth_methods_supported:
            login = f"{quote(provider.client_id, safe='')}:{quote(secret, safe='')}"
            headers["Authorization"] = f"Basic {b64encode(login.encode()).decode()}"
        else:
            fields["client_id"] = provider.client_id
            fields |= {"client_secret": secret} if secret else {}
        tokens = await self.directory.requests.post(provider, metadata.token_endpoint, fields, headers)
        if not isinstance(tokens.get("id_token"), str):
            raise untrusted(provider, "no_id_token")
        return {name: value for name, value in tokens.items() if isinstance(value, str)}

    async def _verify(self, provider: IdentityProvider, pending: PendingSignIn, id_token: str) -> dict[str, Any]:
        """The claims of the ID token. If its key is unknown, the keys are fetched again: providers replace them."""
        id_tokens = import_by_name(ID_TOKENS)
        expected = provider.issuer, provider.client_id, pending.nonce, self.clock()
        try:
            claims: dict[str, Any] = id_tokens.verify_id_token(id_token, await self.directory.keys(provider), *expected)
        except id_tokens.UnknownKey:
            keys = await self.directory.keys(provider, again=True)
            try:
                claims = id_tokens.verify_id_token(id_token, keys, *expected)
            except id_tokens.BadIdToken as error:
                raise untrusted(provider, f"id_token:{error}") from error
        except id_tokens.BadIdToken as error:
            raise untrusted(provider, f"id_token:{error}") from error
        return claims

    async def _with_user_info(
        self,
        provider: IdentityProvider,
        metadata: ProviderMetadata,
        tokens: Mapping[str, str],
        claims: dict[str, Any],
    ) -> dict[str, Any]:
        """The claims with those of the user info endpoint, where some providers have names and groups alone."""
        if not is_missing(provider, claims) or not metadata.userinfo_endpoint or "access_token" not in tokens:
            return claims
        headers = {"Authorization": f"Bearer {tokens['access_token']}", "Accept": "application/json"}
        more = await self.directory.requests.get(provider, metadata.userinfo_endpoint, headers)
        if more.get("sub") != claims["sub"]:
            raise untrusted(provider, "user_info_of_another_subject")
        return more | claims

    async def _use_once(self, pending: PendingSignIn) -> None:
        digest = sha256(pending.state.encode()).hexdigest()
        expires_at = datetime.fromtimestamp(pending.expires_at, UTC)
        if not await use_sign_in(self.db, digest, expires_at, self.clock()):
            raise _expired("used")


def _check_state(pending: PendingSignIn, answer: Mapping[str, str]) -> None:
    if not hmac.compare_digest(pending.state.encode(), answer.get("state", "").encode()):
        raise _expired("state")


def _check_issuer(provider: IdentityProvider, metadata: ProviderMetadata, answer: Mapping[str, str]) -> None:
    """The parameter `iss` (RFC 9207) must name this provider; one that promises to send it must send it."""
    sent = answer.get("iss")
    if sent is None and not metadata.authorization_response_iss_parameter_supported:
        return
    if sent != provider.issuer:
        raise ProviderSignInRefused(Message("identity_provider.wrong_issuer"), "iss")


def _read_code(provider: IdentityProvider, answer: Mapping[str, str]) -> str:
    if error := answer.get("error"):
        reason = answer.get("error_description") or error
        message = Message("identity_provider.provider_refused", provider=provider.label, reason=reason[:200])
        raise ProviderSignInRefused(message, f"error:{error[:50]}")
    code = answer.get("code", "")
    if not 1 <= len(code) <= LONGEST_PARAMETER:
        raise untrusted(provider, "no_code")
    return code


def untrusted(provider: IdentityProvider, reason: str) -> ProviderSignInRefused:
    return ProviderSignInRefused(Message("identity_provider.untrusted", provider=provider.label), reason)


def _expired(reason: str) -> ProviderSignInRefused:
    return ProviderSignInRefused(Message("identity_provider.expired"), reason)
