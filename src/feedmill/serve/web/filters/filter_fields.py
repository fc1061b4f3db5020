"""Form fields of what is done with a feed's new entries: labels, rules, retention, full text."""

from starlette.datastructures import FormData

from feedmill.errors import NotFound
from feedmill.library.entries.labels import ensure_label, labels_of
from feedmill.library.filters.rules import BadRule
from feedmill.model.feed_settings import MAX_RETENTION_DAYS, FeedSettings
from feedmill.serve.web.core.page import form_text
from feedmill.store.database import Database

RETENTIONS = (7, 30, 90, 180, 365, 1095, MAX_RETENTION_DAYS)
MAX_LABEL_LENGTH = 100

# What can be wrong with rules besides what can be wrong with a search.
_RULE_MISTAKES = frozenset({"not_in_rules", "rules_too_long", "too_many_rules"})


async def label_options(db: Database, user_id: int) -> list[tuple[int, str]]:
    return [(label.id, label.name) for label in await labels_of(db, user_id)]


async def read_labels(db: Database, user_id: int, sent: FormData) -> tuple[int, ...]:
    """Those of the person's labels that are ticked, and the new one, which is made."""
    ticked = {each for each in sent.getlist("label") if isinstance(each, str) and each}
    if ticked - {str(id) for id, _ in await label_options(db, user_id)}:
        raise NotFound("there is no such label")
    if name := " ".join(form_text(sent, "new_label").split())[:MAX_LABEL_LENGTH]:
        ticked.add(str(await ensure_label(db, user_id, name)))
    return tuple(id for id, _ in await label_options(db, user_id) if str(id) in ticked)


def read_settings(sent: FormData) -> FeedSettings:
    """As it is written, right or wrong, without the labels."""
    days = form_text(sent, "retention")
    return FeedSettings(
        retention_days=int(days) if days.isascii() and days.isdigit() and len(days) < 7 else None,
        full_text=bool(form_text(sent, "full_text")),
        keep_selector=form_text(sent, "keep_selector").strip(),
        drop_selector=form_text(sent, "drop_selector").strip(),
        block_rules=_lines(sent, "block_rules"),
        keep_rules=_lines(sent, "keep_rules"),
        notify=bool(form_text(sent, "notify")),
    )


def _lines(sent: FormData, name: str) -> str:
    return "\n".join(form_text(sent, name).strip().splitlines())


def rule_error_key(error: BadRule) -> str:
    """The key of the sentence that says what is wrong with a rule."""
    return f"feed.rule_{error.mistake}" if error.mistake in _RULE_MISTAKES else f"search.mistake_{error.mistake}"
