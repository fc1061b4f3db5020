"""How many connections are accepted, and which ones are closed when there are too many."""

import os
import resource
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from feedmill.serve.http.connections import connection_limits
from feedmill.serve.http.connections.connection_limits import ConnectionRegistry, Peer, peer_key
from feedmill.serve.http.connections.open_file_limit import reserve_open_files
from feedmill.settings import load_settings
from tests.cli.command import Server, environment
from tests.cli.new_interpreter import serving
from tests.serve.http.connections.short_deadlines import LARGE, head, timed_site
from tests.waiting import wait_until


async def test_a_new_client_replaces_the_connection_that_was_idle_for_longest() -> None:
    async with timed_site(most=3) as site:
        first, second, third = [await site.connect() for _ in range(3)]
        for client in (second, third, first):
            await client.get("/")

        newest = await site.connect()

        assert b"200 OK" in await newest.get("/")
        assert await second.receive_all() == b""
        assert b"200 OK" in await first.get("/")
        assert b"200 OK" in await third.get("/")


async def test_a_connection_with_a_request_in_progress_is_never_closed_to_make_room() -> None:
    async with timed_site(most=2) as site:
        busy = [await site.connect() for _ in range(2)]
        for client in busy:
            await client.send(head("GET", "/waiting"))
        await site.until(lambda: (len(site.registry), site.registry.idle) == (2, 0))

        refused = await site.connect()
        await refused.send(head("GET", "/"))
        answer = await refused.receive_all()
        site.finish.set()

        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b"retry-after: 5" in answer
        assert [(await client.receive_until(b"ok"))[-2:] for client in busy] == [b"ok", b"ok"]


async def test_one_address_cannot_take_all_connections() -> None:
    async with timed_site(most=100, connections_per_address=5) as site:
        hoarding = [await site.connect("127.0.0.2") for _ in range(5)]
        for client in hoarding:
            await client.send(head("GET", "/waiting"))
        await site.until(lambda: (len(site.registry), site.registry.idle) == (5, 0))

        refused, reader = await site.connect("127.0.0.2"), await site.connect("127.0.0.3")

        assert (await refused.receive_all()).startswith(b"HTTP/1.1 503 ")
        assert b"200 OK" in await reader.get("/")


async def test_a_second_connection_from_an_address_closes_its_own_idle_one_only() -> None:
    async with timed_site(most=100, connections_per_address=2) as site:
        other = await site.connect("127.0.0.3")
        oldest, second, third = [await site.connect("127.0.0.2") for _ in range(3)]

        assert await oldest.receive_all() == b""
        for client in (other, second, third):
            assert b"200 OK" in await client.get("/")


async def test_a_trusted_proxy_may_have_any_number_of_connections() -> None:
    async with timed_site(most=100, connections_per_address=2, trusted_proxies="127.0.0.2/32") as site:
        clients = [await site.connect("127.0.0.2") for _ in range(10)]

        for client in clients:
            assert b"200 OK" in await client.get("/")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("192.0.2.1", "192.0.2.2", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("fe80::1%eth0", "fe80::1%eth1", True),
    ],
)
def test_ipv6_addresses_of_one_network_count_as_one(one: str, other: str, same: bool) -> None:
    assert (peer_key(one)[0] == peer_key(other)[0]) is same


async def test_an_address_that_does_not_read_large_responses_loses_them_before_others_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection_limits, "MAX_UNSENT_BYTES", LARGE + 100_000)
    async with timed_site(send_seconds=60) as site:
        reader = await site.connect("127.0.0.3", slow_line=True)
        await reader.send(head("GET", "/large", "Connection: close"))
        for _ in range(5):
            hoarding = await site.connect("127.0.0.2", slow_line=True)
            await hoarding.send(head("GET", "/large"))

        await site.until_dropped("much_unsent", 2)

        assert len(await reader.receive_all()) > LARGE
        assert set(site.registry.dropped) == {"much_unsent"}


def test_a_registry_forgets_addresses_without_connections() -> None:
    registry = ConnectionRegistry(10, 5)
    for number in range(100):
        connection = IdleConnection()
        registry.admit(connection, f"192.0.2.{number}")
        registry.remove(connection)
        registry.remove(connection)

    assert (len(registry), registry.addresses) == (0, 0)


def test_dropped_connections_are_logged_at_most_once_a_minute() -> None:
    registry = ConnectionRegistry(10, 5)
    with capture_logs() as lines:
        for second in range(90):
            registry.count_dropped("idle")
            if second >= 10:
                registry.count_dropped("slow_body")
            registry.check_deadlines(float(second))

    assert [(line["event"], line["slow_body"], "idle" in line) for line in lines] == [
        ("connections_dropped", 1, False),
        ("connections_dropped", 60, False),
    ]


@pytest.mark.external
def test_the_connection_limit_leaves_file_descriptors_for_other_uses() -> None:
    assert 500 < connections_under(1024, 1024)[0] < 900
    assert connections_under(1024, 1024, max_connections=100)[0] == 100
    assert connections_under(1024, 1024, fetches_at_once=1000)[0] == 16


@pytest.mark.external
def test_the_limit_of_open_files_is_raised_as_far_as_needed() -> None:
    connections, limit = connections_under(1024, 4000, max_connections=2000)

    assert (connections, 2000 < limit < 3000) == (2000, True)


def test_a_system_that_forbids_raising_the_limit_causes_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbid(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, 1_000_000))
    monkeypatch.setattr(resource, "setrlimit", forbid)

    assert 500 < reserve_open_files(load_settings()) < 900


@pytest.mark.external
def test_a_server_out_of_open_files_neither_spins_nor_stops(tmp_path: Path) -> None:
    with serving(cwd=tmp_path, open_files=1024) as server:
        pid, port = server.process.pid, int(server.address.rpartition(":")[2])
        highest = max(int(file.name) for file in Path(f"/proc/{pid}/fd").iterdir())
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (highest + 1, 1024))
        cpu_before = cpu_seconds(pid)
        with ExitStack() as held:
            clients = [held.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(highest + 50)]
            # No file descriptor is left for the last one: its connection is closed at once.
            clients[-1].settimeout(60)
            assert clients[-1].recv(1) == b""
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (1024, 1024))

        # Who comes while it still turns away those who waited is turned away with them.
        wait_until(lambda: answers(server), otherwise="the server has stopped")
        assert cpu_seconds(pid) - cpu_before < 2


def answers(server: Server) -> bool:
    try:
        return server.get("/health/live")[0] == 200
    except OSError:
        return False


class IdleConnection:
    """A connection without a client."""

    peer: Peer

    def close_idle(self) -> None:
        pass

    def check_deadlines(self, now: float) -> None:
        pass

    def unsent_bytes(self) -> int:
        return 0

    def drop_unsent(self) -> None:
        pass


def connections_under(soft: int, hard: int, **settings: int) -> tuple[int, int]:
    """The number of connections that a process with these limits of open files accepts, and its limit afterwards."""
    program = (
        "import resource, sys; from feedmill.serve.http.connections.open_file_limit import reserve_open_files;"
        "from feedmill.settings import load_settings;"
        f"print(reserve_open_files(load_settings(**{settings})), resource.getrlimit(resource.RLIMIT_NOFILE)[0])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard)),
    )
    connections, limit = done.stdout.splitlines()[-1].split()
    return int(connections), int(limit)


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
