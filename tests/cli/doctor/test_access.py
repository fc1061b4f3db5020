"""Findings about accounts, the public address, proxies and single sign-on."""

from ipaddress import ip_network

import pytest

from feedmill.cli.doctor import access
from feedmill.identity_providers import IdentityProvider
from feedmill.serve.data_lock import lock_data_folder
from feedmill.settings import Settings
from feedmill.store.database import Database
from feedmill.store.schema import sessions
from feedmill.store.users.users import add_user
from tests.cli.doctor.findings_of import NOW, findings_of, insert, is_error, is_warning
from tests.scripted_web import Answer, Web


async def test_accounts_are_counted(settings: Settings, db: Database) -> None:
    assert "accounts_ok" in await findings_of(settings)


async def test_without_an_account_it_matters_who_reaches_the_server(settings: Settings, db: Database) -> None:
    await db.exec("DELETE FROM users")

    here = await findings_of(settings)
    everywhere = await findings_of(Settings(data=settings.data, listen="0.0.0.0"))
    behind_proxy = await findings_of(Settings(data=settings.data, public_url="https://feeds.example"))

    assert "no_account" in here
    assert is_warning(everywhere, "first_visitor_is_admin", "feedmill user add")
    assert is_warning(behind_proxy, "first_visitor_is_admin", "feedmill user add")
    assert is_warning(everywhere, "public_url_empty", "public_url =")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer(b'{"status": "ok"}'), None),
        (Answer(b"<html>A shop</html>"), "another site"),
        (Answer(b"[]"), "another site"),
        (Answer(b"", status=421), "HTTP 421"),
    ],
)
async def test_the_public_address_must_lead_to_a_feedmill(
    settings: Settings, db: Database, answer: Answer, reason: str | None
) -> None:
    async with Web() as web:
        web.serve("/health/live", answer)
        with lock_data_folder(settings.data):
            found = await findings_of(Settings(data=settings.data, public_url=web.url("")))

    if reason is None:
        assert "public_url_ok" in found
    else:
        assert is_warning(found, "public_url_wrong", reason, "127.0.0.1:8000")


async def test_an_address_where_nobody_answers_is_a_warning_if_a_server_runs(settings: Settings, db: Database) -> None:
    async with Web() as web:
        closed = Settings(data=settings.data, public_url=web.url(""))
    stopped = await findings_of(closed)
    with lock_data_folder(settings.data):
        running = await findings_of(closed)

    assert "public_url_wrong" not in stopped
    assert is_warning(running, "public_url_wrong", "refused")


async def test_one_address_for_all_users_is_a_proxy_that_is_not_trusted(settings: Settings, db: Database) -> None:
    behind = Settings(data=settings.data, public_url="https://feeds.example")
    for number, name in enumerate(("bob", "charlie"), 2):
        await add_user(db, name, None, False, NOW)
        await _sign_in(db, number, "172.17.0.1")
    two = await findings_of(behind)
    await _sign_in(db, 1, "172.17.0.1")
    trusted = Settings(data=settings.data, public_url=behind.public_url, trusted_proxies=(ip_network("172.17.0.1/32"),))

    assert "one_visitor_address" not in two
    assert is_warning(await findings_of(behind), "one_visitor_address", "172.17.0.1", "trusted_proxies")
    assert "one_visitor_address" not in await findings_of(trusted)
    await _sign_in(db, 1, "203.0.113.7")
    assert "one_visitor_address" not in await findings_of(behind)


async def _sign_in(db: Database, user_id: int, address: str) -> None:
    times = {"created_at": NOW, "last_seen_at": NOW, "expires_at": NOW}
    await insert(db, sessions, user_id=user_id, token_hash=f"{user_id}{address}", address=address, **times)


async def test_a_sign_in_that_can_not_work_is_an_error(
    settings: Settings, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "is_installed", lambda package: False)
    provider = object.__new__(IdentityProvider)

    found = await findings_of(Settings(data=settings.data, sign_in_header="Remote-User", oidc=(provider,)))

    assert is_error(found, "sign_in_header_ignored", "Remote-User", "sign_in_header_from")
    assert is_error(found, "oidc_extra_missing", "feedmill[oidc]")
