"""What a person chooses for a feed, in the forms that add or change one: folders, interval, images, HTTP options."""

from starlette.datastructures import FormData

from feedmill.errors import BadInput
from feedmill.library.folders import check_folders, ensure_folders, paths_of, shortened
from feedmill.library.http_options import Written, read_written
from feedmill.model.feed import ArchivePolicy
from feedmill.serve.web.page import text
from feedmill.store.database import Database
from feedmill.store.folders import folders_of

MINUTE, HOUR, DAY = 60, 3600, 86400
INTERVALS = (15 * MINUTE, 30 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 7 * DAY)
POLICIES = tuple(str(policy) for policy in ArchivePolicy)
LONGEST_NAME = 500


async def folder_choices(db: Database, user_id: int) -> list[tuple[int, str]]:
    """Every folder of the user with the names that lead to it, in the order of those."""
    paths = paths_of(await folders_of(db, user_id))
    return [(id, " / ".join(path)) for id, path in sorted(paths.items(), key=lambda pair: _spelled(pair[1]))]


def _spelled(path: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name.casefold() for name in path)


async def read_folders(db: Database, user_id: int, sent: FormData) -> tuple[int, ...]:
    """The folders that were chosen, and the new one (`Tech/Python`), which is made."""
    chosen = {number(each) for each in sent.getlist("folder") if isinstance(each, str) and each}
    await check_folders(db, user_id, sorted(chosen))
    names = tuple(name for name in (" ".join(part.split()) for part in text(sent, "new_folder").split("/")) if name)
    if names:
        path = shortened(names)
        chosen.add((await ensure_folders(db, user_id, [path]))[path])
    return tuple(sorted(chosen))


def number(written: str) -> int:
    """An id, or `BadInput`."""
    if not (written.isascii() and written.isdigit() and len(written) < 16):
        raise BadInput("that is no number of anything")
    return int(written)


def read_interval(written: str) -> int | None:
    """Seconds, None for automatic."""
    if not written:
        return None
    seconds = number(written)
    if not MINUTE <= seconds <= 7 * DAY:
        raise BadInput("a feed is fetched every minute to every week", "interval")
    return seconds


def read_policy(written: str) -> str | None:
    """Which images are kept, None for what is usual."""
    if written and written not in POLICIES:
        raise BadInput("images are kept all, of starred items, or not at all", "images")
    return written or None


def read_options(sent: FormData, kept: str | None = None) -> str | None:
    """How the feed is asked for, joined with what is kept of it."""
    if text(sent, "forget"):
        return None
    fields = ("name", "password", "cookie", "proxy", "user_agent", "headers")
    written = {field: text(sent, f"http_{field}").strip() for field in fields}
    return read_written(Written(**written, verify_tls=not text(sent, "http_any_certificate")), kept)


def read_name(sent: FormData) -> str | None:
    """What the person calls the feed, None to call it what it calls itself."""
    name = " ".join(text(sent, "title").split())
    if len(name) > LONGEST_NAME or not name.isprintable():
        raise BadInput("a name has at most 500 letters", "title")
    return name or None
