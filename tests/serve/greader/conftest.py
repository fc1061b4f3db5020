"""A site, a library, and apps of Alice and Charlie that have signed in."""

import pytest

from tests.serve.app_client import AppUser, GreaderApp, app_user, sign_in
from tests.serve.rest.site import Site


@pytest.fixture
async def app(alice: AppUser) -> GreaderApp:
    return await sign_in(alice)


@pytest.fixture
async def charlies_app(site: Site) -> GreaderApp:
    return await sign_in(await app_user(site, "charlie"))
