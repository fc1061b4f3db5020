"""A host that an admin blocked: it is never requested, its feeds pause with a reason, and unblocking resumes them."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from feedmill.coordination.memory import MemoryHostSlots
from feedmill.errors import BadInput, NotFound
from feedmill.i18n.messages import Message, verbatim
from feedmill.library.admin.blocked_hosts import BlockResult, block_host, parse_blocked_host, unblock_host
from feedmill.model.feed import Feed
from feedmill.model.fetch_options import FetchOptions
from feedmill.model.fetch_outcome import Refused, Response
from feedmill.model.refresh import Failed, FetchStats, Postponed, Schedule, Updated
from feedmill.model.timestamps import to_iso
from feedmill.model.user import Actor
from feedmill.outbound.address_policy import AddressPolicy
from feedmill.outbound.blocked_hosts import CACHE_SECONDS, BlockedHosts
from feedmill.outbound.client import Client
from feedmill.outbound.host_pacing import Pacer
from feedmill.store.admin.audit_log import audit_log_page
from feedmill.store.admin.blocked_hosts import BLOCKED_HOST_REASON, count_feeds_under_host
from feedmill.store.database import Database
from feedmill.store.feeds.apply_subscriber_settings import NO_SUBSCRIBERS_REASON
from feedmill.store.feeds.lifecycle import stop_feed
from feedmill.store.feeds.record_refresh import ClaimLost, record_refresh
from tests.flows.conftest import PATIENT, open_environment
from tests.flows.refresh_environment import RefreshEnvironment, answer, item
from tests.scripted_web import Answer, ScriptedResolver

HOST = "news.example.org"
ADMIN = Actor(7, "192.0.2.7")


class HostBlocking:
    """An environment whose client checks the list of blocked hosts; `clock` is that of the check."""

    def __init__(self, env: RefreshEnvironment) -> None:
        self.env = env
        self.clock = 0.0
        self.blocks = BlockedHosts(env.db, lambda: self.clock)
        policy = AddressPolicy(["127.0.0.0/8"])
        pacer = Pacer(MemoryHostSlots(), gap=timedelta())
        names = ScriptedResolver()
        for host in (HOST, "example.org", "example.com", "badexample.org"):
            names.say(host, ["127.0.0.1"])
        env.client = Client(pacer, policy, "feedmill-test", PATIENT, resolver=names, blocklist=self.blocks)
        env.build_tools()

    async def block(self, text: str = HOST) -> BlockResult:
        return await block_host(self.env.db, self.blocks, text, ADMIN, self.env.now)

    async def unblock(self, text: str = HOST) -> BlockResult:
        return await unblock_host(self.env.db, self.blocks, text, ADMIN, self.env.now)

    async def feed(self, host: str = HOST, path: str = "/feed") -> Feed:
        self.env.web.serve(path, answer(item("a")))
        return await self.env.add(path, host=host)


@pytest.fixture
async def any_blocking(any_db: Database, tmp_path: Path) -> AsyncIterator[HostBlocking]:
    async with open_environment(any_db, tmp_path) as env:
        blocking = HostBlocking(env)
        yield blocking
        await env.client.close()


@pytest.fixture
async def blocking(env: RefreshEnvironment) -> AsyncIterator[HostBlocking]:
    made = HostBlocking(env)
    yield made
    await env.client.close()


async def test_blocked_feeds_rest_and_say_why_until_the_block_is_lifted(any_blocking: HostBlocking) -> None:
    env = any_blocking.env
    there, elsewhere = await any_blocking.feed(), await any_blocking.feed("example.com", "/other")

    assert await any_blocking.block() == BlockResult(HOST, 1)

    resting = await env.feed(there)
    assert (resting.next_fetch_at, resting.next_fetch_why, resting.last_error_kind) == (
        None,
        BLOCKED_HOST_REASON,
        "blocked",
    )
    assert (await env.feed(elsewhere)).next_fetch_at is not None
    assert await any_blocking.unblock() == BlockResult(HOST, 1)
    again = await env.feed(there)
    assert (again.next_fetch_at, again.last_error, again.last_error_kind) == (env.now, None, None)
    assert isinstance(await env.refresh(there), Updated)
    deeds = [(deed.user_id, deed.action, deed.subject) for deed in await audit_log_page(env.db, 2**53 - 1, 5)]
    assert deeds == [(7, "host.unblock", HOST), (7, "host.block", HOST)]


async def test_nobody_asks_a_blocked_host_whatever_leads_there(blocking: HostBlocking) -> None:
    there = await blocking.feed()
    await blocking.block()
    redirect = blocking.env.web.serve("/away", Answer(b"", 302, {"Location": there.url}))

    direct = await blocking.env.client.get(there.url)
    through = await blocking.env.client.get(redirect)

    assert isinstance(direct, Refused)
    assert isinstance(through, Refused)
    assert (direct.kind, direct.detail, through.kind) == ("blocked", BLOCKED_HOST_REASON, "blocked")
    assert [request.path for request in blocking.env.web.requests] == ["/away"]


async def test_a_feed_that_is_refreshed_by_hand_is_refused_and_rests_without_blame(blocking: HostBlocking) -> None:
    await blocking.block()
    there = await blocking.feed()

    decision = await blocking.env.refresh(there)

    assert isinstance(decision, Failed)
    resting = await blocking.env.feed(there)
    assert (resting.next_fetch_at, resting.next_fetch_why, resting.consecutive_failures) == (
        None,
        BLOCKED_HOST_REASON,
        0,
    )
    assert not blocking.env.web.requests
    assert await blocking.unblock() == BlockResult(HOST, 1)


async def test_a_feed_that_is_sent_to_a_blocked_host_fails_and_is_tried_again(blocking: HostBlocking) -> None:
    there = await blocking.feed()
    await blocking.block()
    moved = await blocking.env.add("/moved", Answer(b"", 302, {"Location": there.url}))

    await blocking.env.refresh(moved)

    failing = await blocking.env.feed(moved)
    assert (failing.last_error_kind, failing.consecutive_failures) == ("refused", 1)
    assert failing.next_fetch_at is not None


async def test_hosts_below_a_blocked_one_are_blocked_with_it_and_names_that_only_look_alike_are_not(
    blocking: HostBlocking,
) -> None:
    for number, host in enumerate(("example.org", HOST, "badexample.org", "example.org.evil.test")):
        await blocking.feed(host, f"/{number}")

    assert await count_feeds_under_host(blocking.env.db, "example.org") == {"example.org": 1, HOST: 1}
    assert (await blocking.block("example.org")).feeds == 2
    assert isinstance(await blocking.env.client.get(blocking.env.web.url("/2", "badexample.org")), Response)


async def test_what_another_block_covers_stays_at_rest(blocking: HostBlocking) -> None:
    there = await blocking.feed()
    await blocking.block("example.org")
    await blocking.block(HOST)

    assert (await blocking.unblock("example.org")).feeds == 0
    assert (await blocking.env.feed(there)).next_fetch_at is None
    assert (await blocking.unblock(HOST)).feeds == 1


async def test_unblocking_wakes_neither_what_a_person_switched_off_nor_what_nobody_reads(
    blocking: HostBlocking,
) -> None:
    env = blocking.env
    paused, left = await blocking.feed(path="/paused"), await blocking.feed(path="/left")
    await env.change(left, added_by_person=0)
    await blocking.block()
    await stop_feed(env.db, paused.id, Message("schedule.paused_by_admin"))

    await blocking.unblock()

    assert str((await env.feed(paused)).next_fetch_why) == "paused by an admin"
    assert ((await env.feed(left)).next_fetch_at, (await env.feed(left)).next_fetch_why) == (
        None,
        NO_SUBSCRIBERS_REASON,
    )


async def test_a_refresh_that_runs_while_its_host_is_blocked_writes_nothing(blocking: HostBlocking) -> None:
    there, env = await blocking.feed(), blocking.env
    claim = await env.claim(there)
    await blocking.block()

    with pytest.raises(ClaimLost):
        await record_refresh(env.db, claim, Postponed(Schedule(env.now, verbatim("its host is busy"))))

    assert (await env.feed(there)).next_fetch_why == BLOCKED_HOST_REASON


async def test_one_that_was_refused_just_before_the_block_is_lifted_does_not_rest(blocking: HostBlocking) -> None:
    there, env = await blocking.feed(), blocking.env
    await blocking.block()
    await env.change(there, next_fetch_at=to_iso(env.now))
    claim = await env.claim(there)
    refused = Failed(
        FetchStats(env.now, timedelta()),
        Schedule(None, BLOCKED_HOST_REASON),
        "blocked",
        BLOCKED_HOST_REASON,
        counted=False,
    )
    await blocking.unblock()

    with pytest.raises(ClaimLost):
        await record_refresh(env.db, claim, refused)

    assert (await env.feed(there)).next_fetch_at == env.now


async def test_another_process_learns_of_a_block_within_seconds_and_of_its_end_at_once(blocking: HostBlocking) -> None:
    there, env = await blocking.feed(), blocking.env
    other = BlockedHosts(env.db)
    assert isinstance(await env.client.get(there.url), Response)

    await block_host(env.db, other, HOST, ADMIN, env.now)
    blocking.clock += CACHE_SECONDS
    assert isinstance(await env.client.get(there.url), Refused)
    await unblock_host(env.db, other, HOST, ADMIN, env.now)

    assert isinstance(await env.client.get(there.url), Response)


async def test_a_proxy_on_a_blocked_host_is_not_asked(blocking: HostBlocking) -> None:
    there = await blocking.feed("example.com")
    await blocking.block()

    refused = await blocking.env.client.get(there.url, options=FetchOptions(proxy=blocking.env.web.url("/", HOST)))

    assert isinstance(refused, Refused)
    assert (refused.kind, str(refused.detail)) == ("options", "the host of its proxy is blocked by an admin")


@pytest.mark.parametrize(
    ("typed", "host"),
    [
        (" News.Example.ORG ", HOST),
        ("https://news.example.org/feed?x=1", HOST),
        ("news.example.org.", HOST),
        ("bücher.example", "xn--bcher-kva.example"),
        ("0x7f.1", "127.0.0.1"),
        ("[::1]", "::1"),
    ],
)
def test_a_host_is_read_from_whatever_was_typed(typed: str, host: str) -> None:
    assert parse_blocked_host(typed) == host


@pytest.mark.parametrize("typed", ["", "   ", "two words", "http://", "ftp://example.org/", "a\\b", "x" * 300])
def test_what_is_no_host_is_said_to_be_none(typed: str) -> None:
    with pytest.raises(BadInput):
        parse_blocked_host(typed)


async def test_what_is_not_blocked_can_not_be_unblocked(blocking: HostBlocking) -> None:
    with pytest.raises(NotFound):
        await blocking.unblock()
