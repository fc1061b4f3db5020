"""The second factor: each code counts once, and the password alone opens nothing any more."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import select
from structlog.testing import capture_logs

from feedmill.encryption import Encryption, UnreadableSecret
from feedmill.errors import BadInput, LimitExceeded, NotAllowed
from feedmill.library.users import two_factor
from feedmill.library.users.client_sessions import begin_client_session
from feedmill.library.users.confirm_owner import OwnerProof
from feedmill.library.users.find_caller import caller_of_cookie
from feedmill.library.users.manage_users import change_password, make_user, remove_user, set_password
from feedmill.library.users.pending_sign_in import (
    PENDING_FOR,
    begin_pending_sign_in,
    find_pending_user,
    finish_sign_in,
)
from feedmill.library.users.second_factor import LONGEST_CODE, WrongCode, check_second_factor, normalize_code
from feedmill.library.users.sign_in import Credentials, SecondFactorRequired, authenticate, begin_session, sign_in
from feedmill.library.users.totp import code_of_step, new_secret, step_at
from feedmill.model.user import Actor, Caller, RequestOrigin, User
from feedmill.settings import load_settings
from feedmill.store.database import Database
from feedmill.store.schema import recovery_codes, totp_secrets
from feedmill.store.users.users import user_of_name
from tests.library.small_library import NOW
from tests.library.users.second_factors import ENCRYPTION, KEY, Authenticator, set_up_two_factor

GOOD, OTHER = "correct horse", "battery staple"
HOME, AWAY = RequestOrigin("192.0.2.1", "browser"), RequestOrigin("198.51.100.9")
STEP = timedelta(seconds=30)


@pytest.fixture
async def alice(db: Database) -> Authenticator:
    return await make_alice(db)


async def make_alice(db: Database) -> Authenticator:
    return await set_up_two_factor(db, await make_user(db, "alice", GOOD, False, NOW, Actor()), GOOD, NOW)


async def enter(db: Database, user: User, code: str, origin: RequestOrigin = HOME, now: object = NOW) -> bool:
    try:
        await check_second_factor(db, ENCRYPTION, user, code, origin, now)  # type: ignore[arg-type]
    except WrongCode:
        return False
    return True


async def test_the_password_alone_opens_nothing(db: Database, alice: Authenticator) -> None:
    with pytest.raises(SecondFactorRequired):
        await authenticate(db, "alice", GOOD, HOME, NOW)
    with pytest.raises(SecondFactorRequired):
        await sign_in(db, ENCRYPTION, Credentials("alice", GOOD), HOME, NOW)
    with pytest.raises(SecondFactorRequired):
        await begin_client_session(db, ENCRYPTION, Credentials("alice", GOOD), HOME, NOW)

    token, _ = await sign_in(db, ENCRYPTION, Credentials("alice", GOOD, alice.code(NOW)), HOME, NOW)

    assert await caller_of_cookie(db, token, NOW) is not None


async def test_a_code_without_the_password_opens_nothing(db: Database, alice: Authenticator) -> None:
    with pytest.raises(Exception, match=r"^Name or password is wrong\.$"):
        await sign_in(db, ENCRYPTION, Credentials("alice", "wrong", alice.code(NOW)), HOME, NOW)

    assert await enter(db, alice.user, alice.code(NOW))


async def test_each_code_counts_once_and_older_ones_no_more(any_db: Database) -> None:
    alice = await make_alice(any_db)
    before, current, following = (alice.code(NOW + drift * STEP) for drift in (-1, 0, 1))

    accepted = [await enter(any_db, alice.user, code) for code in (current, current, before, following, following)]

    assert accepted == [True, False, False, True, False]


async def test_the_same_code_sent_in_parallel_is_accepted_once(any_db: Database) -> None:
    alice = await make_alice(any_db)
    addresses = [RequestOrigin(f"203.0.113.{number}") for number in range(8)]

    tries = [enter(any_db, alice.user, alice.code(NOW), origin) for origin in addresses]
    accepted = await asyncio.gather(*tries, return_exceptions=True)

    # Of many at the same moment some may be told to wait.
    assert {type(one) for one in accepted} <= {bool, LimitExceeded}
    assert [one for one in accepted if one is True] == [True]


async def test_a_recovery_code_works_once_in_any_spelling_and_also_in_parallel(any_db: Database) -> None:
    alice = await make_alice(any_db)
    first, second, third = alice.recovery_codes[:3]

    assert await enter(any_db, alice.user, first)
    assert not await enter(any_db, alice.user, first)
    assert await enter(any_db, alice.user, f" {second.upper().replace('-', ' ')}\t")
    both = await asyncio.gather(*(enter(any_db, alice.user, third) for _ in range(2)), return_exceptions=True)
    assert [one for one in both if one is True] == [True]
    assert await two_factor.count_recovery_codes(any_db, alice.session) == 7


async def test_codes_of_one_user_do_not_open_the_account_of_another(db: Database, alice: Authenticator) -> None:
    bob = await set_up_two_factor(db, await make_user(db, "bob", GOOD, False, NOW, Actor()), GOOD, NOW)

    assert not await enter(db, alice.user, bob.code(NOW))
    assert not await enter(db, alice.user, bob.recovery_codes[0])
    assert await enter(db, bob.user, bob.recovery_codes[0])
    assert await enter(db, bob.user, bob.code(NOW))


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "0",
        "12345",
        "1234567",
        "-12345",
        "+12345",
        "1e5000",
        "٠٠٠٠٠٠",
        "०००००००",
        "⁰⁰⁰⁰⁰⁰x",
        "\x00" * 6,
        "a" * 16,
        "9" * 10**6,
    ],
)
async def test_what_is_no_code_is_refused(db: Database, alice: Authenticator, typed: str) -> None:
    assert not await enter(db, alice.user, typed)


async def test_spaces_and_full_width_digits_are_understood(db: Database, alice: Authenticator) -> None:
    code = alice.code(NOW)
    wide = "".join(chr(ord(digit) + 0xFEE0) for digit in code)

    assert await enter(db, alice.user, f" {wide[:3]} {wide[3:]} ")
    assert normalize_code("1" * (LONGEST_CODE + 1)) == ""


async def test_guesses_are_slowed_down_from_one_address_and_from_many(db: Database, alice: Authenticator) -> None:
    for _ in range(5):
        assert not await enter(db, alice.user, "000000", AWAY)
    with pytest.raises(LimitExceeded):
        await enter(db, alice.user, alice.code(NOW), AWAY)
    for number in range(15):
        assert not await enter(db, alice.user, "000000", RequestOrigin(f"203.0.113.{number}"))

    with pytest.raises(LimitExceeded):
        await enter(db, alice.user, alice.code(NOW), RequestOrigin("203.0.113.99"))


async def test_the_right_password_does_not_make_guessing_codes_faster(db: Database, alice: Authenticator) -> None:
    for _ in range(5):
        with pytest.raises(WrongCode):
            await sign_in(db, ENCRYPTION, Credentials("alice", GOOD, "000000"), AWAY, NOW)

    with pytest.raises(LimitExceeded):
        await sign_in(db, ENCRYPTION, Credentials("alice", GOOD, "000000"), AWAY, NOW)


async def test_guessing_codes_for_days_stays_hopeless(db: Database, alice: Authenticator) -> None:
    tries, now = 0, NOW
    while now < NOW + timedelta(days=2):
        try:
            assert not await enter(db, alice.user, "no code", AWAY, now)
            tries += 1
        except LimitExceeded as refused:
            now += timedelta(seconds=refused.retry_after or 1)

    assert tries < 250


async def test_failures_and_used_recovery_codes_are_logged(db: Database, alice: Authenticator) -> None:
    with capture_logs() as logged:
        await enter(db, alice.user, "000000")
        await enter(db, alice.user, alice.recovery_codes[0])

    assert [(line["event"], line["user_id"]) for line in logged] == [
        ("second_factor_refused", alice.user.id),
        ("recovery_code_used", alice.user.id),
    ]
    assert "000000" not in str(logged)


async def test_the_secret_is_encrypted_and_the_codes_are_digests(db: Database, alice: Authenticator) -> None:
    [stored] = await db.query(select(totp_secrets))
    digests = [row["code_hash"] for row in await db.query(select(recovery_codes))]

    assert stored["secret"].startswith("enc1:")
    assert alice.secret not in stored["secret"]
    assert len(set(digests)) == 10
    assert not {code.replace("-", "") for code in alice.recovery_codes} & set(digests)


async def test_without_the_key_of_the_instance_a_recovery_code_still_works(db: Database, alice: Authenticator) -> None:
    other = Encryption(lambda: "o" * 40, lambda: "o" * 40)

    with pytest.raises(UnreadableSecret):
        await check_second_factor(db, other, alice.user, alice.code(NOW), HOME, NOW)
    await check_second_factor(db, other, alice.user, alice.recovery_codes[0], HOME, NOW)


async def test_it_is_turned_on_by_password_and_first_code_and_ends_other_sessions(db: Database) -> None:
    bob = await make_user(db, "bob", GOOD, False, NOW, Actor())
    elsewhere, _ = await begin_session(db, bob, AWAY, NOW)
    here, who = await begin_session(db, bob, HOME, NOW)
    secret = new_secret()
    code = code_of_step(secret, step_at(NOW))

    for proof, field in ((OwnerProof("wrong", code), "current"), (OwnerProof(GOOD, "000000"), "code")):
        with pytest.raises(BadInput) as refused:
            await two_factor.turn_on_two_factor(db, ENCRYPTION, who, secret, proof, HOME, NOW)
        assert refused.value.field == field
    assert await authenticate(db, "bob", GOOD, HOME, NOW)

    await two_factor.turn_on_two_factor(db, ENCRYPTION, who, secret, OwnerProof(GOOD, code), HOME, NOW)

    assert await caller_of_cookie(db, elsewhere, NOW) is None
    assert await caller_of_cookie(db, here, NOW) is not None
    changed = await user_of_name(db, "bob")
    assert changed is not None
    assert not await enter(db, changed, code)


async def test_turning_it_on_twice_at_the_same_time_keeps_the_first(any_db: Database) -> None:
    bob = await make_user(any_db, "bob", GOOD, False, NOW, Actor())
    _, who = await begin_session(any_db, bob, HOME, NOW)
    secrets = [new_secret() for _ in range(2)]
    proofs = [OwnerProof(GOOD, code_of_step(secret, step_at(NOW))) for secret in secrets]

    done = await asyncio.gather(
        *(
            two_factor.turn_on_two_factor(any_db, ENCRYPTION, who, secret, proof, HOME, NOW)
            for secret, proof in zip(secrets, proofs, strict=True)
        ),
        return_exceptions=True,
    )

    [codes] = [one for one in done if isinstance(one, list)]
    changed = await user_of_name(any_db, "bob")
    assert changed is not None
    assert await enter(any_db, changed, codes[0])
    assert await two_factor.count_recovery_codes(any_db, who) == 9


async def test_it_is_turned_off_by_password_and_code_alone(db: Database, alice: Authenticator) -> None:
    for proof in (OwnerProof("wrong", alice.code(NOW)), OwnerProof(GOOD, "000000"), OwnerProof(GOOD, "")):
        with pytest.raises(BadInput):
            await two_factor.turn_off_two_factor(db, ENCRYPTION, alice.session, proof, HOME, NOW)

    proof = OwnerProof(GOOD, alice.code(NOW))
    await two_factor.turn_off_two_factor(db, ENCRYPTION, alice.session, proof, HOME, NOW)

    assert await authenticate(db, "alice", GOOD, HOME, NOW)
    assert await db.query(select(totp_secrets)) == []
    assert await db.query(select(recovery_codes)) == []


async def test_renewed_recovery_codes_replace_the_old_ones(db: Database, alice: Authenticator) -> None:
    proof = OwnerProof(GOOD, alice.code(NOW))

    new = await two_factor.renew_recovery_codes(db, ENCRYPTION, alice.session, proof, HOME, NOW)

    assert not await enter(db, alice.user, alice.recovery_codes[0])
    assert await enter(db, alice.user, new[0])


async def test_changing_the_password_needs_a_code_too(db: Database, alice: Authenticator) -> None:
    with pytest.raises(BadInput, match="code is wrong"):
        await change_password(db, ENCRYPTION, alice.session, OwnerProof(GOOD), OTHER, HOME, NOW)

    proof = OwnerProof(GOOD, alice.code(NOW))
    await change_password(db, ENCRYPTION, alice.session, proof, OTHER, HOME, NOW)

    with pytest.raises(SecondFactorRequired):
        await authenticate(db, "alice", OTHER, HOME, NOW)


async def test_a_key_cannot_change_the_second_factor(db: Database, alice: Authenticator) -> None:
    with pytest.raises(NotAllowed):
        await two_factor.turn_off_two_factor(
            db, ENCRYPTION, Caller(alice.user, alice.user.scopes), OwnerProof(GOOD, alice.code(NOW)), HOME, NOW
        )


async def test_the_operator_turns_it_off_without_a_code(db: Database, alice: Authenticator) -> None:
    assert await two_factor.reset_two_factor(db, alice.user, Actor(), NOW)

    assert await authenticate(db, "alice", GOOD, HOME, NOW)


async def test_a_deleted_user_leaves_no_secret(any_db: Database) -> None:
    alice = await make_alice(any_db)
    await make_user(any_db, "root", GOOD, True, NOW, Actor())

    await remove_user(any_db, alice.user, Actor(), NOW)

    assert await any_db.query(select(totp_secrets)) == []
    assert await any_db.query(select(recovery_codes)) == []


async def test_a_pending_sign_in_lives_some_minutes_and_leads_to_a_session(db: Database, alice: Authenticator) -> None:
    token = await begin_pending_sign_in(db, KEY, alice.user, NOW)

    found = await find_pending_user(db, KEY, token, NOW + PENDING_FOR / 2)

    assert found == alice.user
    session, _ = await finish_sign_in(db, ENCRYPTION, alice.user, alice.code(NOW), HOME, NOW)
    assert await caller_of_cookie(db, session, NOW) is not None
    assert await caller_of_cookie(db, token, NOW) is None
    assert await find_pending_user(db, KEY, token, NOW + PENDING_FOR) is None


async def test_a_forged_pending_sign_in_is_not_known(db: Database, alice: Authenticator) -> None:
    bob = await set_up_two_factor(db, await make_user(db, "bob", GOOD, False, NOW, Actor()), GOOD, NOW)
    token = await begin_pending_sign_in(db, KEY, bob.user, NOW)
    _, expires, signature = token.split(".")
    forged = [
        f"{alice.user.id}.{expires}.{signature}",
        f"{bob.user.id}.{int(expires) + 1}.{signature}",
        f"{bob.user.id}.{expires}.{'0' * 64}",
        f"{bob.user.id}.{expires}.",
        f"{bob.user.id}.{'9' * 5000}.{signature}",
        "",
        "..",
        "٣.٣.٣",
    ]

    assert [await find_pending_user(db, KEY, each, NOW) for each in forged] == [None] * len(forged)
    assert await find_pending_user(db, "o" * 40, token, NOW) is None


async def test_a_new_password_ends_a_pending_sign_in(db: Database, alice: Authenticator) -> None:
    token = await begin_pending_sign_in(db, KEY, alice.user, NOW)

    await set_password(db, alice.user, OTHER, None, NOW, Actor())

    assert await find_pending_user(db, KEY, token, NOW) is None


@pytest.mark.parametrize(
    ("required", "is_admin", "expected"),
    [("off", True, False), ("admins", True, True), ("admins", False, False), ("everyone", False, True)],
)
async def test_the_setting_says_who_must_set_it_up(db: Database, required: str, is_admin: bool, expected: bool) -> None:
    bob = await make_user(db, "bob", GOOD, is_admin, NOW, Actor())
    settings = load_settings(require_two_factor=required)

    assert two_factor.must_set_up_two_factor(settings, bob) is expected
    assert not two_factor.must_set_up_two_factor(replace(settings, password_sign_in=False), bob)
    assert not two_factor.must_set_up_two_factor(settings, replace(bob, has_password=False))
    factored = await set_up_two_factor(db, bob, GOOD, NOW)
    assert not two_factor.must_set_up_two_factor(settings, factored.user)
