"""Who may take from which group, on each of the four databases."""

import pytest

from feedmill.library.users.find_caller import caller_of_api_key
from feedmill.model.pool import PoolGroup
from feedmill.model.user import Actor, ApiKey, Caller, PoolGroupName, User
from feedmill.store.admin.audit_log import audit_log_page
from feedmill.store.admin.users import delete_user
from feedmill.store.database import Database
from feedmill.store.pools.grants import grant_access, grants_of, pool_access, revoke_access
from feedmill.store.pools.groups import drop_group
from feedmill.store.users.api_keys import add_api_key, api_keys_of
from feedmill.store.users.users import add_user
from tests.pools.pool_rows import NOW, add_pool

BY = Actor()


async def access(db: Database, user: User, *groups: PoolGroup, key: ApiKey | None = None) -> list[bool]:
    found = await pool_access(db, Caller(user, user.scopes, api_key=key))
    return [found.allows(group.id) for group in groups]


@pytest.fixture
async def groups(any_db: Database) -> tuple[PoolGroup, PoolGroup]:
    return await add_pool(any_db, ["a"], name="news"), await add_pool(any_db, ["b"], name="sport")


async def test_only_admins_take_without_a_grant(any_db: Database, groups: tuple[PoolGroup, PoolGroup]) -> None:
    admin, bob = await add_user(any_db, "admin", None, True, NOW), await add_user(any_db, "bob", None, False, NOW)
    assert await access(any_db, bob, *groups) == [False, False]

    for _ in range(2):
        await grant_access(any_db, groups[0], bob, BY, NOW)

    assert await access(any_db, bob, *groups) == [True, False]
    assert await access(any_db, admin, *groups) == [True, True]
    assert [each.user_name for each in await grants_of(any_db, groups[0].id)] == ["bob"]


async def test_a_revoked_grant_ends_and_is_logged(any_db: Database, groups: tuple[PoolGroup, PoolGroup]) -> None:
    bob = await add_user(any_db, "bob", None, False, NOW)
    await grant_access(any_db, groups[0], bob, BY, NOW)

    assert await revoke_access(any_db, groups[0], bob.id, BY, NOW)
    assert not await revoke_access(any_db, groups[0], bob.id, BY, NOW)

    assert await access(any_db, bob, *groups) == [False, False]
    deeds = [(deed.action, deed.subject) for deed in await audit_log_page(any_db, 2**53 - 1, 2)]
    assert deeds == [("pool.revoke", "news: bob"), ("pool.grant", "news: bob")]


async def test_grants_are_deleted_with_the_account_and_with_the_group(
    any_db: Database, groups: tuple[PoolGroup, PoolGroup]
) -> None:
    bob, dora = [await add_user(any_db, name, None, False, NOW) for name in ("bob", "dora")]
    for group in groups:
        for user in (bob, dora):
            await grant_access(any_db, group, user, BY, NOW)

    await delete_user(any_db, bob, BY, NOW)
    await drop_group(any_db, groups[0], NOW)

    assert [each.user_name for each in await grants_of(any_db, groups[1].id)] == ["dora"]
    assert await access(any_db, dora, *groups) == [False, True]


async def test_a_limited_key_takes_what_both_it_and_its_owner_may(
    any_db: Database, groups: tuple[PoolGroup, PoolGroup]
) -> None:
    bob = await add_user(any_db, "bob", None, False, NOW)
    await grant_access(any_db, groups[0], bob, BY, NOW)
    news, sport = groups

    both = await add_api_key(any_db, bob.id, "both", "fm_both", ["pools"], NOW, groups=[news.id, sport.id])
    one = await add_api_key(any_db, bob.id, "one", "fm_one", ["pools"], NOW, groups=[sport.id])

    assert both.pool_groups == (PoolGroupName(news.id, "news"), PoolGroupName(sport.id, "sport"))
    assert await access(any_db, bob, *groups, key=both) == [True, False]
    assert await access(any_db, bob, *groups, key=one) == [False, False]


async def test_a_limited_key_whose_groups_are_deleted_takes_nothing(
    any_db: Database, groups: tuple[PoolGroup, PoolGroup]
) -> None:
    admin = await add_user(any_db, "admin", None, True, NOW)
    await add_api_key(any_db, admin.id, "news", "fm_news", ["pools"], NOW, groups=[groups[0].id])

    await drop_group(any_db, groups[0], NOW)

    who = await caller_of_api_key(any_db, "fm_news", NOW)
    assert who is not None
    assert (await pool_access(any_db, who)).group_ids == frozenset()
    assert [key.pool_groups for key in await api_keys_of(any_db, admin.id, NOW)] == [()]
