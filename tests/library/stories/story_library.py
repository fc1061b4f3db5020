"""A small library with stories: entries that are the same article are joined by the test."""

from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import select

from feedmill.library.cursors import from_cursor
from feedmill.library.entries.list_entries import EntryListQuery, list_entries
from feedmill.model.entry_lists import EntryScope, EntryView
from feedmill.model.user import User
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.schema import folders, story_entries, subscriptions
from tests.library.small_library import NOW, SmallLibrary

ADD = insert(story_entries, "entry_id", "story_id")


@dataclass
class StoryLibrary(SmallLibrary):
    """Entries are named `feed: title`; those with the same title are a story."""

    db: Database
    feeds: dict[str, int] = field(default_factory=dict)
    entries: dict[str, int] = field(default_factory=dict)

    async def have(self, user: User, *names: str) -> None:
        """Subscribes the user to these feeds, which are made if need be."""
        for name in names:
            if name not in self.feeds:
                self.feeds[name] = await self.feed(name)
            await self.subscribe(user, self.feeds[name], name)

    async def publish(self, name: str, *titles: str, **more: Any) -> None:
        """New entries of a feed, which join the stories of the same titles."""
        ids = await self.arrive(self.feeds[name], *titles, **more)
        for title, id in zip(titles, ids, strict=True):
            self.entries[f"{name}: {title}"] = id
            same = [entry for full, entry in self.entries.items() if full.partition(": ")[2] == title]
            if len(same) > 1:
                await self.join(*same)

    async def join(self, *ids: int) -> None:
        """Makes these entries one story."""
        rows = [{"entry_id": id, "story_id": min(ids)} for id in ids]
        await self.db.batch([Step(story_entries.delete().where(story_entries.c.entry_id.in_(ids))), Step(ADD, rows)])

    async def subscription(self, user: User, name: str) -> int:
        mine = (subscriptions.c.user_id == user.id, subscriptions.c.feed_id == self.feeds[name])
        [found] = await self.db.query(select(subscriptions.c.id).where(*mine))
        return int(found["id"])

    async def scope(self, user: User, *names: str) -> EntryScope:
        return EntryScope(tuple([await self.subscription(user, name) for name in names]))

    async def leave_out(self, user: User, name: str) -> None:
        """Switches stories off for a feed."""
        chosen = subscriptions.c.id == await self.subscription(user, name)
        await self.db.batch([Step(subscriptions.update().where(chosen).values(same_story_once=0))])

    async def leave_out_folder(self, folder_id: int) -> None:
        await self.db.batch([Step(folders.update().where(folders.c.id == folder_id).values(same_story_once=0))])

    async def listed(self, user: User, view: EntryView = EntryView.UNREAD, **wanted: Any) -> list[str]:
        """The list of the user that shows stories once, from all its pages."""
        found: list[str] = []
        query = EntryListQuery(view, **{"stories_once": True, "most": 50} | wanted)
        names = {id: name for name, id in self.entries.items()}
        while True:
            page = await list_entries(self.db, user.id, query, NOW)
            found += [names[entry.id] for entry in page.items]
            if page.next is None:
                return found
            query = EntryListQuery(view, **{"stories_once": True, "most": 50} | wanted, beyond=from_cursor(page.next))
