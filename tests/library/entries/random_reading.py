"""Random readers of a few feeds: the same seed does the same, so two runs can be compared by what readers see."""

import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from random import Random
from typing import Any

from sqlalchemy import func, select

from feedmill.collect.refresh import RefreshWriters
from feedmill.errors import CallerError
from feedmill.library.entries.labels import ensure_label
from feedmill.library.entries.list_entries import EntryListQuery, EntrySummary, count_news, list_entries, list_raised
from feedmill.library.entries.marks import (
    apply_marks,
    apply_marks_with_undo,
    mark_all_read,
    mark_side_read,
    undo_mark_all_read,
)
from feedmill.library.entries.unread_counts import (
    count_labels_and_searches,
    count_today_and_later,
    unread_counts_of_user,
    unread_sums_of_users,
)
from feedmill.library.filters.filter_jobs import apply_backwards, revert_filter
from feedmill.library.filters.filter_new_entries import filter_writes
from feedmill.library.filters.manage_filters import create_filter, delete_filter, enable_filter, filters_of_user
from feedmill.library.filters.mutes import follow, mute
from feedmill.library.filters.work_on_jobs import FilterJobWorker
from feedmill.library.notifications.queue_digests import queue_due_digests
from feedmill.library.outbound_tools import OutboundTools
from feedmill.library.search.run_search import SearchRequest, run_search
from feedmill.library.search.saved_searches import create_saved_search
from feedmill.library.stories.join_new_entries import story_writes
from feedmill.library.subscriptions.change_url import change_subscription_url
from feedmill.library.users.api_keys import create_api_key
from feedmill.library.users.find_caller import caller_of_api_key
from feedmill.model.entry_lists import EntryScope, EntryView
from feedmill.model.entry_marks import EntryMarks, MarkAllRead
from feedmill.model.feed import Feed
from feedmill.model.filters.entry_filter import FilterActions, FilterDraft, FilterSubject
from feedmill.model.subscription import Subscription
from feedmill.model.sync_query import SyncQuery
from feedmill.model.timestamps import to_iso
from feedmill.model.user import SCOPES, Caller, User
from feedmill.store.archive.retention import drop_expired_entries
from feedmill.store.entries.sync.list_ids import list_entry_ids
from feedmill.store.entries.sync.sync_ids import find_sync_ids
from feedmill.store.feeds.lifecycle import remove_feed
from feedmill.store.feeds.merge_feeds import Merge, merge_feeds
from feedmill.store.schema import (
    deferred_entries,
    entries,
    folder_subscriptions,
    folders,
    notification_targets,
    notifications,
    subscriptions,
    unread,
    users,
)
from tests.flows.refresh_environment import DAY, HOUR, RefreshEnvironment, answer, item
from tests.library.stories.story_feeds import text_of
from tests.library.subscribers import Subscribers

FEEDS = ("ants", "bees", "cats", "dogs")
READERS = ("alice", "bob", "charlie")
# More than these have left the feed.
ITEMS_IN_FEED = 5
RETENTION = timedelta(days=30)
Operation = Callable[[], Awaitable[object]]


@dataclass
class Reader:
    """A user with a key, and what a program of theirs remembers."""

    user: User
    secret: str
    label: int
    folder: int
    undo: list[str] = field(default_factory=list)
    as_of: int = 0


