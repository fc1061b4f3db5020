"""`edit-tag`, `mark-all-as-read`, `rename-tag` and `disable-tag` of the Google Reader API."""

from collections.abc import Sequence
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response

from feedmill.app import App
from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.library.entries.labels import drop_label, ensure_label, rename_label
from feedmill.library.entries.sync_entries import mark_in_chunks, mark_read_seen_until, mark_starred_read
from feedmill.library.subscriptions.folders import MAX_NAME, alter_folder, clip_path, delete_folder, ensure_folders
from feedmill.model.entry_lists import ALL_ENTRIES, EntryScope
from feedmill.model.entry_marks import EntryMarks, MarkAllRead
from feedmill.model.user import Caller
from feedmill.serve.greader.item_ids import parse_item_id
from feedmill.serve.greader.responses import ok
from feedmill.serve.greader.streams import (
    FEED,
    LABEL,
    READ,
    READING_LIST,
    STARRED,
    STATE,
    UNREAD_STATES,
    UserStreams,
    normal_stream,
    streams_of,
)
from feedmill.serve.http.app_parameters import AppParameters

MOST_IDS = 20_000
MICROSECOND_DIGITS, MILLISECOND_DIGITS = 16, 13


async def edit_tags(request: Request, who: Caller, sent: AppParameters) -> Response:
    """Adds (`a`) and removes (`r`) states and labels of entries (`i`). Without entries, `a` creates a folder."""
    app: App = request.app.state.app
    add, remove = [normal_stream(tag) for tag in sent.all("a")], [normal_stream(tag) for tag in sent.all("r")]
    written = sent.all("i")
    if len(written) > MOST_IDS:
        raise BadInput(Message("error.too_many_ids", most=MOST_IDS), field="i")
    if not written:
        names = [tag.removeprefix(LABEL) for tag in add if tag.startswith(LABEL)]
        await ensure_folders(app.db, who.user.id, [tuple(name.split("/")) for name in names])
        return ok()
    ids = [id for id in map(parse_item_id, written) if id is not None]
    marks = await _marks(app, who.user.id, add, remove)
    await mark_in_chunks(app.db, who.user, ids, marks, app.tools.clock())
    return ok()


async def mark_all_as_read(request: Request, who: Caller, sent: AppParameters) -> Response:
    """Marks the entries of `s` as read, up to the time `ts` at which the app last looked."""
    app: App = request.app.state.app
    stream, now = normal_stream(sent.text("s")), app.tools.clock()
    if stream == STARRED:
        await mark_starred_read(app.db, who.user, _seen_until(sent), now)
        return ok()
    scope = await _scope(app, who.user.id, stream)
    if scope is None:
        raise BadInput(Message("error.unknown_stream"), field="s")
    await mark_read_seen_until(app.db, who.user, MarkAllRead(scope), _seen_until(sent), now)
    return ok()


async def rename_tag(request: Request, who: Caller, sent: AppParameters) -> Response:
    app: App = request.app.state.app
    streams = await streams_of(app, who.user.id)
    old, new = _label_name(sent.text("s") or LABEL + sent.text("t")), _label_name(sent.text("dest"))
    folder_id, label_id = streams.find_folder(old), streams.find_label(old)
    if folder_id is not None:
        await alter_folder(app.db, who.user.id, folder_id, _last_name(new), None, None)
    elif label_id is not None:
        await rename_label(app.db, who.user.id, label_id, new)
    else:
        raise BadInput(Message("error.unknown_stream"), field="s")
    return ok()


async def disable_tag(request: Request, who: Caller, sent: AppParameters) -> Response:
    """Deletes folders and labels; the feeds and entries stay."""
    app: App = request.app.state.app
    streams = await streams_of(app, who.user.id)
    names = [_label_name(each) for each in sent.all("s")] or [sent.text("t")]
    for name in names:
        await _drop(app, who.user.id, streams, name)
    return ok()


async def _scope(app: App, user_id: int, stream: str) -> EntryScope | None:
    """The entries of all, of a feed, folder or label; None for a stream that is none of these."""
    if stream == READING_LIST:
        return ALL_ENTRIES
    return (await streams_of(app, user_id)).scope(stream) if stream.startswith((FEED, LABEL)) else None


async def _drop(app: App, user_id: int, streams: UserStreams, name: str) -> None:
    folder_id, label_id = streams.find_folder(name), streams.find_label(name)
    if folder_id is not None:
        await delete_folder(app.db, user_id, folder_id)
    elif label_id is not None:
        await drop_label(app.db, user_id, label_id)
    else:
        raise BadInput(Message("error.unknown_stream"), field="s")


async def _marks(app: App, user_id: int, add: Sequence[str], remove: Sequence[str]) -> EntryMarks:
    """Unknown states (`like`, `broadcast`) are ignored. Unread comes in three spellings."""
    read: bool | None = None
    if READ in add:
        read = True
    if READ in remove or UNREAD_STATES.intersection(add):
        read = False
    starred = True if STARRED in add else False if STARRED in remove else None
    return EntryMarks(
        read=read,
        starred=starred,
        add_labels=await _labels(app, user_id, add, create=True),
        remove_labels=await _labels(app, user_id, remove, create=False),
    )


async def _labels(app: App, user_id: int, tags: Sequence[str], *, create: bool) -> tuple[int, ...]:
    names = [_label_name(tag) for tag in tags if tag.startswith(LABEL)]
    if not names:
        return ()
    if create:
        return tuple([await ensure_label(app.db, user_id, name) for name in names])
    streams = await streams_of(app, user_id)
    return tuple(id for id in map(streams.find_label, names) if id is not None)


def _label_name(stream: str) -> str:
    written = normal_stream(stream)
    name = written.removeprefix(LABEL)
    if not 1 <= len(name) <= MAX_NAME or (name == written and written.startswith((STATE, FEED))):
        raise BadInput(Message("error.unknown_stream"), field="s")
    return name


def _last_name(path: str) -> str:
    """The name of a folder, of which apps know the path."""
    path_names = clip_path(tuple(path.split("/")))
    if not path_names:
        raise BadInput(Message("error.unknown_stream"), field="dest")
    return path_names[-1]


def _seen_until(sent: AppParameters) -> datetime | None:
    """`ts` is in microseconds; some apps send milliseconds or seconds."""
    number = sent.number("ts")
    if not number:
        return None
    digits = len(str(number))
    seconds = number / (1e6 if digits >= MICROSECOND_DIGITS else 1e3 if digits >= MILLISECOND_DIGITS else 1)
    return datetime.fromtimestamp(min(seconds, 2**33), UTC)
