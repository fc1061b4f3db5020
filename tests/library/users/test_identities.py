"""Identities at providers, and links that sign in once, on every database."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from feedmill.errors import Conflict, NameTaken, NotFound
from feedmill.library.users.sign_in_links import create_sign_in_link, use_sign_in_link
from feedmill.model.user import Actor, ProviderSubject, User
from feedmill.store.database import Database
from feedmill.store.users import identities
from feedmill.store.users.users import add_user

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)
ISSUER = "https://auth.example.org"
ALICE = ProviderSubject(ISSUER, "alice", "Alice")


async def new_user(db: Database, name: str, password_hash: str | None = None) -> User:
    return await add_user(db, name, password_hash, False, NOW, Actor())


async def unlink(db: Database, user: User, identity_id: int, *, password_counts: bool = True) -> bool:
    return await identities.remove_identity(db, user, identity_id, [ISSUER], password_counts, NOW, Actor())


async def test_an_identity_leads_to_its_user_alone(any_db: Database) -> None:
    user = await new_user(any_db, "alice")
    await identities.add_identity(any_db, user, ALICE, NOW, Actor())

    assert await identities.user_of_identity(any_db, ALICE) == user
    for other in (ProviderSubject(ISSUER, "Alice"), ProviderSubject(ISSUER, "alice "), ProviderSubject("x", "alice")):
        assert await identities.user_of_identity(any_db, other) is None


async def test_issuer_and_subject_are_not_run_together(any_db: Database) -> None:
    await identities.add_identity(any_db, await new_user(any_db, "alice"), ProviderSubject("ab", "c"), NOW, Actor())

    assert await identities.user_of_identity(any_db, ProviderSubject("a", "bc")) is None


async def test_an_identity_belongs_to_one_user(any_db: Database) -> None:
    await identities.add_identity(any_db, await new_user(any_db, "alice"), ALICE, NOW, Actor())

    with pytest.raises(Conflict):
        await identities.add_identity(any_db, await new_user(any_db, "bob"), ALICE, NOW, Actor())


async def test_a_user_is_added_with_an_identity_once(any_db: Database) -> None:
    await new_user(any_db, "taken")

    with pytest.raises(NameTaken):
        await identities.add_user_with_identity(any_db, "taken", False, ALICE, NOW, Actor())
    user = await identities.add_user_with_identity(any_db, "alice", True, ALICE, NOW, Actor())

    assert user is not None
    assert user.is_admin
    assert await identities.add_user_with_identity(any_db, "alice-2", False, ALICE, NOW, Actor()) is None


async def test_two_identities_unlinked_at_once_leave_one(any_db: Database) -> None:
    user = await new_user(any_db, "alice")
    for subject in ("one", "two"):
        await identities.add_identity(any_db, user, ProviderSubject(ISSUER, subject), NOW, Actor())
    linked = await identities.identities_of(any_db, user.id)

    done = await asyncio.gather(*(unlink(any_db, user, each.id) for each in linked), return_exceptions=True)

    assert sorted(str(type(outcome).__name__) for outcome in done) == ["Conflict", "bool"]
    assert len(await identities.identities_of(any_db, user.id)) == 1


@pytest.mark.parametrize(
    ("password_hash", "counts", "unlinked"), [("x", True, True), ("x", False, False), (None, True, False)]
)
async def test_a_password_is_another_way_if_it_counts(
    any_db: Database, password_hash: str | None, counts: bool, unlinked: bool
) -> None:
    user = await new_user(any_db, "alice", password_hash)
    await identities.add_identity(any_db, user, ALICE, NOW, Actor())
    [linked] = await identities.identities_of(any_db, user.id)

    if unlinked:
        assert await unlink(any_db, user, linked.id, password_counts=counts)
    else:
        with pytest.raises(Conflict):
            await unlink(any_db, user, linked.id, password_counts=counts)

    assert bool(await identities.identities_of(any_db, user.id)) != unlinked


async def test_an_identity_of_a_provider_that_is_gone_is_no_way_to_sign_in(any_db: Database) -> None:
    user = await new_user(any_db, "alice")
    await identities.add_identity(any_db, user, ALICE, NOW, Actor())
    await identities.add_identity(any_db, user, ProviderSubject("https://gone.example.org", "alice"), NOW, Actor())
    first, second = await identities.identities_of(any_db, user.id)

    with pytest.raises(Conflict):
        await unlink(any_db, user, first.id)
    assert await unlink(any_db, user, second.id)


async def test_a_sign_in_is_used_once(any_db: Database) -> None:
    soon = NOW + timedelta(minutes=10)

    used = await asyncio.gather(*(identities.use_sign_in(any_db, "a" * 64, soon, NOW) for _ in range(4)))

    assert sorted(used) == [False, False, False, True]
    assert await identities.use_sign_in(any_db, "b" * 64, soon, soon + timedelta(minutes=1))
    assert await identities.use_sign_in(any_db, "a" * 64, soon, soon + timedelta(minutes=2))


async def test_a_link_is_used_once_by_whoever_comes_first(any_db: Database) -> None:
    user = await new_user(any_db, "alice")
    token = await create_sign_in_link(any_db, user, timedelta(hours=1), NOW, Actor())

    done = await asyncio.gather(*(use_sign_in_link(any_db, token, NOW) for _ in range(4)), return_exceptions=True)

    assert sum(outcome == user for outcome in done) == 1
    assert sum(isinstance(outcome, NotFound) for outcome in done) == 3
