"""What a person wants done with the entries of a feed, in the forms that add or change one."""

from starlette.datastructures import FormData

from feedmill.library.labels import ensure_label
from feedmill.library.rules import BadRule
from feedmill.model.feed_settings import MOST_DAYS, FeedSettings
from feedmill.serve.web.page import text
from feedmill.store.database import Database
from feedmill.store.labels import labels_of

RETENTIONS = (7, 30, 90, 180, 365, 1095, MOST_DAYS)
LONGEST_LABEL = 100

# What can be wrong with rules besides what can be wrong with a search.
_OF_RULES = frozenset({"not_in_rules", "rules_too_long", "too_many_rules"})


async def label_choices(db: Database, user_id: int) -> list[tuple[int, str]]:
    return [(row["id"], row["name"]) for row in await labels_of(db, user_id)]


async def read_labels(db: Database, user_id: int, sent: FormData) -> tuple[int, ...]:
    """Those of the person's labels that are ticked, and the new one, which is made."""
    ticked = {each for each in sent.getlist("label") if isinstance(each, str)}
    if name := " ".join(text(sent, "new_label").split())[:LONGEST_LABEL]:
        ticked.add(str(await ensure_label(db, user_id, name)))
    return tuple(id for id, _ in await label_choices(db, user_id) if str(id) in ticked)


def read_settings(sent: FormData) -> FeedSettings:
    """As it is written, right or wrong, without the labels."""
    days = text(sent, "retention")
    return FeedSettings(
        retention_days=int(days) if days.isascii() and days.isdigit() and len(days) < 7 else None,
        full_text=bool(text(sent, "full_text")),
        keep_selector=text(sent, "keep_selector").strip(),
        drop_selector=text(sent, "drop_selector").strip(),
        block_rules=_lines(sent, "block_rules"),
        keep_rules=_lines(sent, "keep_rules"),
        notify=bool(text(sent, "notify")),
    )


def _lines(sent: FormData, name: str) -> str:
    return "\n".join(text(sent, name).strip().splitlines())


def why_bad(error: BadRule) -> str:
    """The key of the sentence that says what is wrong with a rule."""
    return f"feed.rule_{error.mistake}" if error.mistake in _OF_RULES else f"search.mistake_{error.mistake}"
