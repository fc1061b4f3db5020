"""Feeds that publish the same articles, on a scripted web, and the users who read them."""

from dataclasses import dataclass, field, replace
from functools import partial

from sqlalchemy import select

from feedmill.collect.refresh import RefreshWriters
from feedmill.library.filters.filter_new_entries import filter_writes
from feedmill.library.stories.join_new_entries import story_writes
from feedmill.model.feed import Feed
from feedmill.model.user import User
from feedmill.store.schema import entries, feeds, story_entries
from tests.flows.refresh_environment import HOUR, RefreshEnvironment, answer, item
from tests.library.subscribers import Subscribers

WORDS = "amber basin cedar delta ember fjord grove haven inlet jetty knoll larch meadow north ocean pine quarry ridge"


@dataclass
class StoryFeeds:
    """Feeds by name. Each article is published with its own words, the same in every feed."""

    env: RefreshEnvironment
    subscribers: Subscribers = field(init=False)
    feeds: dict[str, Feed] = field(default_factory=dict)
    published: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.subscribers = Subscribers(self.env)
        db = self.env.db
        writers = RefreshWriters(filters=partial(filter_writes, db), stories=partial(story_writes, db))
        self.env.tools = replace(self.env.tools, writers=writers)

    async def add(self, *names: str, readers: tuple[User, ...] = ()) -> None:
        """Feeds without articles, with their subscribers."""
        for name in names:
            self.feeds[name] = await self.env.add(f"/{name}", answer())
            self.published[name] = []
            for reader in readers:
                await self.env.subscribe(reader.id, self.feeds[name])

    async def publish(self, name: str, *items: str) -> None:
        """The feed has these items besides its former ones, and is refreshed."""
        self.published[name] = [*items, *self.published[name]]
        await self.replace(name, *self.published[name])

    async def replace(self, name: str, *items: str) -> None:
        """The feed has only these items, and is refreshed."""
        self.published[name] = list(items)
        await self.env.later(HOUR, self.feeds[name], answer(*items), f"/{name}")

    def article(self, name: str, title: str, guid: str = "") -> str:
        """An article in a feed, with a link of its own there."""
        link = f"https://{name}.example.org/{title.replace(' ', '-')}"
        return item(title, text_of(title), self.env.now, guid or f"{name}/{title}", link)

    async def together(self) -> set[frozenset[str]]:
        """The stories of more than one entry, each entry as `feed: title`."""
        joined = entries.join(story_entries, story_entries.c.entry_id == entries.c.id).join(feeds)
        columns = (story_entries.c.story_id, entries.c.feed_id, entries.c.title)
        found: dict[int, set[str]] = {}
        names = {feed.id: name for name, feed in self.feeds.items()}
        for row in await self.env.db.query(select(*columns).select_from(joined)):
            found.setdefault(row["story_id"], set()).add(f"{names[row['feed_id']]}: {row['title']}")
        return {frozenset(story) for story in found.values() if len(story) > 1}


def text_of(title: str) -> str:
    """Some sixty words that no other title has."""
    return " ".join(f"{word} {word}{title.replace(' ', '')}" for word in WORDS.split() for _ in range(2))
