"""A WebSub hub is told of output feeds with new entries: after they are stored, at least once, and of nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from urllib.parse import parse_qs

from sqlalchemy import select

from feedmill.collect.refresh import RefreshWriters
from feedmill.library.outbound_tools import OutboundTools
from feedmill.library.output_feeds.announce import MAX_ATTEMPTS, FeedAnnouncer
from feedmill.library.output_feeds.manage_output_feeds import create_output_feed, revoke_output_feed
from feedmill.model.feed import Feed
from feedmill.model.syndication.output_feed import OutputFeed, OutputList, OutputListKind
from feedmill.model.timestamps import from_iso
from feedmill.model.user import Caller, User
from feedmill.outbound.address_policy import AddressPolicy
from feedmill.store.leases import LEASE
from feedmill.store.output_feeds.announcements import take_announcements
from feedmill.store.schema import output_feed_changes, output_feeds
from feedmill.store.users.users import add_user
from tests.flows.refresh_environment import ENCRYPTION, HOUR, RefreshEnvironment, answer, item
from tests.library.webhooks.webhook_setup import open_client
from tests.scripted_web import Answer, ClientConnection, ReceivedRequest

SITE = "https://feeds.example.org"
OK, BROKEN = Answer(status=204), Answer(status=500)


@dataclass
class Publisher:
    """Alice, who announces an output feed of all her entries, and a hub."""

    env: RefreshEnvironment
    announcer: FeedAnnouncer
    feed: Feed
    alice: User
    secret: str
    output_feed: OutputFeed

    async def publish(self, *names: str) -> None:
        """The feed has these entries, and is refreshed."""
        await self.env.later(HOUR, self.feed, answer(*(item(name) for name in names)))

    def topics(self) -> list[str]:
        """The addresses that the hub was told of."""
        return [parse_qs(seen.body.decode())["hub.url"][0] for seen in self.env.web.seen("/hub")]

    @property
    def addresses(self) -> list[str]:
        return [f"{SITE}/output-feeds/{self.secret}/{file}" for file in ("atom.xml", "feed.json")]

    async def waiting(self) -> int:
        return len(await self.env.rows(output_feed_changes))


async def publisher(env: RefreshEnvironment, hub: object = OK) -> Publisher:
    hub_url = env.web.serve("/hub", hub)
    tools = OutboundTools(env.db, env.client, lambda: env.now)
    announcer = FeedAnnouncer(tools, ENCRYPTION, hub_url, SITE)
    env.tools = replace(env.tools, writers=RefreshWriters(output_feeds=announcer.announcement_writes))
    feed = await env.add("/feed", answer(item("old")))
    alice = await add_user(env.db, "alice", None, False, env.now)
    await env.subscribe(alice.id, feed)
    await env.refresh(feed)
    everything = OutputList(OutputListKind.ALL)
    secret, made = await create_output_feed(env.db, _caller(alice), everything, "All", env.now, ENCRYPTION)
    return Publisher(env, announcer, feed, alice, secret, made)


def _caller(user: User) -> Caller:
    return Caller(user, user.scopes)


async def test_the_hub_is_told_both_addresses_once_after_new_entries(any_env: RefreshEnvironment) -> None:
    alices = await publisher(any_env)

    await alices.publish("old", "new")
    told = [await alices.announcer.announce() for _ in range(3)]

    assert told == [1, 0, 0]
    assert alices.topics() == alices.addresses
    [seen, _] = any_env.web.seen("/hub")
    assert seen.headers["content-type"] == "application/x-www-form-urlencoded"
    assert parse_qs(seen.body.decode())["hub.mode"] == ["publish"]


async def test_nothing_is_told_without_new_entries_or_of_feeds_of_others(env: RefreshEnvironment) -> None:
    alices = await publisher(env)
    other = await env.add("/other", answer(item("other")))
    charlie = await add_user(env.db, "charlie", None, False, env.now)
    await env.subscribe(charlie.id, other)

    await alices.publish("old")
    await env.refresh(other)

    assert await alices.announcer.announce() == 0
    assert alices.topics() == []


async def test_a_feed_that_looks_the_same_is_not_told_again(env: RefreshEnvironment) -> None:
    """Entries of another feed of the user are not in this one."""
    alices = await publisher(env)
    other = await env.add("/other", answer(item("other")))
    subscription = await env.subscribe(alices.alice.id, other)
    alone = OutputList(OutputListKind.FEED, subscription)
    await create_output_feed(env.db, _caller(alices.alice), alone, None, env.now, ENCRYPTION)
    await env.refresh(other)
    await alices.announcer.announce()
    told = len(alices.topics())

    await alices.publish("old", "new")
    await alices.announcer.announce()

    assert told == 4
    assert alices.topics()[4:] == alices.addresses


async def test_a_hub_that_is_down_is_told_later_and_given_up_until_the_next_entries(env: RefreshEnvironment) -> None:
    alices = await publisher(env, BROKEN)
    await alices.publish("old", "new")

    waits = []
    while await alices.waiting():
        await alices.announcer.announce()
        [row] = await env.db.query(select(output_feeds.c.next_attempt_at))
        again_at = from_iso(row["next_attempt_at"])
        waits.append((again_at - env.now).total_seconds() / 60)
        assert await alices.announcer.announce() == 0
        env.now = again_at

    assert waits[:7] == [1, 2, 4, 8, 16, 32, 60]
    assert len(waits) == MAX_ATTEMPTS
    env.web.serve("/hub", OK)
    await alices.publish("old", "new", "newer")
    await alices.announcer.announce()
    assert alices.topics()[-2:] == alices.addresses


async def test_a_process_that_dies_leaves_it_to_the_next(env: RefreshEnvironment) -> None:
    alices = await publisher(env)
    await alices.publish("old", "new")

    # As after a kill: the lease was taken, and nothing was recorded.
    from_dead = await _take(alices)
    at_once = await alices.announcer.announce()
    env.now += LEASE + timedelta(seconds=1)

    assert (len(from_dead), at_once) == (1, 0)
    assert await alices.announcer.announce() == 1
    assert alices.topics() == alices.addresses


async def test_entries_that_arrive_while_the_hub_is_told_are_told_too(env: RefreshEnvironment) -> None:
    alices = await publisher(env)
    heard = 0

    async def hub(seen: ReceivedRequest, wire: ClientConnection) -> None:
        nonlocal heard
        heard += 1
        if heard == 1:
            await alices.publish("old", "new", "newer")
        await wire.send(OK.encode())

    env.web.serve("/hub", hub)
    await alices.publish("old", "new")

    assert [await alices.announcer.announce() for _ in range(3)] == [1, 1, 0]
    assert len(alices.topics()) == 4


async def test_a_revoked_feed_is_not_told_and_its_secret_is_gone(env: RefreshEnvironment) -> None:
    alices = await publisher(env)
    await alices.publish("old", "new")

    await revoke_output_feed(env.db, _caller(alices.alice), alices.output_feed.id, env.now)

    assert await alices.announcer.announce() == 0
    [row] = await env.rows(output_feeds)
    assert row["announced_secret"] is None


async def test_without_a_hub_refreshes_write_nothing(env: RefreshEnvironment) -> None:
    alices = await publisher(env)
    alices.announcer.hub_url = ""

    await alices.publish("old", "new")

    assert await alices.waiting() == 0
    assert await alices.announcer.announce() == 0


async def test_a_hub_at_a_private_address_is_refused(env: RefreshEnvironment) -> None:
    alices = await publisher(env)
    await alices.publish("old", "new")
    async with open_client(AddressPolicy([])) as client:
        alices.announcer.tools = OutboundTools(env.db, client, lambda: env.now)

        assert await alices.announcer.announce() == 1

    assert alices.topics() == []
    assert await alices.waiting() == 1


async def _take(alices: Publisher) -> Sequence[object]:
    _, taken = await take_announcements(alices.env.db, alices.env.now, 10)
    return taken
