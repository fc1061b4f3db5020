"""One request at a time to a host, with a gap between two, and a pause where a server asks for it."""

import asyncio
import itertools
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from redis.asyncio import Redis

from feedmill.coordination.host_slots import HostSlotRule
from feedmill.coordination.memory import MemoryHostSlots
from feedmill.coordination.redis_client import connect
from feedmill.coordination.redis_slots_and_locks import RedisHostSlots, host_key
from feedmill.model.fetch_outcome import Deferred, Response, Throttled
from feedmill.outbound.client import Client
from feedmill.outbound.host_pacing import HostBusy, Pacer, registrable_domain
from feedmill.outbound.urls import parse_url
from tests.outbound.conftest import LoopbackIsPublic, MakeClient
from tests.scripted_web import Answer, ClientConnection, ReceivedRequest, ScriptedResolver, Web
from tests.services.server import Service
from tests.virtual_time import in_virtual_time, let_pass, virtual_now
from tests.waiting import LONGEST_WAIT, until

GAP = timedelta(milliseconds=150)
# A request with such a wait is not sent while the test runs.
HOUR = timedelta(hours=1)


class NotingTurns(MemoryHostSlots):
    """Records which hosts were asked for a turn, and when by its own clock each turn was given."""

    def __init__(self) -> None:
        super().__init__(self._read_clock)
        self.asked: list[str] = []
        self.given: list[tuple[str, float]] = []

    def _read_clock(self) -> float:
        self._now = time.monotonic()
        return self._now

    async def take(self, host: str, token: str, rule: HostSlotRule, pauses: Sequence[str] = ()) -> timedelta:
        wait = await super().take(host, token, rule, pauses)
        self.asked.append(host)
        if not wait:
            self.given.append((host, self._now))
        return wait

    def gaps(self, host: str) -> list[timedelta]:
        times = [at for given, at in self.given if given == host]
        return [timedelta(seconds=later - earlier) for earlier, later in itertools.pairwise(times)]


@pytest.fixture
def turns() -> NotingTurns:
    return NotingTurns()


@pytest.fixture
def pacer(turns: NotingTurns) -> Pacer:
    return Pacer(turns, gap=GAP)


@pytest.fixture
def public(make_client: MakeClient, pacer: Pacer) -> Client:
    """A client that treats loopback as the public Internet, with a short gap."""
    return make_client(LoopbackIsPublic(), pacer)


async def test_requests_to_one_host_keep_the_gap(web: Web, public: Client, turns: NotingTurns) -> None:
    web.serve("/", Answer(b"x"))

    outcomes = await asyncio.gather(*(public.get(web.url("/")) for _ in range(4)))

    assert all(isinstance(outcome, Response) for outcome in outcomes)
    assert len(turns.gaps("127.0.0.1")) == 3
    assert min(turns.gaps("127.0.0.1")) >= GAP
    assert all(seen.at >= at for seen, (_, at) in zip(web.requests, turns.given, strict=True))


@in_virtual_time
async def test_requests_to_one_host_never_overlap() -> None:
    pacer, slots, target = (
        Pacer(MemoryHostSlots(virtual_now), GAP),
        asyncio.Semaphore(10),
        parse_url("http://host.example/"),
    )
    times: list[tuple[float, float]] = []

    async def request() -> None:
        async with pacer.turn(target, slots, HOUR):
            began = virtual_now()
            await let_pass(2 * GAP.total_seconds())
            times.append((began, virtual_now()))

    await asyncio.gather(*(request() for _ in range(3)))

    assert len(times) == 3
    assert all(ended <= began for (_, ended), (began, _) in itertools.pairwise(times))


async def test_other_hosts_do_not_wait(web: Web, make_client: MakeClient) -> None:
    web.serve("/", Answer(b"x"))
    client = make_client(LoopbackIsPublic(), Pacer(MemoryHostSlots(), gap=HOUR))

    outcomes = await asyncio.gather(*(client.get(web.url("/", f"127.0.1.{number}")) for number in range(1, 16)))

    assert all(isinstance(outcome, Response) for outcome in outcomes)


