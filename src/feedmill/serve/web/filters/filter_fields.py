"""Form fields of a feed's labels, and choices of retention."""

from starlette.datastructures import FormData

from feedmill.errors import NotFound
from feedmill.i18n.messages import Message
from feedmill.library.entries.labels import ensure_label, labels_of_user
from feedmill.model.feed_settings import MAX_RETENTION_DAYS
from feedmill.serve.web.core.read_form import form_text
from feedmill.store.database import Database

RETENTIONS = (7, 30, 90, 180, 365, 1095, MAX_RETENTION_DAYS)
MAX_LABEL_LENGTH = 100


async def label_options(db: Database, user_id: int) -> list[tuple[int, str]]:
    return [(label.id, label.name) for label in await labels_of_user(db, user_id)]


async def read_labels(db: Database, user_id: int, sent: FormData) -> tuple[int, ...]:
    """The ids of the ticked labels, and of the new one, which is created."""
    ticked = {each for each in sent.getlist("label") if isinstance(each, str) and each}
    if ticked - {str(id) for id, _ in await label_options(db, user_id)}:
        raise NotFound(Message("error.no_such_label"))
    if name := " ".join(form_text(sent, "new_label").split())[:MAX_LABEL_LENGTH]:
        ticked.add(str(await ensure_label(db, user_id, name)))
    return tuple(id for id, _ in await label_options(db, user_id) if str(id) in ticked)
