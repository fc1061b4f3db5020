"""Form fields of a feed's labels, choices of retention, and mistakes in filter rules."""

from starlette.datastructures import FormData

from feedmill.errors import NotFound
from feedmill.i18n.messages import Message
from feedmill.library.entries.labels import ensure_label, labels_of_user
from feedmill.library.filters.rules import BadRule
from feedmill.model.feed_settings import MAX_RETENTION_DAYS
from feedmill.serve.web.core.read_form import form_text
from feedmill.store.database import Database

RETENTIONS = (7, 30, 90, 180, 365, 1095, MAX_RETENTION_DAYS)
MAX_LABEL_LENGTH = 100

# What can be wrong with rules besides what can be wrong with a search.
_RULE_MISTAKES = frozenset({"not_in_rules", "rules_too_long", "too_many_rules"})


async def label_options(db: Database, user_id: int) -> list[tuple[int, str]]:
    return [(label.id, label.name) for label in await labels_of_user(db, user_id)]


async def read_labels(db: Database, user_id: int, sent: FormData) -> tuple[int, ...]:
    """Those of the person's labels that are ticked, and the new one, which is made."""
    ticked = {each for each in sent.getlist("label") if isinstance(each, str) and each}
    if ticked - {str(id) for id, _ in await label_options(db, user_id)}:
        raise NotFound(Message("error.no_such_label"))
    if name := " ".join(form_text(sent, "new_label").split())[:MAX_LABEL_LENGTH]:
        ticked.add(str(await ensure_label(db, user_id, name)))
    return tuple(id for id, _ in await label_options(db, user_id) if str(id) in ticked)


def rule_error_key(error: BadRule) -> str:
    """The key of the sentence that says what is wrong with a rule."""
    return f"feed.rule_{error.mistake}" if error.mistake in _RULE_MISTAKES else f"search.mistake_{error.mistake}"
