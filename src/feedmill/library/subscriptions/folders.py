"""Lists, creates, changes and deletes a user's folders."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from feedmill.errors import BadInput, Conflict, NotFound
from feedmill.library.users.limits import check_count_limit
from feedmill.model.subscription import Folder
from feedmill.store.database import Database
from feedmill.store.subscriptions.folders import (
    add_folder,
    add_missing_folders,
    change_folder,
    drop_folders,
    folders_of,
)

MAX_DEPTH = 8
MAX_NAME = 190

FolderPath = tuple[str, ...]


class FolderInItself(Conflict):
    """A folder can't be inside itself, nor inside what is inside it."""

    code = "folder_in_itself"


async def folders_of_user(db: Database, user_id: int) -> list[Folder]:
    """All of the user's folders; those of one parent in the order in which they are shown."""
    return await folders_of(db, user_id)


async def find_folder(db: Database, user_id: int, folder_id: int) -> Folder:
    """The user's folder, or `NotFound`, also for somebody else's."""
    return _one(await folders_of(db, user_id), folder_id)


async def make_folder(db: Database, user_id: int, name: str, parent_id: int, position: int) -> Folder:
    there = await folders_of(db, user_id)
    if parent_id:
        _one(there, parent_id)
    _check_depth(len(_line(_parents(there), parent_id)) + 1)
    await check_count_limit(db, user_id, "folders")
    return await add_folder(db, user_id, parent_id, name, position)


async def alter_folder(
    db: Database, user_id: int, folder_id: int, name: str | None, parent_id: int | None, position: int | None
) -> Folder:
    """Renames, moves, reorders; None leaves it as it is, parent 0 is the top."""
    there = await folders_of(db, user_id)
    old = _one(there, folder_id)
    new = replace(
        old,
        name=old.name if name is None else name,
        parent_id=old.parent_id if parent_id is None else parent_id,
        position=old.position if position is None else position,
    )
    if new.parent_id != old.parent_id:
        _check_move(there, old, new.parent_id)
    await change_folder(db, user_id, new)
    return new


async def delete_folder(db: Database, user_id: int, folder_id: int) -> None:
    """Takes the folder away with the folders in it; the feeds in them stay."""
    there = await folders_of(db, user_id)
    _one(there, folder_id)
    await drop_folders(db, user_id, sorted(folder_and_descendants(there, folder_id)))


async def check_folders(db: Database, user_id: int, folder_ids: Sequence[int]) -> None:
    """Raises for a folder that is not the user's."""
    mine = {folder.id for folder in await folders_of(db, user_id)} if folder_ids else set()
    if not mine.issuperset(folder_ids):
        raise BadInput("there is no such folder", "folder_ids")


async def ensure_folders(db: Database, user_id: int, paths: Iterable[FolderPath]) -> dict[FolderPath, int]:
    """By path the folder there, made if it is missing."""
    wanted = {clip_path(path)[:depth] for path in paths for depth in range(1, MAX_DEPTH + 1)} - {()}
    here = {path: folder_id for folder_id, path in folder_paths(await folders_of(db, user_id)).items()}
    if adding := len(wanted - here.keys()):
        await check_count_limit(db, user_id, "folders", adding)
    for depth in range(1, MAX_DEPTH + 1):
        missing = [path for path in wanted if len(path) == depth and path not in here]
        if missing:
            await add_missing_folders(db, user_id, [(here.get(path[:-1], 0), path[-1]) for path in missing])
            here = {path: folder_id for folder_id, path in folder_paths(await folders_of(db, user_id)).items()}
    return here


def clip_path(path: FolderPath) -> FolderPath:
    """A path as far as folders go: so deep, with names so long."""
    return tuple(name[:MAX_NAME].strip() for name in path[:MAX_DEPTH])


def folder_paths(there: Collection[Folder]) -> dict[int, FolderPath]:
    """By folder the names from the top down to it."""
    names = {folder.id: folder.name for folder in there}
    parents = _parents(there)
    return {folder.id: tuple(names[each] for each in _line(parents, folder.id)) for folder in there}


def folder_and_descendants(there: Collection[Folder], folder_id: int) -> set[int]:
    """The folder and all in it."""
    found, look = {folder_id}, [folder_id]
    while look:
        parents = set(look)
        look = [folder.id for folder in there if folder.parent_id in parents and folder.id not in found]
        found.update(look)
    return found


def _parents(there: Collection[Folder]) -> dict[int, int]:
    return {folder.id: folder.parent_id for folder in there}


def _line(parents: Mapping[int, int], folder_id: int) -> list[int]:
    """The ids from the top down to the folder."""
    line: list[int] = []
    # Two who move folders into each other at once can make a ring: it is gone around once.
    while folder_id in parents and folder_id not in line:
        line.append(folder_id)
        folder_id = parents[folder_id]
    return line[::-1]


def _check_move(there: Collection[Folder], folder: Folder, parent_id: int) -> None:
    moved = folder_and_descendants(there, folder.id)
    if parent_id in moved:
        raise FolderInItself(f"{folder.name!r} can't be moved into itself")
    if parent_id:
        _one(there, parent_id)
    parents = _parents(there)
    height = max(len(_line(parents, each)) for each in moved) - len(_line(parents, folder.id)) + 1
    _check_depth(len(_line(parents, parent_id)) + height)


def _check_depth(depth: int) -> None:
    if depth > MAX_DEPTH:
        raise BadInput(f"folders can be at most {MAX_DEPTH} deep", "parent_id")


def _one(there: Iterable[Folder], folder_id: int) -> Folder:
    found = next((folder for folder in there if folder.id == folder_id), None)
    if found is None:
        raise NotFound("there is no such folder")
    return found
