"""Signing in with a real OpenID Connect provider."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from lxml import html

from feedmill.library.users.manage_users import make_user
from feedmill.library.users.oidc.provider_metadata import KEYS_AGAIN_SECONDS
from feedmill.model.user import DISABLED, Actor
from feedmill.store.admin.users import update_user
from feedmill.store.users.users import count_users, user_of_name
from tests.browser.sample_feeds import PASSWORD
from tests.scripted_web import Web
from tests.serve.rest.site import ORIGIN, Site, running_site
from tests.serve.web.users.provider_site import (
    ACCOUNTS,
    CALLBACK,
    PROVIDER_ID,
    ProviderUser,
    provider_settings,
    provider_user,
    site_with_provider,
)
from tests.serve.web.visitor import Visitor, text_of
from tests.services.oidc_provider import CLIENT_ID, running_oidc_provider
from tests.services.server import Restartable

pytestmark = pytest.mark.external


@pytest.fixture(scope="module")
def provider() -> Iterator[Restartable]:
    with running_oidc_provider(ACCOUNTS, [ORIGIN + CALLBACK], sign_out_uris=(f"{ORIGIN}/login",)) as running:
        yield running


@pytest.fixture
async def site(tmp_path: Path, provider: Restartable, request: pytest.FixtureRequest) -> AsyncIterator[Site]:
    """A site whose readers get an account; the test may change the settings of the provider."""
    more: dict[str, Any] = {"allowed_groups": ["readers"]} | getattr(request, "param", {})
    async with site_with_provider(tmp_path, provider.service.url, **more) as site:
        yield site


@pytest.fixture
async def person(site: Site) -> ProviderUser:
    return await provider_user(site)


def set_provider(**settings: Any) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("site", [settings], indirect=True)


async def test_the_sign_in_page_has_a_button_for_the_provider(person: ProviderUser) -> None:
    page = await person.site.get("/login", params={"next": "/starred?a=1&b=2"})

    assert 'href="/login/oidc/home?next=%2Fstarred%3Fa%3D1%26b%3D2"' in page.text
    assert "Sign in with Home" in page.text


async def test_a_member_of_an_allowed_group_gets_an_account_at_the_first_sign_in(
    site: Site, person: ProviderUser
) -> None:
    answer = await person.sign_in("sub-bob", next="/starred")

    assert (answer.status_code, answer.headers["location"]) == (303, "/starred")
    assert await person.name() == "bob"
    user = await user_of_name(site.app.db, "bob")
    assert user is not None
    assert not user.is_admin


async def test_the_second_sign_in_leads_to_the_same_account(site: Site, person: ProviderUser) -> None:
    await person.sign_in("sub-bob")
    users = await count_users(site.app.db)

    again = await provider_user(site)
    await again.sign_in("sub-bob")

    assert await again.name() == "bob"
    assert await count_users(site.app.db) == users


async def test_the_request_has_pkce_state_and_nonce(person: ProviderUser) -> None:
    asked = parse_qs(urlsplit(await person.begin()).query)

    assert asked["code_challenge_method"] == ["S256"]
    assert asked["client_id"] == [CLIENT_ID]
    assert asked["redirect_uri"] == [ORIGIN + CALLBACK]
    assert {"state", "nonce", "code_challenge"} <= asked.keys()


@set_provider(allowed_groups=["*"])
async def test_an_equal_name_and_e_mail_address_do_not_lead_into_an_account(site: Site, person: ProviderUser) -> None:
    await person.sign_in("sub-mallory")

    assert await person.name() == "alice-2"
    page = await person.site.get("/all")
    assert "larch" not in page.text


async def test_somebody_without_an_account_is_refused_with_a_reason(site: Site, person: ProviderUser) -> None:
    users = await count_users(site.app.db)

    answer = await person.sign_in("sub-mallory")

    assert answer.status_code == 403
    assert "You have no account here." in answer.text
    assert "feedmill_session" not in person.site.cookies
    assert await count_users(site.app.db) == users


@set_provider(allowed_groups=[])
async def test_a_signed_in_user_links_an_identity_and_signs_in_with_it(site: Site) -> None:
    alice = await linked(site, "alice", "sub-bob")

    assert "Home · Bob" in text_of(await Visitor("alice", alice.site).see("/settings"))
    later = await provider_user(site)
    await later.sign_in("sub-bob")
    assert await later.name() == "alice"


@set_provider(allowed_groups=[])
async def test_an_identity_of_another_account_is_not_linked(site: Site) -> None:
    await linked(site, "alice", "sub-bob")
    await add_charlie(site)

    charlie = await linked(site, "charlie", "sub-bob")

    assert "already" in text_of(await Visitor("charlie", charlie.site).see("/settings"))
    later = await provider_user(site)
    await later.sign_in("sub-bob")
    assert await later.name() == "alice"


@set_provider(allowed_groups=[])
async def test_an_answer_to_one_user_does_not_link_an_identity_to_another(site: Site, person: ProviderUser) -> None:
    await add_charlie(site)
    await with_password(person, "alice")
    answer = await person.prove(await begin_linking(person, "alice"), "sub-bob")
    await with_password(person, "charlie")

    assert (await person.site.get(answer)).status_code == 403
    assert (await (await provider_user(site)).sign_in("sub-bob")).status_code == 403


async def test_another_site_cannot_begin_to_link_an_identity(person: ProviderUser) -> None:
    await with_password(person, "alice")

    answer = await person.site.post(f"/settings/identities/{PROVIDER_ID}/link", data={"csrf": "guessed"})

    assert answer.status_code == 403
    assert "feedmill_oidc" not in answer.cookies


@set_provider(allowed_groups=[])
async def test_an_identity_is_unlinked(site: Site) -> None:
    alice = await linked(site, "alice", "sub-bob")

    await Visitor("alice", alice.site).send("/settings/identities/1/unlink")

    assert "Bob" not in text_of(await Visitor("alice", alice.site).see("/settings"))
    assert (await (await provider_user(site)).sign_in("sub-bob")).status_code == 403


async def test_the_last_way_to_sign_in_stays(site: Site, person: ProviderUser) -> None:
    await person.sign_in("sub-bob")
    bob = Visitor("bob", person.site)

    await bob.send("/settings/identities/1/unlink")

    assert "your only way to sign in" in text_of(await bob.see("/settings"))
    assert await person.name() == "bob"
    assert (await (await provider_user(site)).sign_in("sub-bob")).status_code == 303


async def test_nobody_unlinks_the_identity_of_somebody_else(site: Site, person: ProviderUser) -> None:
    await person.sign_in("sub-bob")
    await add_charlie(site)
    charlie = await Visitor.signed_in(site, "charlie")

    assert (await charlie.send("/settings/identities/1/unlink")).status_code == 404
    assert (await (await provider_user(site)).sign_in("sub-bob")).status_code == 303


@set_provider(admin_value="admins", allowed_groups=["readers"])
async def test_a_claim_grants_and_takes_the_right_of_an_admin(site: Site, person: ProviderUser) -> None:
    await person.sign_in("sub-alice")
    name = await person.name()
    user = await user_of_name(site.app.db, name)
    assert user is not None
    assert user.is_admin

    await (await provider_user(site)).sign_in("sub-bob")
    bob = await user_of_name(site.app.db, "bob")
    assert bob is not None
    await update_user(site.app.db, bob, replace(bob, is_admin=True), Actor(), datetime.now(UTC))
    again = await provider_user(site)
    await again.sign_in("sub-bob")

    bob = await user_of_name(site.app.db, "bob")
    assert bob is not None
    assert not bob.is_admin


@set_provider(admin_value="admins", allowed_groups=[])
async def test_the_last_admin_keeps_the_right(site: Site) -> None:
    await linked(site, "alice", "sub-bob")

    person = await provider_user(site)
    answer = await person.sign_in("sub-bob")

    assert answer.status_code == 303
    assert (await person.site.get("/admin")).status_code == 200


async def test_a_disabled_user_is_refused(site: Site, person: ProviderUser) -> None:
    await person.sign_in("sub-bob")
    bob = await user_of_name(site.app.db, "bob")
    assert bob is not None
    await update_user(site.app.db, bob, replace(bob, status=DISABLED), Actor(), datetime.now(UTC))

    answer = await (await provider_user(site)).sign_in("sub-bob")

    assert answer.status_code == 403
    assert "This account is disabled." in answer.text


@set_provider(sign_out=True)
async def test_signing_out_ends_the_session_at_the_provider_too(person: ProviderUser) -> None:
    await person.sign_in("sub-bob")

    leaving = await Visitor("bob", person.site).send("/logout")

    url = where_it_leads(leaving)
    assert urlsplit(url).path == "/session/end"
    assert {"id_token_hint", "post_logout_redirect_uri"} <= parse_qs(urlsplit(url).query).keys()
    assert (await person.provider.get(url)).status_code == 200
    assert await person.name() == ""


async def test_signing_out_leaves_the_provider_alone_by_default(person: ProviderUser) -> None:
    await person.sign_in("sub-bob")

    assert (await Visitor("bob", person.site).send("/logout")).headers["location"] == "/login"
    assert await person.name() == ""


@pytest.mark.parametrize("to", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)"])
async def test_signing_in_with_a_provider_never_redirects_to_another_site(person: ProviderUser, to: str) -> None:
    answer = await person.sign_in("sub-bob", next=to)

    assert answer.headers["location"] == "/"


async def test_an_answer_is_used_once(site: Site, person: ProviderUser) -> None:
    callback = await person.prove(await person.begin(), "sub-bob")
    cookie = person.site.cookies["feedmill_oidc"]
    assert (await person.site.get(callback)).status_code == 303

    thief = await site.browser()
    again = await thief.get(callback, headers={"Cookie": f"feedmill_oidc={cookie}"})

    assert again.status_code in (403, 502)
    assert "feedmill_session" not in again.cookies


async def test_an_answer_is_worth_nothing_in_another_browser(site: Site, person: ProviderUser) -> None:
    callback = await person.prove(await person.begin(), "sub-bob")

    for victim in (await provider_user(site), person):
        await victim.begin()
        answer = await victim.site.get(callback)
        assert answer.status_code == 403
        assert "feedmill_session" not in answer.cookies


async def test_new_keys_of_the_provider_are_fetched(site: Site, person: ProviderUser, provider: Restartable) -> None:
    await person.sign_in("sub-bob")
    provider.stop()
    provider.start()
    directory = site.app.single_sign_on.directory
    for known in directory._known.values():
        known.keys_fetched_at -= KEYS_AGAIN_SECONDS

    again = await provider_user(site)

    assert (await again.sign_in("sub-bob")).status_code == 303


async def test_a_provider_that_is_down_is_an_error_that_says_so(person: ProviderUser, provider: Restartable) -> None:
    callback = await person.prove(await person.begin(), "sub-bob")
    provider.stop()
    try:
        answer = await person.site.get(callback)
    finally:
        provider.start()

    assert answer.status_code == 502
    assert "Home can&#39;t be used at the moment" in answer.text
    assert (await person.sign_in("sub-bob")).status_code == 303


async def test_a_new_instance_is_set_up_before_anybody_signs_in(tmp_path: Path, provider: Restartable) -> None:
    async with (
        Web() as web,
        running_site(tmp_path, web, oidc={"home": provider_settings(provider.service.url)}) as site,
    ):
        answer = await (await site.browser()).get("/login/oidc/home")

    assert answer.headers["location"] == "/setup"


async def add_charlie(site: Site) -> None:
    await make_user(site.app.db, "charlie", PASSWORD, False, datetime.now(UTC), Actor())


async def with_password(person: ProviderUser, name: str) -> None:
    answer = await person.site.post("/login", data={"name": name, "password": PASSWORD})
    assert answer.status_code == 303


async def begin_linking(person: ProviderUser, name: str) -> str:
    """Where the site sends the browser to link an identity."""
    return where_it_leads(await Visitor(name, person.site).send(f"/settings/identities/{PROVIDER_ID}/link"))


async def linked(site: Site, name: str, subject: str) -> ProviderUser:
    """A user with a password who has tried to link this identity."""
    person = await provider_user(site)
    await with_password(person, name)
    answer = await person.site.get(await person.prove(await begin_linking(person, name), subject))
    assert answer.headers["location"] == "/settings"
    return person


def where_it_leads(leaving: httpx.Response) -> str:
    """The link of the page that goes on to another site."""
    [url] = html.fromstring(leaving.text).xpath("//a[contains(@class, 'main')]/@href")
    return str(url)
