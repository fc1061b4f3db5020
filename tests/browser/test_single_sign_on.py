"""Signing in with a real OpenID Connect provider, at another site, in a real browser."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser import sample_feeds
from tests.browser.axe import serious
from tests.browser.conftest import PATIENCE
from tests.browser.site_server import SiteServer, run_site_server
from tests.serve.web.users.provider_site import ACCOUNTS, CALLBACK, PROVIDER_ID, provider_settings
from tests.services.oidc_provider import running_oidc_provider
from tests.services.server import free_port


@pytest.fixture(scope="module")
def site_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SiteServer]:
    """The site is `localhost` and the provider `127.0.0.1`: different sites for a browser, as in reality."""
    port = free_port()
    public_url = f"http://localhost:{port}"
    with running_oidc_provider(ACCOUNTS, [public_url + CALLBACK], sign_out_uris=(f"{public_url}/login",)) as provider:
        settings = provider_settings(provider.service.url, allowed_groups=["readers"], sign_out=True)
        given: dict[str, Any] = {"public_url": public_url, "oidc": {PROVIDER_ID: settings}}
        folder = tmp_path_factory.mktemp("site")
        with run_site_server(folder, sample_feeds.prepare, port, **given) as server:
            yield server


@pytest.fixture
def page(chromium_service: Any, site_server: SiteServer) -> Iterator[Page]:
    """A window in which the service worker runs, too."""
    context = chromium_service.browser.new_context(base_url=site_server.site.app.settings.public_url)
    context.set_default_timeout(PATIENCE)
    yield context.new_page()
    context.close()


def sign_in_at_provider(page: Page, subject: str) -> None:
    page.locator("input[name=login]").fill(subject)
    page.locator("input[name=password]").fill("any")
    page.locator("button[type=submit]").click()


def test_somebody_signs_in_and_out_with_a_provider(page: Page) -> None:
    page.goto("/starred")
    page.get_by_role("link", name="Sign in with Home").click()
    sign_in_at_provider(page, "sub-bob")
    page.wait_for_url("**/starred")

    page.goto("/logout")
    page.get_by_role("button", name="Sign out").click()
    # The provider asks whether its session is to end, too.
    page.locator("button[name=logout]").click()
    page.wait_for_url("**/login")

    expect(page.get_by_role("link", name="Sign in with Home")).to_be_visible()
    page.goto("/starred")
    expect(page).to_have_url("/login?next=/starred")


def test_a_user_links_and_unlinks_a_provider(page: Page) -> None:
    page.goto("/login")
    page.locator("input[name=name]").fill(sample_feeds.NAME)
    page.locator("input[name=password]").fill(sample_feeds.PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/unread")

    page.goto("/settings")
    page.get_by_role("button", name="Link Home").click()
    sign_in_at_provider(page, "sub-alice")
    page.wait_for_url("**/settings")
    expect(page.get_by_text("You can sign in with Home now.")).to_be_visible()
    assert serious(page) == []

    page.get_by_role("button", name="Unlink").click()
    expect(page.get_by_text("The identity is unlinked.")).to_be_visible()


def test_the_pages_of_signing_in_are_accessible_and_fit_a_small_phone(page: Page) -> None:
    page.set_viewport_size({"width": 320, "height": 640})
    for path in ("/login", f"/login/oidc/{PROVIDER_ID}/callback?error=access_denied"):
        page.goto(path)

        assert serious(page) == [], path
        assert page.evaluate("() => document.documentElement.scrollWidth") <= 320, path
