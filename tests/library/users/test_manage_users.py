"""The first account, names, passwords, and the last admin."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from feedmill.encryption import NO_ENCRYPTION
from feedmill.errors import AlreadySetUp, BadInput, LastAdmin, NameTaken
from feedmill.library.users import manage_users, passwords
from feedmill.library.users.confirm_owner import OwnerProof
from feedmill.library.users.sign_in import begin_session
from feedmill.model.timestamps import to_iso
from feedmill.model.user import DISABLED, AccessEnded, Actor, Caller, RequestOrigin, User
from feedmill.store.admin.audit_log import audit_log_page
from feedmill.store.admin.users import read_user_summary, update_user
from feedmill.store.database import Database, Step
from feedmill.store.entries.fill_unread_list import _chunks
from feedmill.store.feeds.read_feeds import feeds_of_ids
from feedmill.store.schema import states, unread, unread_lists
from feedmill.store.users.api_keys import add_api_key, api_keys_of
from feedmill.store.users.sessions import sessions_of
from feedmill.store.users.users import add_user, user_of_id, user_with_password_hash
from tests.library.small_library import NOW, SmallLibrary

GOOD = "correct horse"
LATEST = 2**53 - 1


async def test_the_first_admin_has_everything_collected_before_as_unread(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    await library.arrive(await library.feed("a"), "one", "two")
    await library.arrive(await library.feed("b"), "three")
    await library.feed("silent")
    assert await manage_users.needs_setup(any_db)

    admin = await manage_users.create_first_admin(any_db, "Alice", GOOD, NOW)

    assert (admin.name, admin.is_admin, await manage_users.needs_setup(any_db)) == ("alice", True, False)
    assert await library.unread_of(admin) == (3, 3)
    found = await read_user_summary(any_db, admin.id)
    assert found is not None
    assert found.feeds == 3


async def test_entries_that_arrive_after_the_setup_are_counted_once(db: Database) -> None:
    library = SmallLibrary(db)
    feed = await library.feed()
    await library.arrive(feed, "before")
    admin = await manage_users.create_first_admin(db, "alice", GOOD, NOW)

    await library.arrive(feed, "after")

    assert await library.unread_of(admin) == (2, 2)


async def test_of_simultaneous_setups_one_succeeds(any_db: Database) -> None:
    asked = [manage_users.create_first_admin(any_db, f"visitor{number}", GOOD, NOW) for number in range(5)]

    answers = await asyncio.gather(*asked, return_exceptions=True)

    assert [type(answer) for answer in answers].count(User) == 1
    assert [type(answer) for answer in answers].count(AlreadySetUp) == 4


@pytest.mark.parametrize("name", ["bob", "alice"])
async def test_setup_is_refused_once_there_is_an_account(db: Database, name: str) -> None:
    await add_user(db, "alice", None, True, NOW)

    with pytest.raises(AlreadySetUp):
        await manage_users.create_first_admin(db, name, GOOD, NOW)


def test_unread_lists_are_filled_in_chunks_of_limited_size() -> None:
    rows: list[dict[str, Any]] = [{"id": id, "entry_count": count} for id, count in enumerate([1, 9000, 3000, 2000, 1])]

    assert list(_chunks(rows)) == [[0], [1], [2, 3], [4]]
    assert [len(chunk) for chunk in _chunks([{"id": 1, "entry_count": 0}] * 450)] == [200, 200, 50]


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("Alice", "alice"),
        ("  alice ", "alice"),
        ("ALICE@Example.ORG", "alice@example.org"),
        ("Ａｌｉｃｅ", "alice"),
        ("Straße", "strasse"),
        ("李雷", "李雷"),
        ("é", "é"),
        ("a" * 64, "a" * 64),
    ],
)
def test_a_name_is_normalized_however_it_is_typed(typed: str, kept: str) -> None:
    assert manage_users.normalize_user_name(typed) == kept


@pytest.mark.parametrize("typed", ["", "  ", "a b", "a\nb", "a\x00b", "a/b", "<b>", "a" * 65, "...", "a\u202eb"])
def test_an_invalid_name_is_refused(typed: str) -> None:
    with pytest.raises(BadInput) as refused:
        manage_users.normalize_user_name(typed)

    assert refused.value.field == "name"


async def test_two_users_cannot_have_the_same_name(any_db: Database) -> None:
    await manage_users.make_user(any_db, "Bob", GOOD, False, NOW, Actor())

    with pytest.raises(NameTaken):
        await manage_users.make_user(any_db, "bob", GOOD, True, NOW, Actor())


@pytest.mark.parametrize("password", ["", "short", "x" * 1001])
async def test_a_password_that_is_too_short_or_too_long_is_refused(db: Database, password: str) -> None:
    with pytest.raises(BadInput) as refused:
        await manage_users.make_user(db, "bob", password, False, NOW, Actor())

    assert refused.value.field == "password"


@pytest.mark.usefixtures("real_password_hashes")
async def test_a_password_is_stored_as_a_hash_that_only_it_matches() -> None:
    kept = await passwords.hash_password("pässword")

    # OWASP's minimum for one lane: 19 MiB and two passes.
    assert kept.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    assert "pässword" not in kept
    assert await passwords.verify_password(kept, "pa\u0308ssword")
    assert not await passwords.verify_password(kept, "password")
    assert not await passwords.verify_password(None, "pässword")
    assert not await passwords.verify_password("no hash at all", "pässword")


@pytest.mark.usefixtures("real_password_hashes")
def test_for_an_unknown_user_a_hash_of_the_current_cost_is_checked() -> None:
    assert not passwords.is_outdated(passwords.DUMMY_HASH)
    assert passwords.is_outdated(passwords.DUMMY_HASH.replace("t=2", "t=1"))


async def test_a_new_password_ends_every_other_session(db: Database) -> None:
    bob = await manage_users.make_user(db, "bob", GOOD, False, NOW, Actor())
    _, here = await begin_session(db, bob, RequestOrigin(), NOW)
    await begin_session(db, bob, RequestOrigin(), NOW)

    await manage_users.change_password(
        db, NO_ENCRYPTION, here, OwnerProof(GOOD), "another password", RequestOrigin(), NOW
    )

    assert [session.id for session in await sessions_of(db, bob.id, NOW)] == [here.session_id]
    found = await user_with_password_hash(db, "bob")
    assert found is not None
    assert await passwords.verify_password(found[1], "another password")


async def test_a_new_password_revokes_keys_only_on_request_and_reports_those_that_stay(any_db: Database) -> None:
    bob, dora = [await manage_users.make_user(any_db, name, GOOD, False, NOW, Actor()) for name in ("bob", "dora")]
    here, _ = [(await begin_session(any_db, bob, RequestOrigin(), NOW))[1] for _ in range(2)]
    for number, user in enumerate((bob, bob, dora)):
        await add_api_key(any_db, user.id, "x", f"fm_{number}", ["read"], NOW)
    await add_api_key(any_db, bob.id, "ended", "fm_ended", ["read"], NOW, NOW - timedelta(days=1))

    kept = await manage_users.change_password(
        any_db, NO_ENCRYPTION, here, OwnerProof(GOOD), "another password", RequestOrigin(), NOW
    )
    revoked = await manage_users.set_password(any_db, bob, "a third one", None, NOW, Actor(), revoke_keys=True)

    assert kept == AccessEnded(sessions_ended=1, keys_revoked=0, keys_left=2)
    assert revoked == AccessEnded(sessions_ended=1, keys_revoked=2, keys_left=0)
    assert [len(await api_keys_of(any_db, user.id, NOW)) for user in (bob, dora)] == [0, 1]
    assert [deed.action for deed in await audit_log_page(any_db, LATEST, 2)] == ["user.revoke_keys", "user.password"]


async def test_signing_out_elsewhere_revokes_keys_only_on_request(any_db: Database) -> None:
    bob = await manage_users.make_user(any_db, "bob", GOOD, False, NOW, Actor())
    here, _ = [(await begin_session(any_db, bob, RequestOrigin(), NOW))[1] for _ in range(2)]
    await add_api_key(any_db, bob.id, "x", "fm_x", ["read"], NOW)

    first = await manage_users.sign_out_elsewhere(any_db, here, RequestOrigin(), NOW)
    second = await manage_users.sign_out_elsewhere(any_db, here, RequestOrigin(), NOW, revoke_keys=True)

    assert first == AccessEnded(sessions_ended=1, keys_revoked=0, keys_left=1)
    assert second == AccessEnded(sessions_ended=0, keys_revoked=1, keys_left=0)
    assert [session.id for session in await sessions_of(any_db, bob.id, NOW)] == [here.session_id]


async def test_changing_the_password_needs_the_old_one(db: Database) -> None:
    bob = await manage_users.make_user(db, "bob", GOOD, False, NOW, Actor())

    with pytest.raises(BadInput, match="current password is wrong"):
        await manage_users.change_password(
            db, NO_ENCRYPTION, Caller(bob, bob.scopes), OwnerProof("wrong"), "another password", RequestOrigin(), NOW
        )


async def test_the_last_admin_is_neither_demoted_nor_disabled_nor_deleted(any_db: Database) -> None:
    alice = await add_user(any_db, "alice", None, True, NOW)
    disabled = await add_user(any_db, "bob", None, True, NOW)
    await update_user(any_db, disabled, replace(disabled, status=DISABLED), Actor(), NOW)
    before = [deed.action for deed in await audit_log_page(any_db, LATEST, 100)]

    for change in ({"is_admin": False}, {"status": DISABLED}):
        with pytest.raises(LastAdmin):
            await update_user(any_db, alice, replace(alice, **change), Actor(), NOW)
    with pytest.raises(LastAdmin):
        await manage_users.remove_user(any_db, alice, Actor(), NOW)

    assert await user_of_id(any_db, alice.id) == alice
    assert [deed.action for deed in await audit_log_page(any_db, LATEST, 100)] == before


async def test_admins_who_demote_each_other_at_once_leave_one_admin(any_db: Database) -> None:
    admins = [await add_user(any_db, name, None, True, NOW) for name in ("alice", "bob", "charlie")]

    asked = [update_user(any_db, admin, replace(admin, is_admin=False), Actor(), NOW) for admin in admins]
    answers = await asyncio.gather(*asked, return_exceptions=True)

    left = [await user_of_id(any_db, admin.id) for admin in admins]
    assert [admin.is_admin for admin in left if admin].count(True) == 1
    assert [type(answer) for answer in answers].count(LastAdmin) == 1


async def test_deleting_a_user_deletes_their_data_and_nothing_else(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice = await add_user(any_db, "alice", None, True, NOW)
    bob, charlie, feed = await library.person("bob"), await library.person("charlie"), await library.feed()
    await library.subscribe(bob, feed)
    await library.subscribe(charlie, feed)
    [entry] = await library.arrive(feed, "entry")
    await any_db.batch([Step(states.insert().values(user_id=bob.id, entry_id=entry, read_at=to_iso(NOW)))])
    await begin_session(any_db, bob, RequestOrigin(), NOW)

    await manage_users.remove_user(any_db, bob, Actor(alice.id, "192.0.2.1"), NOW)

    assert await user_of_id(any_db, bob.id) is None
    assert await library.unread_of(charlie) == (1, 1)
    assert len(await feeds_of_ids(any_db, [feed])) == 1
    assert [len(await any_db.query(table.select())) for table in (states, unread)] == [0, 1]
    assert {row["user_id"] for row in await any_db.query(unread_lists.select())} == {alice.id, charlie.id}
    assert [deed.action for deed in await audit_log_page(any_db, LATEST, 2)] == ["user.delete", "user.change"]


async def test_a_user_is_found_however_the_name_is_typed(any_db: Database) -> None:
    alice = await manage_users.make_user(any_db, "alice", GOOD, False, NOW, Actor())

    for typed in ("alice", " Alice ", "ＡＬＩＣＥ"):
        assert await manage_users.find_user(any_db, typed) == alice
    for typed in ("bob", "", "two words"):
        assert await manage_users.find_user(any_db, typed) is None
