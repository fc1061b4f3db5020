"""Lists, creates, changes and deletes a user's folders."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum

from feedmill.errors import BadInput, Conflict, NotFound
from feedmill.i18n.messages import Message
from feedmill.library.users.limits import check_count_limit
from feedmill.model.subscription import Folder
from feedmill.store.database import Database
from feedmill.store.subscriptions.folders import (
    add_folder,
    add_missing_folders,
    change_folders,
    drop_folders,
    folders_of,
)

MAX_DEPTH = 8
MAX_NAME = 190

NO_FOLDER = 2**31 - 1
"""What reader apps know as the folder of feeds without one: some fail for such a feed, and read ids of 32 bits."""

FolderPath = tuple[str, ...]


class FolderPlace(StrEnum):
    """Where a folder is moved, seen from another."""

    BEFORE = "before"
    AFTER = "after"
    INTO = "into"


class FolderInItself(Conflict):
    """A folder can't be moved into itself or one of its subfolders."""

    code = "folder_in_itself"


def no_folder_title() -> str:
    """The name of `NO_FOLDER` in reader apps."""
    return str(Message("reader_app.no_folder"))


async def folders_of_user(db: Database, user_id: int) -> list[Folder]:
    """All folders of the user; those of one parent in their display order."""
    return await folders_of(db, user_id)


async def find_folder(db: Database, user_id: int, folder_id: int) -> Folder:
    """The user's folder; `NotFound`, also for a folder of another user."""
    return _find_by_id(await folders_of(db, user_id), folder_id)


async def make_folder(db: Database, user_id: int, name: str, parent_id: int, position: int) -> Folder:
    own_folders = await folders_of(db, user_id)
    if parent_id:
        _find_by_id(own_folders, parent_id)
    _check_depth(len(_ids_from_top(_parents(own_folders), parent_id)) + 1)
    await check_count_limit(db, user_id, "folders")
    return await add_folder(db, user_id, parent_id, name, position)


async def alter_folder(
    db: Database,
    user_id: int,
    folder_id: int,
    name: str | None,
    parent_id: int | None,
    position: int | None,
    same_story_once: bool | None = None,
) -> Folder:
    """Renames, moves, reorders or switches a folder; None: unchanged, parent 0: the top level.

    `same_story_once` is set for its subfolders too.
    """
    own_folders = await folders_of(db, user_id)
    old = _find_by_id(own_folders, folder_id)
    new = replace(
        old,
        name=old.name if name is None else name,
        parent_id=old.parent_id if parent_id is None else parent_id,
        position=old.position if position is None else position,
        same_story_once=old.same_story_once if same_story_once is None else same_story_once,
    )
    if new.parent_id != old.parent_id:
        _check_move(own_folders, old, new.parent_id)
    await change_folders(db, user_id, [new, *_switched_subfolders(own_folders, folder_id, same_story_once)])
    return new


def _switched_subfolders(own_folders: Collection[Folder], folder_id: int, once: bool | None) -> list[Folder]:
    """The subfolders whose switch changes with that of the folder."""
    if once is None:
        return []
    below = folder_and_descendants(own_folders, folder_id) - {folder_id}
    return [
        replace(folder, same_story_once=once)
        for folder in own_folders
        if folder.id in below and folder.same_story_once != once
    ]


async def place_folder(db: Database, user_id: int, folder_id: int, beside_id: int, place: FolderPlace) -> Folder:
    """Moves a folder before, after or into another; with `beside_id` 0 into the top level.

    Before and after give all folders of that parent a position; into keeps their order, which may be that of names.
    """
    own_folders = await folders_of(db, user_id)
    old = _find_by_id(own_folders, folder_id)
    beside = _find_by_id(own_folders, beside_id) if beside_id else None
    if beside == old and place is not FolderPlace.INTO:
        return old
    parent_id = 0 if beside is None else beside.id if place is FolderPlace.INTO else beside.parent_id
    if parent_id != old.parent_id:
        _check_move(own_folders, old, parent_id)
    siblings = [folder for folder in own_folders if folder.parent_id == parent_id and folder.id != folder_id]
    new = replace(old, parent_id=parent_id, position=max((folder.position for folder in siblings), default=0))
    if beside is None or place is FolderPlace.INTO:
        await change_folders(db, user_id, [new])
        return new
    at = siblings.index(beside) + (place is FolderPlace.AFTER)
    ordered = [*siblings[:at], new, *siblings[at:]]
    await change_folders(db, user_id, [replace(folder, position=n) for n, folder in enumerate(ordered, 1)])
    return new


