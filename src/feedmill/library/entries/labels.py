"""Lists, creates, renames and deletes a user's labels."""

from feedmill.errors import Conflict, NotFound
from feedmill.i18n.messages import Message
from feedmill.library.users.limits import check_count_limit
from feedmill.model.entry_marks import EntryLabel, UserLabel
from feedmill.store.database import Database
from feedmill.store.entries import labels

NO_SUCH = Message("error.no_such_label")


async def labels_of_user(db: Database, user_id: int) -> list[UserLabel]:
    """The user's labels by name."""
    return await labels.labels_of(db, user_id)


async def label_names_of_user(db: Database, user_id: int) -> list[EntryLabel]:
    """The user's labels by name, without counting their entries."""
    return await labels.label_names(db, user_id)


async def find_label(db: Database, user_id: int, label_id: int) -> UserLabel:
    """A label of the user; `NotFound` if there is none with this id."""
    found = await labels.read_label(db, user_id, label_id)
    if found is None:
        raise NotFound(NO_SUCH)
    return found


async def make_label(db: Database, user_id: int, name: str) -> UserLabel:
    """A new label; `Conflict` when the user has one of that name."""
    await check_count_limit(db, user_id, "labels")
    return await labels.add_label(db, user_id, name)


async def ensure_label(db: Database, user_id: int, name: str) -> int:
    """The id of the label of that name, created if it does not exist."""
    existing = next((label for label in await labels_of_user(db, user_id) if label.name == name), None)
    try:
        return (existing or await make_label(db, user_id, name)).id
    except Conflict:
        return await ensure_label(db, user_id, name)  # another request created it just now


async def rename_label(db: Database, user_id: int, label_id: int, name: str) -> UserLabel:
    if not await labels.rename_label(db, user_id, label_id, name):
        raise NotFound(NO_SUCH)
    return await find_label(db, user_id, label_id)


async def drop_label(db: Database, user_id: int, label_id: int) -> None:
    """Deletes the label; its entries stay."""
    if not await labels.drop_label(db, user_id, label_id):
        raise NotFound(NO_SUCH)
