"""Writes texts to the search index although the database refuses some of them."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

from feedmill.errors import ConstraintViolated, DatabaseError, StatementRefused
from feedmill.lazy_loggers import get_logger

log = get_logger(__name__)

Text = TypeVar("Text")


class RefusedText(NamedTuple, Generic[Text]):
    """A text that the database does not take, and why."""

    text: Text
    error: DatabaseError


async def write_or_halve(
    write: Callable[[Sequence[Text]], Awaitable[int]], texts: Sequence[Text], refused: list[RefusedText[Text]]
) -> int:
    """Writes texts in one batch, or in halves if that is refused, down to those that are refused; how many it wrote.

    Any other error is raised: halves of a lot do no better in a database that is locked or full.
    """
    half = len(texts) // 2
    try:
        return await write(texts)
    except (StatementRefused, ConstraintViolated) as error:
        if not half:
            refused.append(RefusedText(texts[0], error))
            return 0
    return await write_or_halve(write, texts[:half], refused) + await write_or_halve(write, texts[half:], refused)


def log_refused(entry_id: int, error: DatabaseError) -> None:
    log.error("text_not_indexable", entry_id=entry_id, reason=str(error))
