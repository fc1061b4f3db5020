"""Whole articles, kept beside their entries."""

from datetime import datetime

from sqlalchemy import String, bindparam, select

from feedmill.model.times import to_text
from feedmill.store.columns import LongText
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert_selected
from feedmill.store.schema import entries, full_texts

# From the entry, which may have been purged meanwhile.
ADD = insert_selected(
    full_texts,
    select(
        entries.c.id.label("a"), bindparam("at", type_=String).label("b"), bindparam("url", type_=LongText).label("c"),
        bindparam("html", type_=LongText).label("d"),
    ).where(entries.c.id == bindparam("entry")),
)  # fmt: skip
CHANGE = (
    full_texts.update()
    .where(full_texts.c.entry_id == bindparam("entry"))
    .values(fetched_at=bindparam("at"), url=bindparam("url"), content_html=bindparam("html"))
)


async def keep_full_text(db: Database, entry_id: int, url: str, html: str, now: datetime) -> None:
    """Keeps the article that was found at `url`, in place of one that was kept before."""
    params = {"entry": entry_id, "at": to_text(now), "url": url, "html": html}
    await db.batch([Step(ADD, params), Step(CHANGE, params)])
