"""Hostile identity providers, and answers that are not what they seem."""

import hmac
import json
import time
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from joserfc import jws
from joserfc.jwk import ECKey, RSAKey

from feedmill.library.users.oidc import provider_requests
from feedmill.library.users.oidc.code_flow import LIFETIME
from tests.scripted_web import Answer, ClientConnection, ReceivedRequest, Web, web_on_one_port
from tests.serve.rest.site import Site, running_site
from tests.serve.web.site_folder_template import copy_site_folder

KEY, OTHER_KEY = (RSAKey.generate_key(2048, {"kid": "1", "use": "sig"}) for _ in range(2))
CLIENT_SECRET = "a client secret of thirty-two bytes and more"


@dataclass
class ScriptedProvider:
    """A provider that answers what a test says. `id_token` is what the next code is worth."""

    web: Web
    host: str = "127.0.0.1"
    id_token: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)

    @property
    def issuer(self) -> str:
        return self.web.url("", self.host)

    def start(self) -> None:
        paths = {"authorization_endpoint": "/auth", "token_endpoint": "/token", "jwks_uri": "/jwks"}
        self.metadata = {"issuer": self.issuer, **{name: self.issuer + path for name, path in paths.items()}}
        self.web.serve("/.well-known/openid-configuration", lambda _: _json(self.metadata), self.host)
        self.web.serve("/jwks", _json({"keys": [KEY.as_dict(private=False)]}), self.host)
        self.web.serve("/token", lambda _: _json({"id_token": self.id_token, "access_token": "a"}), self.host)

    def claims(self, nonce: str, /, **changed: Any) -> dict[str, Any]:
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": "feedmill", "sub": "s", "nonce": nonce, "iat": now, "exp": now + 300}
        return {"preferred_username": "eve", **claims} | changed

    def token(self, claims: dict[str, Any], key: Any = KEY, **header: Any) -> str:
        wanted = {"alg": "RS256", "kid": "1"} | header
        return jws.serialize_compact(wanted, json.dumps(claims).encode(), key, algorithms=[wanted["alg"]])


@dataclass(frozen=True)
class BegunByBrowser:
    browser: httpx.AsyncClient
    state: str
    nonce: str

    async def finish(self, provider: str = "home", **answer: str) -> httpx.Response:
        query = {"code": "c", "state": self.state} | answer
        return await self.browser.get(f"/login/oidc/{provider}/callback", params=query)


@pytest.fixture
async def web() -> AsyncIterator[Web]:
    async with web_on_one_port() as web:
        yield web


@pytest.fixture
def provider(web: Web) -> ScriptedProvider:
    scripted = ScriptedProvider(web)
    scripted.start()
    return scripted


@pytest.fixture
def other(web: Web) -> ScriptedProvider:
    scripted = ScriptedProvider(web, "127.0.0.2")
    scripted.start()
    return scripted


@pytest.fixture
async def site(tmp_path: Path, provider: ScriptedProvider, other: ScriptedProvider) -> AsyncIterator[Site]:
    """A site with two providers, which nothing but their configuration allows to reach."""
    await copy_site_folder(tmp_path, provider.web)
    common = {"client_id": "feedmill", "client_secret": CLIENT_SECRET, "allowed_groups": ["*"]}
    providers = {"home": {"issuer": provider.issuer, **common}, "other": {"issuer": other.issuer, **common}}
    async with running_site(tmp_path, provider.web, oidc=providers, allow_private="") as site:
        yield site


async def begin(site: Site, provider: str = "home") -> BegunByBrowser:
    browser = await site.browser()
    answer = await browser.get(f"/login/oidc/{provider}")
    assert answer.status_code == 303, answer.text
    sent = parse_qs(urlsplit(answer.headers["location"]).query)
    return BegunByBrowser(browser, sent["state"][0], sent["nonce"][0])


def assert_refused(answer: httpx.Response, *statuses: int) -> None:
    assert answer.status_code in (statuses or (403,)), answer.text
    assert "feedmill_session" not in answer.cookies


async def test_a_genuine_answer_signs_in(site: Site, provider: ScriptedProvider) -> None:
    begun = await begin(site)
    provider.id_token = provider.token(provider.claims(begun.nonce))

    assert (await begun.finish()).status_code == 303