async def test_hosts_that_the_operator_allowed_are_not_paced(web: Web, make_client: MakeClient) -> None:
    web.serve("/", Answer(b"x"))
    client = make_client(pacer=Pacer(MemoryHostSlots(), gap=HOUR))

    outcomes = await asyncio.gather(*(client.get(web.url("/")) for _ in range(3)))

    assert all(isinstance(outcome, Response) for outcome in outcomes)


async def test_a_redirect_takes_a_turn_at_its_own_host(web: Web, public: Client, turns: NotingTurns) -> None:
    web.serve("/", Answer(status=302, headers={"Location": "/next"}))
    web.serve("/next", Answer(b"x"))

    await public.get(web.url("/"))

    assert [request.path for request in web.requests] == ["/", "/next"]
    [gap] = turns.gaps("127.0.0.1")
    assert gap >= GAP


async def test_all_names_ports_and_clients_share_the_turns_of_a_host(
    web: Web, names: ScriptedResolver, pacer: Pacer, turns: NotingTurns, make_client: MakeClient
) -> None:
    names.say("feeds.example", ["127.0.0.1"])
    feeds, images = make_client(LoopbackIsPublic(), pacer), make_client(LoopbackIsPublic(), pacer)
    async with Web() as other:
        await asyncio.gather(
            feeds.get(f"http://feeds.example:{web.port}/"),
            images.get(f"http://FEEDS.example.:{other.port}/"),
        )

    assert (len(web.requests), len(other.requests)) == (1, 1)
    [gap] = turns.gaps("feeds.example")
    assert gap >= GAP


async def test_a_turn_that_is_too_far_away_is_deferred_at_once(
    web: Web, turns: NotingTurns, make_client: MakeClient
) -> None:
    web.serve("/", Answer(b"x"))
    client = make_client(LoopbackIsPublic(), Pacer(turns, gap=HOUR))
    await client.get(web.url("/"))

    outcome = await client.get(web.url("/"))

    assert isinstance(outcome, Deferred)
    assert HOUR / 2 < outcome.until - datetime.now(UTC) <= HOUR
    assert (len(turns.asked), len(web.requests)) == (2, 1)


@in_virtual_time
async def test_a_long_queue_at_one_host_defers_its_last_requests() -> None:
    pacer = Pacer(MemoryHostSlots(virtual_now), GAP, max_wait=3.5 * GAP)
    slots, target = asyncio.Semaphore(10), parse_url("http://host.example/")
    began: list[float] = []
    too_far: list[float] = []

    async def request() -> None:
        try:
            async with pacer.turn(target, slots, HOUR):
                began.append(virtual_now())
                await let_pass(GAP.total_seconds() / 10)
        except HostBusy:
            too_far.append(virtual_now())

    await asyncio.gather(*(request() for _ in range(10)))

    assert began == pytest.approx([number * GAP.total_seconds() for number in range(4)])
    assert too_far == [0] * 6


async def test_waiting_for_a_turn_takes_no_connection_slot_from_other_hosts(
    web: Web, turns: NotingTurns, make_client: MakeClient
) -> None:
    client = make_client(LoopbackIsPublic(), Pacer(turns, gap=HOUR, max_wait=10 * HOUR), at_once=1)
    web.serve("/", Answer(b"x"))
    waiting = [asyncio.create_task(client.get(web.url("/"))) for _ in range(8)]
    await until(lambda: len(turns.asked) == 2, otherwise="nobody waits for a turn")

    async with asyncio.timeout(LONGEST_WAIT):
        outcome = await client.get(web.url("/", "127.0.0.2"))

    assert isinstance(outcome, Response)
    assert [task.done() for task in waiting].count(True) == 1
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


