"""App passwords: for reader apps alone, shown once, revoked at once, and never the password of the account."""

from datetime import timedelta

import pytest

from feedmill.errors import BadInput, LimitExceeded, NotAllowed, NotFound, NotSignedIn, WrongPassword
from feedmill.library.users.api_keys import create_api_key
from feedmill.library.users.app_passwords import (
    caller_of_app_token,
    caller_of_fever_key,
    caller_of_password_id,
    create_app_password,
    fever_key,
    list_app_passwords,
    revoke_app_password,
    sign_in_app,
)
from feedmill.library.users.find_caller import caller_of_api_key
from feedmill.library.users.manage_users import make_user, set_password
from feedmill.library.users.sign_in import authenticate, begin_session
from feedmill.library.users.sign_in_limits import PAIR_LIMIT
from feedmill.model.user import READ, WRITE, Actor, Caller, RequestOrigin
from feedmill.store.database import Database
from feedmill.store.users.api_keys import secret_digest
from feedmill.store.users.sessions import end_session_by_token
from tests.library.small_library import NOW

GOOD = "correct horse"
PHONE = RequestOrigin("192.0.2.1", "NewsApp/7 (phone)")
LATER = NOW + timedelta(minutes=2)


@pytest.fixture
async def alice(db: Database) -> Caller:
    user = await make_user(db, "alice", GOOD, True, NOW, Actor())
    return Caller(user, user.scopes)


@pytest.fixture
async def bob(db: Database) -> Caller:
    user = await make_user(db, "bob", GOOD, False, NOW, Actor())
    return Caller(user, user.scopes)


async def test_an_app_signs_in_and_can_read_and_mark_but_nothing_else(db: Database, alice: Caller) -> None:
    password, added = await create_app_password(db, alice, "  Alice's\tphone ", NOW)

    who = await sign_in_app(db, "Alice", password, PHONE, LATER)

    assert (who.user, who.scopes) == (alice.user, {READ, WRITE})
    assert who.app_password is not None
    assert who.app_password.id == added.id
    [listed] = await list_app_passwords(db, alice)
    assert (listed.name, listed.allows_fever) == ("Alice's phone", False)
    assert (listed.last_used_at, listed.last_address, listed.last_user_agent) == (LATER, *_parts(PHONE))


async def test_the_password_of_the_account_and_that_of_another_user_open_nothing(
    db: Database, alice: Caller, bob: Caller
) -> None:
    password, _ = await create_app_password(db, alice, "phone", NOW)

    for name, tried in (("alice", GOOD), ("bob", password), ("", password), ("alice", ""), ("alice", password + " ")):
        with pytest.raises(WrongPassword):
            await sign_in_app(db, name, tried, PHONE, NOW)
    assert await caller_of_api_key(db, password, NOW) is None
    with pytest.raises(WrongPassword):
        await authenticate(db, "alice", password, PHONE, NOW)


async def test_a_revoked_password_ends_every_way_of_using_it(db: Database, alice: Caller, bob: Caller) -> None:
    password, added = await create_app_password(db, alice, "phone", NOW, allows_fever=True)
    key = fever_key("alice", password)
    assert (await caller_of_fever_key(db, key.upper(), PHONE, NOW)).user.id == alice.user.id
    assert (await caller_of_app_token(db, password, PHONE, NOW)).user.id == alice.user.id
    assert await caller_of_password_id(db, added.id, PHONE, NOW) is not None
    with pytest.raises(NotFound):
        await revoke_app_password(db, bob, added.id, NOW)

    await revoke_app_password(db, alice, added.id, NOW)

    assert await list_app_passwords(db, alice) == []
    assert await caller_of_password_id(db, added.id, PHONE, NOW) is None
    for refused in (caller_of_fever_key(db, key, PHONE, NOW), caller_of_app_token(db, password, PHONE, NOW)):
        with pytest.raises(WrongPassword):
            await refused


async def test_there_is_no_fever_key_unless_it_was_asked_for(db: Database, alice: Caller) -> None:
    password, _ = await create_app_password(db, alice, "phone", NOW)

    with pytest.raises(WrongPassword):
        await caller_of_fever_key(db, fever_key("alice", password), PHONE, NOW)


async def test_wrong_passwords_are_slowed_down_but_a_right_one_and_the_browser_are_not(
    db: Database, alice: Caller
) -> None:
    password, _ = await create_app_password(db, alice, "phone", NOW)
    for _ in range(PAIR_LIMIT.free + 1):
        with pytest.raises((WrongPassword, LimitExceeded)):
            await sign_in_app(db, "alice", "wrong", PHONE, NOW)

    with pytest.raises(LimitExceeded):
        await sign_in_app(db, "alice", "wrong", PHONE, NOW)

    assert await sign_in_app(db, "alice", password, PHONE, NOW)
    assert await authenticate(db, "alice", GOOD, PHONE, NOW)


async def test_programs_create_no_app_passwords(db: Database, alice: Caller) -> None:
    secret, _ = await create_api_key(db, alice, "script", [READ, WRITE], None, NOW)
    password, _ = await create_app_password(db, alice, "phone", NOW)
    script = await caller_of_api_key(db, secret, NOW)
    assert script is not None

    for program in (script, await caller_of_app_token(db, password, PHONE, NOW)):
        with pytest.raises(NotAllowed):
            await create_app_password(db, program, "another", NOW)


async def test_a_session_that_has_ended_creates_none(db: Database, alice: Caller) -> None:
    token, in_browser = await begin_session(db, alice.user, PHONE, NOW)
    await end_session_by_token(db, secret_digest(token))

    with pytest.raises(NotSignedIn):
        await create_app_password(db, in_browser, "phone", NOW)


async def test_a_new_password_counts_app_passwords_and_revokes_them_on_request(db: Database, alice: Caller) -> None:
    password, _ = await create_app_password(db, alice, "phone", NOW)

    kept = await set_password(db, alice.user, "another horse", None, NOW, Actor())
    ended = await set_password(db, alice.user, "third horse", None, NOW, Actor(), revoke_keys=True)

    assert (kept.keys_revoked, kept.keys_left, ended.keys_revoked, ended.keys_left) == (0, 1, 1, 0)
    with pytest.raises(WrongPassword):
        await sign_in_app(db, "alice", password, PHONE, NOW)


@pytest.mark.parametrize("name", ["", " \n ", "x" * 101])
async def test_a_password_needs_a_name_of_a_device(db: Database, alice: Caller, name: str) -> None:
    with pytest.raises(BadInput):
        await create_app_password(db, alice, name, NOW)


def _parts(origin: RequestOrigin) -> tuple[str | None, str | None]:
    return origin.address, origin.user_agent
