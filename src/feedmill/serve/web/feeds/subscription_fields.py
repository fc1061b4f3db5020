"""Form fields of a subscription: folders, title, interval, image archiving."""

from starlette.datastructures import FormData

from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.i18n.natural_order import NaturalKey, natural_key
from feedmill.library.subscriptions.folders import (
    check_folders,
    clip_path,
    ensure_folders,
    folder_paths,
    folders_of_user,
)
from feedmill.model.feed import ArchivePolicy
from feedmill.serve.web.core.form_fields import matching
from feedmill.serve.web.core.read_form import form_text, read_id
from feedmill.store.database import Database

MINUTE, HOUR, DAY = 60, 3600, 86400
INTERVALS = (15 * MINUTE, 30 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 7 * DAY)
POLICIES = tuple(str(policy) for policy in ArchivePolicy)
MAX_NAME_LENGTH = 500
INTERVAL = matching(r"[0-9]{1,7}").or_empty


async def folder_options(db: Database, user_id: int) -> list[tuple[int, str]]:
    """Every folder of the user with its path of names, sorted by path."""
    paths = folder_paths(await folders_of_user(db, user_id))
    return [(id, " / ".join(path)) for id, path in sorted(paths.items(), key=lambda pair: _spelled(pair[1]))]


def _spelled(path: tuple[str, ...]) -> list[NaturalKey]:
    return [natural_key(name) for name in path]


async def read_folders(db: Database, user_id: int, sent: FormData) -> tuple[int, ...]:
    """The chosen folders, and the new one (`Tech/Python`), which is created."""
    chosen = {read_id(each) for each in sent.getlist("folder") if isinstance(each, str) and each}
    await check_folders(db, user_id, sorted(chosen))
    names = tuple(
        name for name in (" ".join(part.split()) for part in form_text(sent, "new_folder").split("/")) if name
    )
    if names:
        path = clip_path(names)
        chosen.add((await ensure_folders(db, user_id, [path]))[path])
    return tuple(sorted(chosen))


def read_interval(written: str) -> int | None:
    """The interval in seconds; None for automatic."""
    if not written:
        return None
    seconds = read_id(written)
    if not MINUTE <= seconds <= 7 * DAY:
        raise BadInput(Message("error.bad_interval"), "interval")
    return seconds


def read_policy(written: str) -> str | None:
    """Which images are archived; None for the default."""
    if written and written not in POLICIES:
        raise BadInput(Message("error.bad_archive_policy"), "images")
    return written or None


def read_title(sent: FormData) -> str | None:
    """The user's title for the feed; None to use the feed's own title."""
    name = " ".join(form_text(sent, "title").split())
    if len(name) > MAX_NAME_LENGTH or not name.isprintable():
        raise BadInput(Message("error.name_too_long"), "title")
    return name or None