async def delete_folder(db: Database, user_id: int, folder_id: int) -> None:
    """Deletes the folder and its subfolders; the feeds in them stay."""
    own_folders = await folders_of(db, user_id)
    _find_by_id(own_folders, folder_id)
    await drop_folders(db, user_id, sorted(folder_and_descendants(own_folders, folder_id)))


async def check_folders(db: Database, user_id: int, folder_ids: Sequence[int]) -> None:
    """Raises `BadInput` for a folder that is not the user's."""
    own_ids = {folder.id for folder in await folders_of(db, user_id)} if folder_ids else set()
    if not own_ids.issuperset(folder_ids):
        raise BadInput(Message("error.no_such_folder"), "folder_ids")


async def ensure_folders(db: Database, user_id: int, paths: Iterable[FolderPath]) -> dict[FolderPath, int]:
    """By path the id of the folder, created if it does not exist."""
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
    """A path without empty names, cut to the maximum depth and length of names."""
    names = [clipped for name in path if (clipped := name.strip()[:MAX_NAME].strip())]
    return tuple(names[:MAX_DEPTH])


def folder_paths(own_folders: Collection[Folder]) -> dict[int, FolderPath]:
    """By folder id its path of names from the top."""
    names = {folder.id: folder.name for folder in own_folders}
    parents = _parents(own_folders)
    return {folder.id: tuple(names[each] for each in _ids_from_top(parents, folder.id)) for folder in own_folders}


def folder_and_descendants(own_folders: Collection[Folder], folder_id: int) -> set[int]:
    """The ids of the folder and all its subfolders."""
    found, next_ids = {folder_id}, [folder_id]
    while next_ids:
        parents = set(next_ids)
        next_ids = [folder.id for folder in own_folders if folder.parent_id in parents and folder.id not in found]
        found.update(next_ids)
    return found


def _parents(own_folders: Collection[Folder]) -> dict[int, int]:
    return {folder.id: folder.parent_id for folder in own_folders}


def _ids_from_top(parents: Mapping[int, int], folder_id: int) -> list[int]:
    """The path of ids from the top to the folder."""
    line: list[int] = []
    # Two concurrent moves can make a cycle; it is followed once.
    while folder_id in parents and folder_id not in line:
        line.append(folder_id)
        folder_id = parents[folder_id]
    return line[::-1]


def _check_move(own_folders: Collection[Folder], folder: Folder, parent_id: int) -> None:
    moved = folder_and_descendants(own_folders, folder.id)
    if parent_id in moved:
        raise FolderInItself(Message("error.folder_in_itself", name=folder.name))
    if parent_id:
        _find_by_id(own_folders, parent_id)
    parents = _parents(own_folders)
    height = max(len(_ids_from_top(parents, each)) for each in moved) - len(_ids_from_top(parents, folder.id)) + 1
    _check_depth(len(_ids_from_top(parents, parent_id)) + height)


def _check_depth(depth: int) -> None:
    if depth > MAX_DEPTH:
        raise BadInput(Message("error.folders_too_deep", most=MAX_DEPTH), "parent_id")


def _find_by_id(own_folders: Iterable[Folder], folder_id: int) -> Folder:
    found = next((folder for folder in own_folders if folder.id == folder_id), None)
    if found is None:
        raise NotFound(Message("error.no_such_folder"))
    return found
