"""An admin makes one feed of two: everybody keeps what they have, and reads on in the other."""

from datetime import datetime

from feedmill.collect.address import BadAddress, read_address
from feedmill.errors import BadInput, Conflict
from feedmill.model.account import Actor
from feedmill.store.additions import ids_of_urls
from feedmill.store.administered_feeds import Administered, Merging, foresee_merge, merge_into, read_administered
from feedmill.store.database import Database
from feedmill.store.raw import merged_feeds

MOST_DIGITS = 15


class NotMergeable(Conflict):
    """These two can't become one. `code` says why."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


async def find_feed(db: Database, text: str) -> Administered:
    """The feed of that number or at that address; what is neither is `BadInput`."""
    typed = text.strip()
    if typed.isascii() and typed.isdecimal() and len(typed) <= MOST_DIGITS:
        found = await read_administered(db, int(typed))
    else:
        found = await _at_address(db, typed)
    if found is None:
        raise BadInput("there is no such feed here", field="into")
    return found


async def foresee(db: Database, source: Administered, target: Administered) -> Merging:
    """What merging the first into the second would come to; `NotMergeable` when it may not be done."""
    if source.feed.id == target.feed.id:
        raise NotMergeable("same_feed", "a feed can't be merged into itself")
    # Whoever reads the one was not given the other one's password.
    if source.feed.http_options != target.feed.http_options or source.feed.is_private or target.feed.is_private:
        raise NotMergeable("private_feed", "feeds that are asked for with somebody's own password stay apart")
    if {source.feed.id, target.feed.id} & set(await merged_feeds(db)):
        raise NotMergeable("merged_already", "one of them was merged into another feed already")
    return await foresee_merge(db, source, target)


async def merge(db: Database, source: Administered, target: Administered, by: Actor, now: datetime) -> Merging:
    """Gives subscriptions, stars, labels and entries of the first to the second; its raw bodies stay kept."""
    merging = await foresee(db, source, target)
    await merge_into(db, source.feed, target.feed, by, now)
    return merging


async def _at_address(db: Database, text: str) -> Administered | None:
    try:
        url = read_address(text).url
    except BadAddress as error:
        raise BadInput(str(error), field="into") from error
    feed_id = (await ids_of_urls(db, [url])).get(url)
    return await read_administered(db, feed_id) if feed_id is not None else None