@pytest.mark.parametrize(
    "changed",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"aud": "another client"},
        {"aud": "another client", "azp": "feedmill"},
        {"aud": ["feedmill", "another client"]},
        {"aud": ["feedmill", "another client"], "azp": "another client"},
        {"iss": "http://evil.example"},
        {"exp": int(time.time()) - 3600},
        {"exp": None},
        {"exp": "soon"},
        {"iat": int(time.time()) + 3600},
        {"nbf": int(time.time()) + 3600},
        {"sub": ""},
        {"sub": None},
        {"sub": ["s"]},
        {"sub": "s" * 300},
        {"sub": "\0"},
        {"sub": "\ud800"},
        {"at_hash": "AAAA", "nonce": "another"},
    ],
)
async def test_a_token_with_wrong_claims_is_refused(
    site: Site, provider: ScriptedProvider, changed: dict[str, Any]
) -> None:
    begun = await begin(site)
    claims = {name: value for name, value in provider.claims(begun.nonce, **changed).items() if value is not None}
    provider.id_token = provider.token(claims)

    assert_refused(await begun.finish())


def _hmac(claims: dict[str, Any], secret: bytes) -> str:
    signed = ".".join(_base64(json.dumps(part).encode()) for part in ({"alg": "HS256", "kid": "1"}, claims))
    return f"{signed}.{_base64(hmac.digest(secret, signed.encode(), 'sha256'))}"


def _unsigned(token: str, signature: str = "") -> str:
    return ".".join((_base64(json.dumps({"alg": "none"}).encode()), token.split(".")[1], signature))


