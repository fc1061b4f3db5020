"""Folders of a user, and the subscriptions in them."""

from collections.abc import Collection, Sequence

from sqlalchemy import bindparam, select

from feedmill.errors import Conflict, ConstraintViolated
from feedmill.i18n.messages import Message
from feedmill.i18n.natural_order import natural_key
from feedmill.model.subscription import Folder
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import as_list, insert, insert_new, one_of
from feedmill.store.schema import folder_subscriptions, folders

FOLDERS = select(folders.c.id, folders.c.parent_id).where(folders.c.user_id == bindparam("of_user"))
FILED = (
    select(folder_subscriptions.c.subscription_id).where(one_of(folder_subscriptions.c.folder_id, "folders")).distinct()
)

OF_USER = select(folders).where(folders.c.user_id == bindparam("user_id"))
ADD = insert(folders, "user_id", "parent_id", "name", "position")
ADD_MISSING = insert_new(folders, "user_id", "parent_id", "name", "position")
BY_NAME = OF_USER.where(folders.c.parent_id == bindparam("parent_id"), folders.c.name == bindparam("name"))
CHANGE = (
    folders.update()
    .where(folders.c.id == bindparam("folder"), folders.c.user_id == bindparam("of_user"))
    .values({name: bindparam(f"new_{name}") for name in ("parent_id", "name", "position", "same_story_once")})
)
DROP = folders.delete().where(folders.c.user_id == bindparam("of_user"), one_of(folders.c.id, "ids"))


class FolderExists(Conflict):
    """The parent folder already has a folder of that name."""

    code = "folder_exists"


async def folders_of(db: Database, user_id: int) -> list[Folder]:
    """All folders of a user; those of one parent in their display order."""
    found = [_folder(row) for row in await db.query(OF_USER, {"user_id": user_id})]
    return sorted(found, key=lambda folder: (folder.position, natural_key(folder.name), folder.id))


async def add_folder(db: Database, user_id: int, parent_id: int, name: str, position: int) -> Folder:
    row = {"user_id": user_id, "parent_id": parent_id, "name": name, "position": position}
    try:
        await db.batch([Step(ADD, row)])
    except ConstraintViolated as error:
        raise FolderExists(Message("error.folder_exists", name=name)) from error
    [found] = await db.query(BY_NAME, row)
    return _folder(found)


async def add_missing_folders(db: Database, user_id: int, places: Collection[tuple[int, str]]) -> None:
    """Creates those of these folders (parent and name) that do not exist."""
    same = {"user_id": user_id, "position": 0}
    await db.batch([Step(ADD_MISSING, [same | {"parent_id": parent, "name": name} for parent, name in places])])


async def change_folders(db: Database, user_id: int, changed: Sequence[Folder]) -> None:
    """Writes the name, parent, position and switch of these folders."""
    try:
        await db.batch([Step(CHANGE, [_new_values(user_id, folder) for folder in changed])])
    except ConstraintViolated as error:
        raise FolderExists(Message("error.folder_exists", name=changed[0].name)) from error


def _new_values(user_id: int, folder: Folder) -> dict[str, object]:
    return {
        "folder": folder.id,
        "of_user": user_id,
        "new_parent_id": folder.parent_id,
        "new_name": folder.name,
        "new_position": folder.position,
        "new_same_story_once": int(folder.same_story_once),
    }


async def drop_folders(db: Database, user_id: int, ids: Sequence[int]) -> None:
    """Deletes folders; the subscriptions in them stay."""
    await db.batch([Step(DROP, {"of_user": user_id, "ids": as_list(list(ids))})])


def _folder(row: Row) -> Folder:
    return Folder(row["id"], row["parent_id"], row["name"], row["position"], bool(row["same_story_once"]))


async def subscriptions_in_folder(db: Database, user_id: int, folder_id: int) -> tuple[int, ...] | None:
    """The subscriptions in a folder and its subfolders; None when the user has no such folder."""
    parents = {row["id"]: row["parent_id"] for row in await db.query(FOLDERS, {"of_user": user_id})}
    if folder_id not in parents:
        return None
    filed = await db.query(FILED, {"folders": as_list(_below(folder_id, parents))})
    return tuple(sorted(row["subscription_id"] for row in filed))


def _below(folder_id: int, parents: dict[int, int]) -> list[int]:
    found, added = {folder_id}, {folder_id}
    while added:
        added = {id for id, parent in parents.items() if parent in added} - found
        found |= added
    return sorted(found)
