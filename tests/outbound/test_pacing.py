"""One request at a time and a gap between two to one host; rest where a server wants it."""

import asyncio
import itertools
import time
from datetime import UTC, datetime, timedelta

import pytest

from feedmill.coordination.memory import MemoryTurns
from feedmill.coordination.redis import RedisTurns, connect
from feedmill.model.outcome import Deferred, Response, Throttled
from feedmill.outbound.client import Client
from feedmill.outbound.pacing import Pacer, registrable_domain
from tests.outbound.conftest import LoopbackIsPublic, MakeClient
from tests.services.server import Service
from tests.www import Answer, ScriptedNames, Seen, Web, Wire

GAP = timedelta(milliseconds=150)


@pytest.fixture
def pacer() -> Pacer:
    return Pacer(MemoryTurns(), gap=GAP)


@pytest.fixture
def public(make_client: MakeClient, pacer: Pacer) -> Client:
    """A client for which loopback is the public Internet, with a short gap."""
    return make_client(LoopbackIsPublic(), pacer)


def gaps(web: Web) -> list[float]:
    times = [request.at for request in web.requests]
    return [later - earlier for earlier, later in itertools.pairwise(times)]


async def test_requests_to_one_host_keep_their_distance(web: Web, public: Client) -> None:
    web.serve("/", Answer(b"x"))

    outcomes = await asyncio.gather(*(public.get(web.url("/")) for _ in range(4)))

    assert all(isinstance(outcome, Response) for outcome in outcomes)
    assert min(gaps(web)) >= 0.12


async def test_requests_to_one_host_never_overlap(web: Web, public: Client) -> None:
    async def slow(seen: Seen, wire: Wire) -> None:
        await asyncio.sleep(0.2)
        await wire.send(Answer(b"x").encode())

    web.serve("/", slow)

    await asyncio.gather(*(public.get(web.url("/")) for _ in range(3)))

    assert web.most_at_once == 1


async def test_other_hosts_need_not_wait(web: Web, public: Client) -> None:
    web.serve("/", Answer(b"x"))
    started = time.monotonic()

    await asyncio.gather(*(public.get(web.url("/", f"127.0.1.{number}")) for number in range(1, 16)))

    assert time.monotonic() - started < 1


async def test_hosts_that_the_operator_allowed_are_not_paced(web: Web, make_client: MakeClient) -> None:
    web.serve("/", Answer(b"x"))
    client = make_client(pacer=Pacer(MemoryTurns(), gap=timedelta(seconds=20)))

    outcomes = await asyncio.gather(*(client.get(web.url("/")) for _ in range(3)))

    assert all(isinstance(outcome, Response) for outcome in outcomes)


async def test_a_hop_takes_its_turn_at_its_own_host(web: Web, public: Client) -> None:
    web.serve("/", Answer(status=302, headers={"Location": "/next"}))
    web.serve("/next", Answer(b"x"))

    await public.get(web.url("/"))

    assert min(gaps(web)) >= 0.12


async def test_all_names_ports_and_clients_share_the_turns_of_a_host(
    web: Web, names: ScriptedNames, pacer: Pacer, make_client: MakeClient
) -> None:
    names.say("feeds.example", ["127.0.0.1"])
    feeds, images = make_client(LoopbackIsPublic(), pacer), make_client(LoopbackIsPublic(), pacer)
    async with Web() as other:
        await asyncio.gather(
            feeds.get(f"http://feeds.example:{web.port}/"),
            images.get(f"http://FEEDS.example.:{other.port}/"),
        )

    assert abs(web.requests[0].at - other.requests[0].at) >= 0.12


async def test_a_turn_that_is_too_far_away_is_deferred_at_once(web: Web, make_client: MakeClient) -> None:
    web.serve("/", Answer(b"x"))
    pacer = Pacer(MemoryTurns(), gap=timedelta(seconds=60))
    client = make_client(LoopbackIsPublic(), pacer)
    await client.get(web.url("/"))
    started = time.monotonic()

    outcome = await client.get(web.url("/"))

    assert isinstance(outcome, Deferred)
    assert timedelta(seconds=50) < outcome.until - datetime.now(UTC) <= timedelta(seconds=60)
    assert time.monotonic() - started < 0.5
    assert len(web.requests) == 1


