"""Checks texts that other programs put into pools: everything that a sender gives is hostile."""

import re
from datetime import datetime
from hashlib import sha256

from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.model.pool import PoolKind, PoolText

MAX_TEXT_LENGTH = {PoolKind.TITLES: 10_000, PoolKind.CONTENTS: 500_000}
MAX_ID_LENGTH = 190
# Larger numbers are those of items that went back to the head of their pool.
MAX_BATCH_ID = 10**15 - 1
# The most texts in one request.
MAX_TEXTS_AT_ONCE = 5000
# A pool that has more available items takes no further texts of programs.
MAX_WAITING_ITEMS = 1_000_000
CONTROL_CHARACTER = re.compile(r"[\x00-\x1f\x7f]")


def checked_text(kind: PoolKind, text: str, external_id: str | None, batch_id: int) -> PoolText:
    """The text, if it can be stored and handed out; raises `BadInput` with the field that is wrong.

    Without an id of the sender's, the same text is the same item.
    """
    most = MAX_TEXT_LENGTH[kind]
    if not text or text.isspace():
        raise BadInput(Message("error.pool_text_empty"), field="text")
    if len(text) > most:
        raise BadInput(Message("error.pool_text_long", most=most), field="text")
    if not _is_storable(text):
        raise BadInput(Message("error.pool_text_characters"), field="text")
    if not 0 <= batch_id <= MAX_BATCH_ID:
        raise BadInput(Message("error.pool_batch_id"), field="batch_id")
    given = _text_id(text) if external_id is None else external_id.strip()
    if not 0 < len(given) <= MAX_ID_LENGTH or CONTROL_CHARACTER.search(given) or not _is_storable(given):
        raise BadInput(Message("error.pool_text_id", most=MAX_ID_LENGTH), field="id")
    return PoolText(given, text, batch_id)


def batch_of(now: datetime) -> int:
    """The batch of texts without a batch of the sender's: `20260218083000`, as for entries."""
    return int(f"{now:%Y%m%d%H%M%S}")


def _text_id(text: str) -> str:
    return f"sha256:{sha256(text.encode(errors='surrogatepass')).hexdigest()}"


def _is_storable(text: str) -> bool:
    """Without NUL, which PostgreSQL can't store, and without half of a surrogate pair, which is no character."""
    return "\x00" not in text and not any("\ud800" <= character <= "\udfff" for character in text)
