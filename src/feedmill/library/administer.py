"""What an admin does to a feed, for everybody who is subscribed to it."""

from datetime import datetime

from feedmill.collect.address import BadAddress, read_address
from feedmill.errors import BadInput, Conflict
from feedmill.model.account import Actor
from feedmill.model.feed import Feed
from feedmill.store.administered_feeds import move_feed
from feedmill.store.database import Database
from feedmill.store.feeds import host_of


async def change_address(db: Database, feed: Feed, text: str, by: Actor, now: datetime) -> None:
    """Lets the feed come from another address. A password goes along only to the host that it was given for."""
    if feed.is_private:
        raise Conflict("this feed is fetched with somebody's own password: its address is theirs to change")
    try:
        address = read_address(text)
    except BadAddress as error:
        raise BadInput(str(error), field="url") from error
    if address.url == feed.url:
        return
    kept = feed.http_options if host_of(address.url) == host_of(feed.url) else None
    await move_feed(db, feed, address.url, address.http_options or kept, by, now)