@dataclass
class RandomReading:
    """`choose_popularity` is called before each refresh, to decide whether the next one defers unread rows."""

    env: RefreshEnvironment
    seed: int
    choose_popularity: Callable[[], None]
    seen: list[Any] = field(default_factory=list)
    feeds: dict[str, Feed] = field(default_factory=dict)
    items: dict[str, list[str]] = field(default_factory=dict)
    readers: list[Reader] = field(default_factory=list)
    published: int = 0
    most_deferred: int = 0
    first_id: int = 0

    def __post_init__(self) -> None:
        self.random, self.subscribers, db = Random(self.seed), Subscribers(self.env), self.env.db
        writers = RefreshWriters(filters=partial(filter_writes, db), stories=partial(story_writes, db))
        self.env.tools = replace(self.env.tools, writers=writers)

    async def run(self, steps: int) -> list[Any]:
        """What the readers saw, in the order of what was done."""
        await self._begin()
        for _ in range(steps):
            self.env.now += timedelta(minutes=10)
            operation = self.random.choice(self._operations())
            try:
                await operation()
                self.seen.append(operation.__name__)
            except CallerError as error:
                self.seen.append((operation.__name__, type(error).__name__))
            await self._note()
        for reader in self.readers:
            await self._look(reader)
        return self.seen

    async def _note(self) -> None:
        [deferred] = await self.env.db.query(select(func.count().label("n")).select_from(deferred_entries))
        self.most_deferred = max(self.most_deferred, deferred["n"])
        if not self.first_id:
            [first] = await self.env.db.query(select(func.min(entries.c.id).label("id")))
            self.first_id = first["id"] or 0

    def _numbered(self, ids: Iterable[int]) -> list[int]:
        """Ids as if the first entry of this run were the first of its database."""
        return [id - self.first_id for id in ids]

    def _operations(self) -> list[Operation]:
        often: list[Operation] = [self._publish] * 8 + [self._look_around] * 4 + [self._mark] * 3 + [self._mark_all] * 3
        return [
            *often,
            self._undo,
            self._undo,
            self._mark_side,
            self._mark_with_undo,
            self._subscribe,
            self._subscribe,
            self._subscribe,
            self._unsubscribe,
            self._pause,
            self._pause,
            self._move,
            self._repeat,
            self._repeat,
            self._repeat,
            self._purge,
            self._hide,
            self._hide,
            self._hide,
            self._stop_hiding,
            self._apply_filter,
            self._apply_filter,
            self._block,
            self._merge,
            self._remove_feed,
            self._queue_digests,
        ]

    # --- people and feeds -----------------------------------------------------------------------------------

    async def _begin(self) -> None:
        db = self.env.db
        for name in FEEDS:
            await self._add_feed(name)
        for name in READERS:
            user = await self.subscribers.person(name)
            secret, _ = await create_api_key(db, Caller(user, frozenset(SCOPES)), "program", SCOPES, None, self.env.now)
            label = await ensure_label(db, user.id, "kept")
            folder = await self.env.put(folders, user_id=user.id, name="some")
            await create_saved_search(db, user.id, "new", "is:unread")
            at = to_iso(self.env.now)
            target = {"user_id": user.id, "name": "mail", "scheme": "json", "url": "x", "events": "[]"}
            more = {"digest": "daily", "next_digest_at": at, "next_attempt_at": at, "created_at": at}
            await self.env.put(notification_targets, **target, **more)
            self.readers.append(Reader(user, secret, label, folder))
            for feed in self.random.sample(FEEDS, 3):
                await self._subscribe_to(self.readers[-1], feed)

    async def _add_feed(self, name: str) -> None:
        self.feeds[name], self.items[name] = await self.env.add(f"/{name}", answer(title=name)), []

    async def _request(self) -> Reader:
        """A request of one of the readers, whom their key names."""
        reader = self.random.choice(self.readers)
        assert await caller_of_api_key(self.env.db, reader.secret, self.env.now) is not None
        return reader

    async def _mine(self, reader: Reader) -> list[Subscription]:
        return await self.subscribers.mine(reader.user)

    async def _listed(self, reader: Reader, view: EntryView = EntryView.ALL) -> list[EntrySummary]:
        page = await list_entries(self.env.db, reader.user.id, EntryListQuery(view, most=200), self.env.now)
        return page.items

    # --- what feeds do --------------------------------------------------------------------------------------

    async def _publish(self) -> None:
        name = self.random.choice(sorted(self.feeds))
        self._write_items(name, self.random.choice((0, 1, 1, 2, 3)))
        await self._refresh(name)

    def _write_items(self, name: str, number: int) -> None:
        for _ in range(number):
            self.published += 1
            word = self.random.choice(("", "", "spam", "great"))
            shared = self.random.random() < 0.4
            title = f"The story {self.random.randrange(12)} that several feeds bring" if shared else self._own_title()
            guid = f"{name}.example.org/{self.published}"
            made = item(f"{title} {word}".strip(), text_of(title) * 2, self.env.now, guid, f"https://{guid}")
            self.items[name].insert(0, made)

    def _own_title(self) -> str:
        return f"What happened at place {self.published} of this feed alone"

    async def _repeat(self) -> None:
        """The newest item of a feed comes again under another guid and link, perhaps with new ones."""
        name = self.random.choice(sorted(self.feeds))
        if self.items[name]:
            self.published += 1
            guid = f"{name}.example.org/{self.published}"
            head, _, rest = self.items[name].pop(0).partition("<guid>")
            link = f"<link>https://{guid}</link>"
            again = f"{head}<guid>{guid}</guid>{link}{rest.partition('</link>')[2]}"
            self._write_items(name, self.random.randrange(3))
            self.items[name].insert(0, again)
        await self._refresh(name)

    async def _refresh(self, name: str) -> None:
        self.choose_popularity()
        served = answer(*self.items[name][:ITEMS_IN_FEED], title=name)
        await self.env.later(HOUR, self.feeds[name], served, f"/{name}")

    async def _purge(self) -> None:
        if self.random.random() < 0.3:
            self.env.now += RETENTION + DAY
        await drop_expired_entries(self.env.db, RETENTION, self.env.now)

    async def _merge(self) -> None:
        if len(self.feeds) > 2 and self.random.random() < 0.5:
            gone, stays = self.random.sample(sorted(self.feeds), 2)
            source, target = self.feeds.pop(gone), self.feeds[stays]
            up_to = self.random.choice((None, 10**9))
            await merge_feeds(
                self.env.db,
                Merge(source.id, source.url, target.id, target.url, self.env.now - DAY, up_to),
                self.env.now,
            )

    async def _remove_feed(self) -> None:
        if len(self.feeds) > 2 and self.random.random() < 0.3:
            name = self.random.choice(sorted(self.feeds))
            await remove_feed(self.env.db, self.feeds.pop(name).id, self.env.now)
        elif len(self.feeds) < len(FEEDS):
            await self._add_feed(f"new{self.published}x{len(self.seen)}")

    # --- what readers do ------------------------------------------------------------------------------------

    async def _mark(self) -> None:
        reader = await self._request()
        some = self._some(await self._listed(reader))
        chosen = self.random.choice(
            (
                EntryMarks(read=True),
                EntryMarks(read=True, whole_stories=True),
                EntryMarks(read=False),
                EntryMarks(starred=True),
                EntryMarks(later=True),
                EntryMarks(add_labels=(reader.label,)),
            )
        )
        await apply_marks(self.env.db, reader.user.id, some, chosen, self.env.now)

    async def _mark_with_undo(self) -> None:
        reader = await self._request()
        some = self._some(await self._listed(reader, EntryView.UNREAD))
        result = await apply_marks_with_undo(self.env.db, reader.user.id, some, EntryMarks(read=True), self.env.now)
        reader.undo.append(result.undo)

    def _some(self, listed: Sequence[EntrySummary]) -> list[int]:
        return [entry.id for entry in self.random.sample(listed, min(len(listed), self.random.randint(1, 3)))]

    async def _mark_all(self) -> None:
        reader = await self._request()
        once = self.random.random() < 0.3
        kinds = (
            MarkAllRead(whole_stories=once),
            MarkAllRead(up_to=reader.as_of, whole_stories=once),
            MarkAllRead(await self._scope(reader), whole_stories=once),
            MarkAllRead(await self._scope(reader), up_to=reader.as_of),
            MarkAllRead(EntryScope(None, reader.label)),
            MarkAllRead(before=self.env.now - self.random.randint(1, 20) * HOUR),
            MarkAllRead(since=self.env.now - self.random.randint(1, 20) * HOUR),
        )
        result = await mark_all_read(self.env.db, reader.user.id, self.random.choice(kinds), self.env.now)
        reader.undo.append(result.undo)
        self.seen.append(("marked", result.marked))

    async def _mark_side(self) -> None:
        reader = await self._request()
        within, above = EntryListQuery(stories_once=self.random.random() < 0.5), self.random.random() < 0.5
        listed = await self._listed(reader, EntryView.UNREAD)
        if listed:
            chosen = self.random.choice(listed).id
            result = await mark_side_read(
                self.env.db, reader.user.id, within, chosen, self.env.now, above=above, up_to=None
            )
            reader.undo.append(result.undo)

    async def _undo(self) -> None:
        reader = await self._request()
        if reader.undo:
            await undo_mark_all_read(self.env.db, reader.user.id, reader.undo.pop(), self.env.now)

    async def _scope(self, reader: Reader) -> EntryScope:
        ids = [each.id for each in await self._mine(reader)]
        return EntryScope(tuple(self.random.sample(ids, min(len(ids), self.random.randint(1, 2)))))

    # --- subscriptions and filters --------------------------------------------------------------------------

    async def _subscribe(self) -> None:
        await self._subscribe_to(await self._request(), self.random.choice(sorted(self.feeds)))

    async def _subscribe_to(self, reader: Reader, name: str) -> None:
        # Without a fetch that only one run would see as popular.
        self.choose_popularity()
        made = await self.subscribers.subscribe(reader.user, self.feeds[name].url)
        if self.random.random() < 0.5:
            filed = {"folder_id": reader.folder, "subscription_id": made.subscription.id}
            if not await self.env.rows(folder_subscriptions, **filed):
                await self.env.put(folder_subscriptions, **filed)

    async def _unsubscribe(self) -> None:
        reader = await self._request()
        if mine := await self._mine(reader):
            await self.subscribers.leave(reader.user, self.random.choice(mine))

    async def _pause(self) -> None:
        reader = await self._request()
        if mine := await self._mine(reader):
            chosen = self.random.choice(mine)
            await self.subscribers.settle(reader.user, chosen, paused=not chosen.paused)

    async def _move(self) -> None:
        reader = await self._request()
        if mine := await self._mine(reader):
            chosen, name = self.random.choice(mine), self.random.choice(sorted(self.feeds))
            await change_subscription_url(self.env.tools, reader.user.id, chosen.id, self.feeds[name].url)

    async def _hide(self) -> None:
        reader, db, now = await self._request(), self.env.db, self.env.now
        kind = self.random.choice(("mute", "follow", "read"))
        if kind == "mute":
            await mute(db, reader.user.id, FilterSubject("word", "spam"), now)
        elif kind == "follow":
            await follow(db, reader.user.id, FilterSubject("word", "great"), now)
        else:
            draft = FilterDraft("read", "spam", actions=FilterActions(read=True))
            await create_filter(db, Caller(reader.user, frozenset(SCOPES)), draft, now)

    async def _stop_hiding(self) -> None:
        reader = await self._request()
        if own := await filters_of_user(self.env.db, reader.user.id):
            chosen, revert = self.random.choice(own).id, self.random.random() < 0.5
            await delete_filter(self.env.db, reader.user.id, chosen, self.env.now, revert=revert)
            await self._work()

    async def _apply_filter(self) -> None:
        reader = await self._request()
        if own := await filters_of_user(self.env.db, reader.user.id):
            db, user_id, chosen, now = self.env.db, reader.user.id, self.random.choice(own).id, self.env.now
            is_on, applies = self.random.random() < 0.5, self.random.random() < 0.5
            await enable_filter(db, user_id, chosen, now, enabled=is_on)
            # One that is off can't be applied.
            await (apply_backwards if is_on and applies else revert_filter)(db, user_id, chosen, now)
            # The job runs after others have published.
            await self._publish()
            await self._work()
            await enable_filter(db, user_id, chosen, now, enabled=True)

    async def _work(self) -> None:
        worker = FilterJobWorker(self.env.db, clock=lambda: self.env.now)
        while await worker.work():
            self.env.now += timedelta(seconds=1)

    async def _block(self) -> None:
        reader = await self._request()
        if mine := await self._mine(reader):
            rules = self.random.choice(("", "spam", "great"))
            await self.subscribers.settle(reader.user, self.random.choice(mine), block_rules=rules)

    async def _queue_digests(self) -> None:
        await queue_due_digests(OutboundTools(self.env.db, self.env.client, lambda: self.env.now))

    # --- what readers see -----------------------------------------------------------------------------------

    async def _look_around(self) -> None:
        await self._look(await self._request())

    async def _look(self, reader: Reader) -> None:
        assert await caller_of_api_key(self.env.db, reader.secret, self.env.now) is not None
        self.seen.append(await self._view(reader))
        page = await list_entries(self.env.db, reader.user.id, EntryListQuery(), self.env.now)
        reader.as_of = page.as_of

    async def _view(self, reader: Reader) -> dict[str, Any]:
        db, user_id, now = self.env.db, reader.user.id, self.env.now
        mine = sorted(each.id for each in await self._mine(reader))
        counts = await unread_counts_of_user(db, user_id)
        slow = await count_labels_and_searches(db, user_id, now)
        found = await run_search(db, user_id, SearchRequest("is:unread", order="date", most=100), now)
        rows = select(unread.c.entry_id, unread.c.subscription_id).join(
            users, users.c.unread_list_id == unread.c.list_id
        )
        held = await db.query(rows.where(users.c.id == user_id))
        digests = await self.env.rows(notifications)
        return {
            "name": reader.user.name,
            "lists": {view: _shown(await self._listed(reader, view)) for view in EntryView},
            "by feed": [_shown((await self._of(reader, EntryScope((id,)))).items) for id in mine],
            "several": _shown((await self._of(reader, EntryScope(tuple(mine)))).items),
            "labelled": _shown((await self._of(reader, EntryScope(None, reader.label))).items),
            "once": _shown((await self._of(reader, EntryScope(), stories_once=True, raised_first=5)).items),
            "raised": _shown((await list_raised(db, user_id, EntryListQuery(), now)).items),
            "counts": (counts.unread, [counts.feeds.get(id) for id in mine], sorted(counts.folders.values())),
            "subscriptions": sorted((each.feed_title or "", each.unread_count) for each in await self._mine(reader)),
            "slow counts": (list(slow.labels.values()), list(slow.searches.values())),
            "today": await count_today_and_later(db, user_id, now - DAY, now),
            "sum": (await unread_sums_of_users(db, [user_id])).get(user_id, 0),
            "news": await count_news(db, user_id, EntryListQuery(), reader.as_of),
            "found": _shown(found.items),
            "ids": self._numbered(await list_entry_ids(db, user_id, EntryView.UNREAD, EntryScope(), 0, 1000, now)),
            "synced": self._numbered(await find_sync_ids(db, user_id, SyncQuery(unread=True))),
            "read": self._numbered(await find_sync_ids(db, user_id, SyncQuery(unread=False))),
            "rows": sorted((row["entry_id"] - self.first_id, mine.index(row["subscription_id"])) for row in held),
            "digests": sorted(self._numbered(json.loads(row["entry_ids"])) for row in digests),
        }

    async def _of(self, reader: Reader, scope: EntryScope, **more: Any) -> Any:
        query = EntryListQuery(scope=scope, most=100, **more)
        return await list_entries(self.env.db, reader.user.id, query, self.env.now)


def _shown(listed: Sequence[EntrySummary]) -> list[Any]:
    return [
        (entry.feed_title, entry.title, entry.unread, entry.read_at, entry.starred, entry.raised) for entry in listed
    ]


async def counts_that_are_wrong(env: RefreshEnvironment) -> list[Any]:
    """The subscriptions whose unread count is not the number of their rows, and the rows of entries that are gone."""
    held = (
        select(func.count())
        .select_from(unread.join(users, users.c.unread_list_id == unread.c.list_id))
        .where(unread.c.subscription_id == subscriptions.c.id)
        .scalar_subquery()
    )
    wrong = select(subscriptions.c.id).where(subscriptions.c.unread_count != held)
    gone = select(unread.c.entry_id).where(unread.c.entry_id.not_in(select(entries.c.id)))
    return [*await env.db.query(wrong), *await env.db.query(gone)]