def _base64(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")


FORGERIES: dict[str, Callable[[ScriptedProvider, dict[str, Any]], str]] = {
    "another key": lambda provider, claims: provider.token(claims, OTHER_KEY),
    "an unknown key": lambda provider, claims: provider.token(claims, OTHER_KEY, kid="2"),
    "a key of another type": lambda provider, claims: provider.token(claims, ECKey.generate_key("P-256"), alg="ES256"),
    "the client secret": lambda provider, claims: _hmac(claims, CLIENT_SECRET.encode()),
    "the public key as a secret": lambda provider, claims: _hmac(claims, KEY.as_pem(private=False)),
    "alg: none": lambda provider, claims: _unsigned(provider.token(claims)),
    "alg: none, with a signature": lambda provider, claims: _unsigned(provider.token(claims), "AAAA"),
    "no signature": lambda provider, claims: provider.token(claims).rpartition(".")[0] + ".",
    "another signature": lambda provider, claims: provider.token(claims)[:-8] + "AAAAAAAA",
    "two parts": lambda provider, claims: provider.token(claims).rpartition(".")[0],
    "nothing": lambda provider, claims: "",
    "dots": lambda provider, claims: "." * 1000,
    "no ASCII": lambda provider, claims: "é.é.é",
    "too long": lambda provider, claims: "a" * 200_000,
}


@pytest.mark.parametrize("forgery", FORGERIES)
async def test_a_token_that_is_not_signed_by_the_provider_is_refused(
    site: Site, provider: ScriptedProvider, forgery: str
) -> None:
    begun = await begin(site)
    provider.id_token = FORGERIES[forgery](provider, provider.claims(begun.nonce))

    assert_refused(await begun.finish())


async def test_the_answer_of_one_provider_is_not_taken_for_that_of_another(
    site: Site, provider: ScriptedProvider, other: ScriptedProvider
) -> None:
    """The other provider, which is hostile, sends the browser back to the callback of the honest one, and reverse."""
    begun = await begin(site, "other")
    provider.id_token = provider.token(provider.claims(begun.nonce))
    other.id_token = provider.id_token

    assert_refused(await begun.finish("home"))
    assert_refused(await (await begin(site, "other")).finish("other", iss=provider.issuer))
    again = await begin(site, "other")
    other.id_token = provider.token(provider.claims(again.nonce))
    assert_refused(await again.finish("other"))


async def test_the_cookie_of_one_provider_is_not_taken_for_that_of_another(
    site: Site, provider: ScriptedProvider
) -> None:
    """Its path keeps a browser from sending it; whoever writes requests by hand gains nothing either."""
    begun = await begin(site, "other")
    provider.id_token = provider.token(provider.claims(begun.nonce))
    forger = await site.browser(Cookie=f"feedmill_oidc={begun.browser.cookies['feedmill_oidc']}")

    assert_refused(await BegunByBrowser(forger, begun.state, begun.nonce).finish("home"))


async def test_an_issuer_that_was_promised_must_be_sent(site: Site, provider: ScriptedProvider) -> None:
    provider.metadata["authorization_response_iss_parameter_supported"] = True
    begun = await begin(site)
    provider.id_token = provider.token(provider.claims(begun.nonce))

    assert_refused(await begun.finish())


async def test_one_subject_at_two_providers_is_two_users(
    site: Site, provider: ScriptedProvider, other: ScriptedProvider
) -> None:
    names = []
    for name, each in (("home", provider), ("other", other)):
        begun = await begin(site, name)
        each.id_token = each.token(each.claims(begun.nonce))
        assert (await begun.finish(name)).status_code == 303
        names.append((await begun.browser.get("/api/me")).json()["name"])

    assert names == ["eve", "eve-2"]


@pytest.mark.parametrize("state", ["", "another", "é", "x" * 5000])
async def test_another_state_is_refused(site: Site, provider: ScriptedProvider, state: str) -> None:
    begun = await begin(site)
    provider.id_token = provider.token(provider.claims(begun.nonce))

    assert_refused(await begun.finish(state=state))
    assert provider.web.seen("/token") == []


async def test_a_state_is_used_once_though_the_provider_takes_its_code_again(
    site: Site, provider: ScriptedProvider
) -> None:
    begun = await begin(site)
    provider.id_token = provider.token(provider.claims(begun.nonce))
    cookie = begun.browser.cookies["feedmill_oidc"]
    assert (await begun.finish()).status_code == 303

    thief = await site.browser(Cookie=f"feedmill_oidc={cookie}")

    assert_refused(await BegunByBrowser(thief, begun.state, begun.nonce).finish())


async def test_a_sign_in_ends_after_ten_minutes(site: Site, provider: ScriptedProvider) -> None:
    begun = await begin(site)
    provider.id_token = provider.token(provider.claims(begun.nonce, exp=int(time.time()) + 3600))
    single_sign_on = site.app.single_sign_on
    clock = single_sign_on.clock
    object.__setattr__(single_sign_on, "clock", lambda: clock() + LIFETIME + timedelta(seconds=1))

    assert_refused(await begun.finish())


@pytest.mark.parametrize("cookie", ["", "nonsense", "enc1:00000000:AAAA", "enc2:a:b", "x" * 3000])
async def test_a_forged_cookie_is_refused(site: Site, cookie: str) -> None:
    browser = await site.browser(Cookie=f"feedmill_oidc={cookie}")

    assert_refused(await browser.get("/login/oidc/home/callback", params={"code": "c", "state": "s"}))


@pytest.mark.parametrize(
    "query", ["", "?code=a&code=b&state=s", "?error=access_denied", "?" + "a=b&" * 5000, "?code=%00&state=%ff"]
)
async def test_a_malformed_answer_is_refused(site: Site, query: str) -> None:
    begun = await begin(site)

    assert_refused(await begun.browser.get(f"/login/oidc/home/callback{query}"))


async def test_a_reason_of_the_provider_is_shown_as_text(site: Site) -> None:
    begun = await begin(site)

    answer = await begun.finish(error="access_denied", error_description="<img src=x onerror=alert(1)>")

    assert_refused(answer)
    assert "<img src=x" not in answer.text
    assert "&lt;img" in answer.text


@pytest.mark.parametrize(
    "changed",
    [
        {"issuer": "http://evil.example"},
        {"issuer": None},
        {"token_endpoint": None},
        {"token_endpoint": "file:///etc/passwd"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"authorization_endpoint": "//evil.example/"},
        {"authorization_endpoint": 'http://evil.example/"><script>'},
        {"jwks_uri": ["a"]},
        {"jwks_uri": "http://[::1"},
    ],
)
async def test_hostile_metadata_is_refused(site: Site, provider: ScriptedProvider, changed: dict[str, Any]) -> None:
    provider.metadata |= changed

    answer = await (await site.browser()).get("/login/oidc/home")

    assert_refused(answer, 502)
    assert "<script>" not in answer.text.partition("<main")[2]


async def test_redirects_of_a_provider_are_not_followed(site: Site, provider: ScriptedProvider) -> None:
    provider.web.serve("/elsewhere", _json(provider.metadata), provider.host)
    provider.web.serve("/.well-known/openid-configuration", Answer(b"", 302, {"Location": "/elsewhere"}), provider.host)

    assert_refused(await (await site.browser()).get("/login/oidc/home"), 502)
    assert provider.web.seen("/elsewhere") == []


async def test_metadata_leads_to_no_private_address_of_another_server(site: Site, provider: ScriptedProvider) -> None:
    provider.metadata["token_endpoint"] = provider.web.serve("/secret", _json({}), "127.0.0.3")
    begun = await begin(site)

    assert_refused(await begun.finish(), 502)
    assert provider.web.seen("/secret") == []


async def _endless(request: ReceivedRequest, connection: ClientConnection) -> None:
    await connection.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
    while True:
        await connection.send(b" " * 65_536)


async def _silent(request: ReceivedRequest, connection: ClientConnection) -> None:
    await connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{")
    await connection.until_asked_again()


@pytest.mark.parametrize(
    "served",
    [
        Answer(b"{" * 200_000),
        Answer(b"[" * 100_000 + b"]" * 100_000),
        Answer(b'{"issuer": "' + b"x" * 1_000_000 + b'"}'),
        Answer(b"not json"),
        Answer(b"[]"),
        Answer(b"", 500),
        Answer(b"", 302, {"Location": "http://127.0.0.3/"}),
        Answer(b"", 301, {"Location": "/.well-known/openid-configuration"}),
        b"nonsense",
        _endless,
        _silent,
    ],
)
async def test_a_broken_provider_is_an_error_that_says_so(
    site: Site, provider: ScriptedProvider, served: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = provider_requests.FetchLimits(300_000, *[timedelta(seconds=0.3)] * 2, timedelta(seconds=1), 0)
    monkeypatch.setattr(provider_requests, "LIMITS", short)
    provider.web.serve("/.well-known/openid-configuration", served, provider.host)

    answer = await (await site.browser()).get("/login/oidc/home")

    assert_refused(answer, 502)
    assert "be used at the moment" in answer.text


@pytest.mark.parametrize(
    "keys", [{}, {"keys": 1}, {"keys": [1, None, {}]}, {"keys": [{"kty": "RSA", "kid": "1", "n": "x"}]}]
)
async def test_hostile_keys_open_nothing(site: Site, provider: ScriptedProvider, keys: Any) -> None:
    begun = await begin(site)
    provider.id_token = provider.token(provider.claims(begun.nonce))
    provider.web.serve("/jwks", _json(keys), provider.host)

    assert_refused(await begun.finish(), 403, 502)


async def test_unknown_keys_are_fetched_again_at_most_once_a_minute(site: Site, provider: ScriptedProvider) -> None:
    for _ in range(5):
        begun = await begin(site)
        provider.id_token = provider.token(provider.claims(begun.nonce), OTHER_KEY, kid="2")
        assert_refused(await begun.finish())

    assert len(provider.web.seen("/jwks")) == 1


@pytest.mark.parametrize("claim", ["preferred_username", "groups", "email", "name"])
@pytest.mark.parametrize("value", ["", "\0", "<b>", "x" * 5000, ["a"] * 5000, {"a": {"b": "c"}}, 7, True, "\ud800"])
async def test_odd_claims_make_no_error(site: Site, provider: ScriptedProvider, claim: str, value: Any) -> None:
    begun = await begin(site)
    provider.id_token = provider.token(provider.claims(begun.nonce, **{claim: value}))

    answer = await begun.finish()

    assert answer.status_code == 303, answer.text
    assert (await begun.browser.get("/settings")).status_code == 200


def _json(document: Any) -> Answer:
    return Answer(json.dumps(document).encode(), headers={"Content-Type": "application/json"})