async def test_a_long_line_at_one_host_defers_those_at_its_end(web: Web, make_client: MakeClient) -> None:
    web.serve("/", Answer(b"x"))
    client = make_client(LoopbackIsPublic(), Pacer(MemoryTurns(), GAP, patience=3 * GAP))

    outcomes = await asyncio.gather(*(client.get(web.url("/")) for _ in range(10)))

    fetched = [outcome for outcome in outcomes if isinstance(outcome, Response)]
    deferred = [outcome for outcome in outcomes if isinstance(outcome, Deferred)]
    assert 2 <= len(fetched) <= 4
    assert len(fetched) + len(deferred) == 10


async def test_waiting_for_a_turn_takes_no_place_from_other_hosts(
    web: Web, pacer: Pacer, make_client: MakeClient
) -> None:
    client = make_client(LoopbackIsPublic(), pacer, at_once=2)
    web.serve("/", Answer(b"x"))
    waiting = [asyncio.create_task(client.get(web.url("/"))) for _ in range(8)]
    await asyncio.sleep(0.05)
    started = time.monotonic()

    await client.get(web.url("/", "127.0.0.2"))

    assert time.monotonic() - started < 0.1
    await asyncio.gather(*waiting)


async def test_a_cancelled_request_gives_back_its_turn_and_its_place(
    web: Web, pacer: Pacer, make_client: MakeClient
) -> None:
    async def silent(seen: Seen, wire: Wire) -> None:
        await asyncio.sleep(60)

    client = make_client(LoopbackIsPublic(), pacer, at_once=1)
    stuck = asyncio.create_task(client.get(web.serve("/stuck", silent)))
    waiting = asyncio.create_task(client.get(web.url("/stuck")))
    await asyncio.sleep(0.05)
    stuck.cancel()
    waiting.cancel()
    await asyncio.gather(stuck, waiting, return_exceptions=True)

    web.serve("/", Answer(b"x"))
    outcome = await client.get(web.url("/"))

    assert isinstance(outcome, Response)


async def test_429_rests_every_host_of_the_domain(web: Web, names: ScriptedNames, public: Client) -> None:
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


async def test_503_rests_the_url_alone(web: Web, public: Client) -> None:
    web.serve("/down", Answer(b"", 503, {"Retry-After": "3600"}))
    web.serve("/", Answer(b"x"))

    await public.get(web.url("/down"))

    assert isinstance(await public.get(web.url("/down")), Deferred)
    assert isinstance(await public.get(web.url("/")), Response)


async def test_a_short_rest_of_one_url_does_not_hold_up_its_host(web: Web, public: Client) -> None:
    web.serve("/down", Answer(b"", 503, {"Retry-After": "2"}))
    web.serve("/", Answer(b"x"))
    await public.get(web.url("/down"))
    started = time.monotonic()

    paused, other = await asyncio.gather(public.get(web.url("/down")), public.get(web.url("/")))

    assert isinstance(paused, Deferred)
    assert isinstance(other, Response)
    assert time.monotonic() - started < 1


async def test_processes_that_share_redis_keep_their_distance_together(
    web: Web, redis_service: Service, make_client: MakeClient
) -> None:
    web.serve("/", Answer(b"x"))
    connection = connect(redis_service.url)
    await connection.flushdb()
    clients = [make_client(LoopbackIsPublic(), Pacer(RedisTurns(connection), GAP)) for _ in range(3)]

    outcomes = await asyncio.gather(*(client.get(web.url("/")) for client in clients))
    await connection.aclose()

    assert all(isinstance(outcome, Response) for outcome in outcomes)
    assert min(gaps(web)) >= 0.12
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
def test_a_domain_is_what_somebody_registered(host: str, domain: str) -> None:
    assert registrable_domain(host) == domain
