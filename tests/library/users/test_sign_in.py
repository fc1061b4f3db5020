"""Signing in: the same answer for every error, and growing but never permanent delays after wrong passwords."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from argon2 import PasswordHasher

from feedmill.encryption import NO_ENCRYPTION
from feedmill.errors import DatabaseUnavailable, LimitExceeded, NotFound, WrongPassword
from feedmill.library.users.find_caller import caller_of_api_key, caller_of_cookie
from feedmill.library.users.manage_users import make_user
from feedmill.library.users.passwords import is_outdated
from feedmill.library.users.sessions import end_current_session, end_session, list_sessions
from feedmill.library.users.sign_in import Credentials, authenticate, begin_session, sign_in, sign_out
from feedmill.library.users.sign_in_limits import ADDRESS_LIMIT, NAME_LIMIT, PAIR_LIMIT, AttemptLimit, AttemptSource
from feedmill.model.user import DISABLED, Actor, RequestOrigin, User
from feedmill.store.admin.users import update_user
from feedmill.store.database import Database, Step
from feedmill.store.drivers.sqlite import SqliteDatabase
from feedmill.store.schema import sign_in_attempts
from feedmill.store.users.api_keys import add_api_key
from feedmill.store.users.sessions import SEEN_EVERY, sessions_of
from feedmill.store.users.sign_in_attempts import SignInAttempts
from feedmill.store.users.users import add_user, user_with_password_hash
from tests.library.small_library import DAY, NOW
from tests.sqlite_template import copy_template

GOOD = "correct horse"
HOME, AWAY = RequestOrigin("192.0.2.1", "browser"), RequestOrigin("198.51.100.9")
SECOND = timedelta(seconds=1)


@pytest.fixture
async def alice(db: Database) -> User:
    return await make_user(db, "alice", GOOD, False, NOW, Actor())


async def fails(db: Database, name: str, origin: RequestOrigin, now: datetime = NOW, times: int = 1) -> None:
    for _ in range(times):
        with pytest.raises(WrongPassword, match=r"^Name or password is wrong\.$"):
            await authenticate(db, name, "wrong", origin, now)


async def waits(db: Database, name: str, origin: RequestOrigin, now: datetime = NOW, password: str = GOOD) -> int:
    with pytest.raises(LimitExceeded) as refused:
        await authenticate(db, name, password, origin, now)
    assert refused.value.retry_after is not None
    return refused.value.retry_after


@pytest.mark.parametrize("name", ["alice", "Alice ", "ＡＬＩＣＥ"])
async def test_the_right_password_works_with_any_form_of_the_name(db: Database, alice: User, name: str) -> None:
    token, who = await sign_in(db, NO_ENCRYPTION, Credentials(name, GOOD), HOME, NOW)

    assert (who.user.id, who.session_id is not None) == (alice.id, True)
    assert await caller_of_cookie(db, token, NOW) is not None


@pytest.mark.parametrize("name", ["alice", "nobody", "", "a b", "\x00", "x" * 5000])
@pytest.mark.usefixtures("alice")
async def test_every_error_gets_the_same_answer(db: Database, name: str) -> None:
    await fails(db, name, HOME)


async def test_a_disabled_user_and_one_without_a_password_get_the_same_answer(db: Database, alice: User) -> None:
    await add_user(db, "keyless", None, False, NOW)
    await update_user(db, alice, replace(alice, status=DISABLED), Actor(), NOW)

    await fails(db, "keyless", HOME)
    with pytest.raises(WrongPassword):
        await authenticate(db, "alice", GOOD, HOME, NOW)


# At the least cost a hash takes no longer than the queries beside it.
@pytest.mark.usefixtures("real_password_hashes")
async def test_an_unknown_name_takes_as_long_as_a_wrong_password(db: Database, alice: User) -> None:
    async def seconds(name: str, address: str) -> float:
        started = time.process_time()
        await fails(db, name, RequestOrigin(address))
        return time.process_time() - started

    known = [await seconds("alice", f"192.0.2.{n}") for n in range(5)]
    unknown = [await seconds("nobody", f"198.51.100.{n}") for n in range(5)]

    assert min(unknown) > min(known) / 2


async def test_signing_in_again_starts_a_new_session_and_ends_the_old_one(db: Database, alice: User) -> None:
    planted, _ = await begin_session(db, alice, AWAY, NOW)

    token, _ = await sign_in(db, NO_ENCRYPTION, Credentials("alice", GOOD), HOME, NOW, replacing=planted)

    assert token != planted
    assert await caller_of_cookie(db, planted, NOW) is None
    assert len(await sessions_of(db, alice.id, NOW)) == 1


async def test_signing_out_ends_the_session(db: Database, alice: User) -> None:
    token, _ = await begin_session(db, alice, HOME, NOW)

    await sign_out(db, token)

    assert await caller_of_cookie(db, token, NOW) is None


async def test_a_session_lasts_as_long_as_it_is_used(db: Database, alice: User) -> None:
    token, _ = await begin_session(db, alice, HOME, NOW)

    assert await caller_of_cookie(db, token, NOW + 29 * DAY) is not None
    assert await caller_of_cookie(db, token, NOW + 58 * DAY) is not None
    assert await caller_of_cookie(db, token, NOW + 89 * DAY) is None


async def test_the_last_use_of_a_session_is_recorded_now_and_then(db: Database, alice: User) -> None:
    token, _ = await begin_session(db, alice, HOME, NOW)

    await caller_of_cookie(db, token, NOW + SEEN_EVERY)
    [soon] = await sessions_of(db, alice.id, NOW)
    await caller_of_cookie(db, token, NOW + SEEN_EVERY + SECOND)
    [later] = await sessions_of(db, alice.id, NOW)

    assert (soon.last_seen_at, later.last_seen_at) == (NOW, NOW + SEEN_EVERY + SECOND)


async def test_a_signed_in_user_can_read_while_the_database_is_read_only(tmp_path: Path) -> None:
    class Full(SqliteDatabase):
        async def batch(self, steps: Sequence[Step]) -> list[int]:
            raise DatabaseUnavailable("the disk is full")

    await copy_template(tmp_path / "f.db")
    db, full = SqliteDatabase(tmp_path / "f.db"), Full(tmp_path / "f.db")
    try:
        user = await add_user(db, "alice", None, False, NOW)
        token, _ = await begin_session(db, user, HOME, NOW)
        await add_api_key(db, user.id, "script", "fm_x", ["read"], NOW)

        assert await caller_of_cookie(full, token, NOW + DAY) is not None
        assert await caller_of_api_key(full, "fm_x", NOW + DAY) is not None
    finally:
        await db.close()
        await full.close()


@pytest.mark.usefixtures("real_password_hashes")
async def test_an_outdated_hash_is_renewed_at_the_next_sign_in(db: Database) -> None:
    await add_user(db, "bob", PasswordHasher(1, 8, 1).hash(GOOD), False, NOW)

    await authenticate(db, "bob", GOOD, HOME, NOW)

    found = await user_with_password_hash(db, "bob")
    assert found is not None
    assert not is_outdated(found[1] or "")
    await authenticate(db, "bob", GOOD, HOME, NOW)


@pytest.mark.parametrize(
    ("patience", "times", "seconds"),
    [
        (PAIR_LIMIT, 4, 0),
        (PAIR_LIMIT, 5, 1),
        (PAIR_LIMIT, 6, 2),
        (PAIR_LIMIT, 9, 16),
        (PAIR_LIMIT, 1000, 900),
        (NAME_LIMIT, 19, 0),
        (NAME_LIMIT, 99, 60),
        (ADDRESS_LIMIT, 29, 0),
        (ADDRESS_LIMIT, 30, 1),
    ],
)
def test_the_delay_doubles_up_to_a_maximum(patience: AttemptLimit, times: int, seconds: int) -> None:
    assert patience.wait(SignInAttempts(times, NOW), NOW) == timedelta(seconds=seconds)
    assert patience.wait(SignInAttempts(times, NOW), NOW + DAY) == timedelta(0)


async def test_an_attacker_has_to_wait_and_the_owner_elsewhere_does_not(db: Database, alice: User) -> None:
    await fails(db, "alice", AWAY, times=5)

    assert await waits(db, "alice", AWAY) == 1
    await authenticate(db, "alice", GOOD, HOME, NOW)


@pytest.mark.usefixtures("alice")
async def test_after_the_delay_another_attempt_is_allowed_and_the_next_delay_is_longer(db: Database) -> None:
    await fails(db, "alice", AWAY, times=5)
    await fails(db, "alice", AWAY, NOW + SECOND)

    assert await waits(db, "alice", AWAY, NOW + SECOND) == 2
    await authenticate(db, "alice", GOOD, AWAY, NOW + 3 * SECOND)
    await fails(db, "alice", AWAY, NOW + 3 * SECOND, times=5)


@pytest.mark.usefixtures("alice")
async def test_refused_attempts_do_not_lengthen_the_delay(db: Database) -> None:
    await fails(db, "alice", AWAY, times=5)

    for _ in range(20):
        await waits(db, "alice", AWAY)

    await authenticate(db, "alice", GOOD, AWAY, NOW + SECOND)


async def test_guesses_from_many_addresses_block_all_but_the_address_of_the_owner(db: Database, alice: User) -> None:
    await begin_session(db, alice, HOME, NOW)
    for number in range(20):
        await fails(db, "alice", RequestOrigin(f"203.0.113.{number}"))

    assert await waits(db, "alice", RequestOrigin("203.0.113.99")) == 1
    await authenticate(db, "alice", GOOD, HOME, NOW)


@pytest.mark.usefixtures("alice")
async def test_one_address_cannot_try_many_names_and_a_successful_sign_in_does_not_reset_that(db: Database) -> None:
    for number in range(29):
        await fails(db, f"name{number}", AWAY)
    await authenticate(db, "alice", GOOD, AWAY, NOW)
    await fails(db, "name29", AWAY)

    assert await waits(db, "name30", AWAY) == 1
    assert await waits(db, "alice", AWAY) == 1


@pytest.mark.usefixtures("alice")
async def test_an_ipv6_network_counts_as_one_address(db: Database) -> None:
    for number in range(5):
        await fails(db, "alice", RequestOrigin(f"2001:db8:1:2::{number:x}"))

    await waits(db, "alice", RequestOrigin("2001:db8:1:2:ffff::1"))
    await authenticate(db, "alice", GOOD, RequestOrigin("2001:db8:1:3::1"), NOW)
    mapped, plain = AttemptSource("alice", "::ffff:192.0.2.1"), AttemptSource("alice", "192.0.2.1")
    assert mapped.limits == plain.limits


async def test_concurrent_guesses_are_counted_like_sequential_ones(any_db: Database) -> None:
    guesses = [authenticate(any_db, "bob", f"guess {number}", AWAY, NOW) for number in range(12)]

    answers = [type(answer) for answer in await asyncio.gather(*guesses, return_exceptions=True)]

    assert (answers.count(WrongPassword) <= 5, answers.count(LimitExceeded) >= 7) == (True, True)


async def test_attempts_are_forgotten_after_a_day(db: Database) -> None:
    await fails(db, "nobody", AWAY, times=5)

    await fails(db, "somebody", HOME, NOW + 2 * DAY)

    assert len(await db.query(sign_in_attempts.select())) == 3
    await fails(db, "nobody", AWAY, NOW + 2 * DAY)


async def test_a_user_lists_and_ends_their_own_sessions_only(db: Database, alice: User) -> None:
    bob = await make_user(db, "bob", GOOD, False, NOW, Actor())
    _, hers = await begin_session(db, alice, HOME, NOW)
    _, his = await begin_session(db, bob, AWAY, NOW)
    assert hers.session_id is not None

    with pytest.raises(NotFound):
        await end_session(db, his, hers.session_id)
    assert [session.id for session in await list_sessions(db, hers, NOW)] == [hers.session_id]

    await end_session(db, hers, hers.session_id)
    assert await list_sessions(db, hers, NOW) == []


async def test_signing_out_with_an_api_key_ends_no_session(db: Database, alice: User) -> None:
    _, here = await begin_session(db, alice, HOME, NOW)
    await add_api_key(db, alice.id, "script", "fm_x", ["read"], NOW)
    script = await caller_of_api_key(db, "fm_x", NOW)
    assert script is not None

    assert not await end_current_session(db, script)
    assert await end_current_session(db, here)
    assert await list_sessions(db, here, NOW) == []