async def test_a_cancelled_request_returns_its_turn_and_its_slot(
    web: Web, pacer: Pacer, make_client: MakeClient
) -> None:
    async def silent(seen: ReceivedRequest, wire: ClientConnection) -> None:
        await asyncio.Event().wait()

    client = make_client(LoopbackIsPublic(), pacer, at_once=1)
    stuck = asyncio.create_task(client.get(web.serve("/stuck", silent)))
    waiting = asyncio.create_task(client.get(web.url("/stuck")))
    await until(lambda: len(web.requests) == 1, otherwise="nobody asked")
    stuck.cancel()
    waiting.cancel()
    await asyncio.gather(stuck, waiting, return_exceptions=True)

    web.serve("/", Answer(b"x"))
    outcome = await client.get(web.url("/"))

    assert isinstance(outcome, Response)


async def test_429_pauses_every_host_of_the_domain(web: Web, names: ScriptedResolver, public: Client) -> None:
    for host in ("a.site.co.uk", "b.site.co.uk", "other.co.uk"):
        names.say(host, ["127.0.0.1"])
    web.serve("/busy", Answer(b"", 429, {"Retry-After": "3600"}))
    web.serve("/", Answer(b"x"))

    throttled = await public.get(f"http://a.site.co.uk:{web.port}/busy")
    sibling = await public.get(f"http://b.site.co.uk:{web.port}/")
    stranger = await public.get(f"http://other.co.uk:{web.port}/")

    assert isinstance(throttled, Throttled)
    assert isinstance(sibling, Deferred)
    assert abs(sibling.until - throttled.until) < timedelta(seconds=5)
    assert isinstance(stranger, Response)


async def test_503_pauses_only_the_url(web: Web, public: Client) -> None:
    web.serve("/down", Answer(b"", 503, {"Retry-After": "3600"}))
    web.serve("/", Answer(b"x"))

    await public.get(web.url("/down"))

    assert isinstance(await public.get(web.url("/down")), Deferred)
    assert isinstance(await public.get(web.url("/")), Response)


async def test_a_short_pause_of_one_url_does_not_delay_its_host(web: Web, public: Client) -> None:
    web.serve("/down", Answer(b"", 503, {"Retry-After": "25"}))
    web.serve("/", Answer(b"x"))
    await public.get(web.url("/down"))

    paused, other = await asyncio.gather(public.get(web.url("/down")), public.get(web.url("/")))

    assert isinstance(paused, Deferred)
    assert isinstance(other, Response)
    assert len(web.seen("/down")) == 1


class NotingRedisTurns(RedisHostSlots):
    """The earliest time of the next turn, in milliseconds of Redis's clock."""

    def __init__(self, client: Redis, next_at: list[int]) -> None:
        super().__init__(client)
        self._redis, self._next_at = client, next_at

    async def take(self, host: str, token: str, rule: HostSlotRule, pauses: Sequence[str] = ()) -> timedelta:
        wait = await super().take(host, token, rule, pauses)
        if not wait:
            self._next_at.append(int(await self._redis.hget(host_key(host), "next_at") or 0))
        return wait


async def test_processes_that_share_redis_keep_the_gap_together(
    web: Web, redis_service: Service, make_client: MakeClient
) -> None:
    web.serve("/", Answer(b"x"))
    connection = connect(redis_service.url)
    await connection.flushdb()
    next_at: list[int] = []
    pacers = [Pacer(NotingRedisTurns(connection, next_at), GAP) for _ in range(3)]
    clients = [make_client(LoopbackIsPublic(), pacer) for pacer in pacers]

    outcomes = await asyncio.gather(*(client.get(web.url("/")) for client in clients))
    await connection.aclose()

    assert all(isinstance(outcome, Response) for outcome in outcomes)
    assert len(next_at) == 3
    assert min(later - earlier for earlier, later in itertools.pairwise(next_at)) >= GAP / timedelta(milliseconds=1)
    assert web.most_at_once == 1


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("example.com", "example.com"),
        ("a.b.example.com", "example.com"),
        ("a.site.co.uk", "site.co.uk"),
        ("alice.github.io", "alice.github.io"),
        ("co.uk", "co.uk"),
        ("localhost", "localhost"),
        ("nas.lan", "nas.lan"),
        ("xn--bcher-kva.example.de", "example.de"),
    ],
)
def test_a_domain_is_the_registrable_domain(host: str, domain: str) -> None:
    assert registrable_domain(host) == domain
