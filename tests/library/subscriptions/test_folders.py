"""Folders: limited depth, never inside themselves, and private to their user."""

import pytest

from feedmill.errors import BadInput, NotFound
from feedmill.library.subscriptions import folders as own
from feedmill.library.subscriptions.folders import MAX_DEPTH, FolderInItself, ensure_folders, folder_paths
from feedmill.model.user import User
from feedmill.store.database import Database
from feedmill.store.subscriptions.folders import FolderExists, folders_of
from feedmill.store.users.users import add_user
from tests.flows.refresh_environment import NOW


@pytest.fixture
async def owner(db: Database) -> User:
    return await add_user(db, "alice", None, False, NOW)


async def paths(db: Database, user: User) -> set[str]:
    return {"/".join(path) for path in folder_paths(await folders_of(db, user.id)).values()}


async def test_missing_folders_are_created_and_only_once(db: Database, owner: User) -> None:
    first = await ensure_folders(db, owner.id, [("Tech", "Python"), ("Tech",), ("News",)])
    again = await ensure_folders(db, owner.id, [("Tech", "Python")])

    assert await paths(db, owner) == {"Tech", "Tech/Python", "News"}
    assert again["Tech", "Python"] == first["Tech", "Python"]


async def test_paths_that_are_too_deep_and_names_that_are_too_long_are_truncated(db: Database, owner: User) -> None:
    made = await ensure_folders(db, owner.id, [tuple("abcdefghijkl"), ("x" * 300,)])

    assert {len(path) for path in made} == set(range(1, MAX_DEPTH + 1))
    assert ("x" * 190,) in made


async def test_a_folder_is_renamed_moved_and_reordered(db: Database, owner: User) -> None:
    a = await own.make_folder(db, owner.id, "a", 0, 2)
    b = await own.make_folder(db, owner.id, "b", 0, 1)
    assert [folder.name for folder in await folders_of(db, owner.id)] == ["b", "a"]

    await own.alter_folder(db, owner.id, a.id, "c", b.id, 0)

    assert await paths(db, owner) == {"b", "b/c"}


async def test_a_folder_is_never_moved_into_itself(db: Database, owner: User) -> None:
    made = await ensure_folders(db, owner.id, [("a", "b", "c")])

    for target in (("a",), ("a", "b"), ("a", "b", "c")):
        with pytest.raises(FolderInItself):
            await own.alter_folder(db, owner.id, made["a",], None, made[target], None)

    assert await paths(db, owner) == {"a", "a/b", "a/b/c"}


async def test_the_depth_of_folders_is_limited(db: Database, owner: User) -> None:
    made = await ensure_folders(db, owner.id, [tuple("abcdefgh"), ("x", "y")])

    with pytest.raises(BadInput):
        await own.make_folder(db, owner.id, "too deep", made[tuple("abcdefgh")], 0)
    with pytest.raises(BadInput):
        await own.alter_folder(db, owner.id, made["x",], None, made[tuple("abcdefg")], None)
    await own.alter_folder(db, owner.id, made["x",], None, made[tuple("abcdef")], None)


async def test_two_folders_in_one_parent_cannot_have_the_same_name(db: Database, owner: User) -> None:
    await own.make_folder(db, owner.id, "News", 0, 0)
    other = await own.make_folder(db, owner.id, "Other", 0, 0)

    with pytest.raises(FolderExists):
        await own.make_folder(db, owner.id, "News", 0, 0)
    with pytest.raises(FolderExists):
        await own.alter_folder(db, owner.id, other.id, "News", None, None)


async def test_deleting_a_folder_deletes_its_subfolders_and_no_others(db: Database, owner: User) -> None:
    made = await ensure_folders(db, owner.id, [("a", "b"), ("c",)])

    await own.delete_folder(db, owner.id, made["a",])

    assert await paths(db, owner) == {"c"}


async def test_a_user_cannot_use_folders_of_others(db: Database, owner: User) -> None:
    charlie = await add_user(db, "charlie", None, False, NOW)
    hers = await own.make_folder(db, owner.id, "Hers", 0, 0)
    his = await own.make_folder(db, charlie.id, "His", 0, 0)

    for attempt in (
        own.delete_folder(db, charlie.id, hers.id),
        own.alter_folder(db, charlie.id, hers.id, "Taken", None, None),
        own.alter_folder(db, charlie.id, his.id, None, hers.id, None),
        own.make_folder(db, charlie.id, "Inside", hers.id, 0),
    ):
        with pytest.raises(NotFound):
            await attempt
    with pytest.raises(BadInput):
        await own.check_folders(db, charlie.id, [hers.id])

    assert await paths(db, owner) == {"Hers"}
