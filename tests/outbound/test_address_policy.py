"""Only public addresses are reached, however an address is written, named or redirected to."""

import asyncio
import socket
from dataclasses import replace

import pytest

from feedmill.errors import BadSetting
from feedmill.model.fetch_outcome import Refused, Response, Retryable
from feedmill.outbound.address_policy import AddressPolicy
from feedmill.outbound.checked_connections import CheckedSocketFactory
from feedmill.outbound.client import Client
from feedmill.outbound.dns import SystemResolver
from tests.outbound.conftest import PATIENT, SHORT, MakeClient
from tests.scripted_web import Answer, ScriptedResolver, Web

SPECIAL = [
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "10.255.255.255",
    "100.64.0.1",
    "100.100.100.200",
    "127.0.0.1",
    "127.255.255.254",
    "168.63.129.16",
    "169.254.0.1",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.0.8",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.7",
    "203.0.113.9",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::127.0.0.1",
    "::ffff:0:127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:20::1",
    "2001:db8::1",
    "2002:7f00:1::1",
    "2002:a9fe:a9fe::",
    "2002:c0a8:101::",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%2",
    "2606:4700::1%1",
    "fec0::1",
    "ff02::1",
    "ff0e::1",
    "2606:4700::5efe:10.0.0.1",
    "2606:4700::200:5efe:127.0.0.1",
    "2001:0:7f00:1::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "not-an-address",
]
PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "100.63.255.255",
    "100.128.0.1",
    "172.15.255.255",
    "172.32.0.1",
    "192.0.1.1",
    "198.17.255.255",
    "223.255.255.255",
    "2606:4700:4700::1111",
    "2a00:1450::1",
    "64:ff9b::808:808",
    "2002:808:808::1",
    "::ffff:8.8.8.8",
]


@pytest.mark.parametrize("address", SPECIAL)
def test_a_special_address_is_refused(address: str) -> None:
    assert AddressPolicy().verdict(address, 443) == "address"


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_reached(address: str) -> None:
    assert AddressPolicy().verdict(address, 443) == "public"


@pytest.mark.parametrize("port", [1, 21, 22, 23, 25, 53, 110, 143, 445, 587, 993, 3306, 5432, 6379, 6667, 9200, 11211])
def test_ports_of_other_services_are_refused(port: int) -> None:
    assert AddressPolicy().verdict("1.1.1.1", port) == "port"


@pytest.mark.parametrize("port", [80, 443, 3000, 8000, 8080, 8443, 65535])
def test_ports_of_web_servers_are_reached(port: int) -> None:
    assert AddressPolicy().verdict("1.1.1.1", port) == "public"


def test_a_single_server_is_reached_on_its_port_alone() -> None:
    policy = AddressPolicy(servers={("127.0.0.1", 8001)})

    assert policy.verdict("127.0.0.1", 8001) == "allowed"
    assert policy.verdict("127.0.0.1", 8002) == "address"
    assert policy.verdict("127.0.0.2", 8001) == "address"


def test_an_allowed_network_is_reached_on_any_port() -> None:
    policy = AddressPolicy(["10.1.0.0/16", "fd00::/8"])

    verdicts = [policy.verdict(address, 22) for address in ("10.1.2.3", "fd12::1", "::ffff:10.1.2.3")]

    assert verdicts == ["allowed"] * 3
    assert policy.verdict("10.2.0.1", 80) == "address"
    assert policy.verdict("1.1.1.1", 22) == "port"


def test_allowing_everything_does_not_make_public_hosts_private() -> None:
    policy = AddressPolicy(["0.0.0.0/0"])

    assert policy.verdict("1.1.1.1", 80) == "public"
    assert policy.verdict("127.0.0.1", 80) == "allowed"


def test_both_ends_of_a_teredo_address_have_to_be_allowed() -> None:
    assert AddressPolicy(["127.0.0.0/8"]).verdict("2001:0:7f00:1:0:0:f5ff:fffe", 80) == "address"


def test_an_invalid_network_prevents_the_start() -> None:
    with pytest.raises(BadSetting, match="not a network"):
        AddressPolicy(["10.0.0.0/99"])


SPELLINGS = [
    "http://127.0.0.1",
    "http://127.1",
    "http://127.0.1",
    "http://2130706433",
    "http://0x7f000001",
    "http://0x7f.1",
    "http://0177.0.0.1",
    "http://127.0.0.1.",
    "http://[::1]",
    "http://[::ffff:127.0.0.1]",
    "http://[::ffff:7f00:1]",
    "http://[::]",
    "http://0",
    "http://0.0.0.0",
    "http://①②⑦.0.0.1",
    "http://127。0。0。1",
    "http://%31%32%37.0.0.1",
    "http://public.example@127.0.0.1",
    "http://public.example:80@127.0.0.1",
    "HTTP://127.0.0.1",
    "http://[64:ff9b::7f00:1]",
    "http://[2002:7f00:1::]",
    "http://169.254.169.254",
    "http://[fd00:ec2::254]",
    "http://0xa9fea9fe",
    "http://[fe80::1%25eth0]",
]


@pytest.mark.parametrize("spelling", SPELLINGS)
async def test_no_spelling_of_a_private_address_is_fetched(spelling: str, make_client: MakeClient) -> None:
    outcome = await make_client(AddressPolicy()).get(f"{spelling}/latest/meta-data")

    assert isinstance(outcome, Refused)
    assert outcome.kind == "address"


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("file:///etc/passwd", "scheme"),
        ("ftp://public.example/feed", "scheme"),
        ("gopher://public.example:70/_x", "scheme"),
        ("javascript:alert(1)", "scheme"),
        ("data:text/xml,<rss/>", "scheme"),
        ("feed", "scheme"),
        ("", "scheme"),
        ("http:public.example", "url"),
        ("http://", "url"),
        ("http:///feed", "url"),
        ("http://public.example\\@127.0.0.1/", "url"),
        ("http://[::1", "url"),
        ("http://[2606:4700::1]1.1.1.1/", "url"),
        ("http://public.example:80:80/", "url"),
        ("http://public.example:+80/", "url"),
        ("http://1.2.3.4.5/", "url"),
        ("http://256.1.1.1/", "url"),
        ("http://09.1.1.1/", "url"),
        ("http://a..example/", "url"),
        ("http://public.example:99999/", "url"),
        ("http://public.example:0/", "port"),
        ("http://public example/", "url"),
        ("http://public.example/" + "a" * 9000, "url"),
        ("http://" + "a" * 300 + ".example/", "url"),
        ("http://8.8.8.8:6379/", "port"),
    ],
)
async def test_anything_but_a_web_address_is_refused(url: str, kind: str, client: Client) -> None:
    outcome = await client.get(url)

    assert isinstance(outcome, Refused)
    assert outcome.kind == kind


async def test_a_name_that_resolves_to_a_private_address_is_refused(
    names: ScriptedResolver, make_client: MakeClient
) -> None:
    names.say("inside.example", ["10.0.0.7", "fd00::7"])

    outcome = await make_client(AddressPolicy()).get("http://inside.example/")

    assert isinstance(outcome, Refused)
    assert outcome.kind == "address"


async def test_a_name_that_resolves_differently_after_the_check_reaches_nothing(
    web: Web, names: ScriptedResolver, make_client: MakeClient
) -> None:
    web.serve("/", Answer(b"secret"))
    names.say("rebind.example", ["1.1.1.1"], ["127.0.0.1"])

    outcome = await make_client(AddressPolicy()).get(f"http://rebind.example:{web.port}/")

    assert not isinstance(outcome, Response)
    assert names.asked == ["rebind.example"] * 2
    assert web.requests == []


async def test_of_mixed_answers_only_the_allowed_address_is_connected_to(
    web: Web, names: ScriptedResolver, make_client: MakeClient
) -> None:
    web.serve("/", Answer(b"yes"))
    names.say("mixed.example", ["127.0.9.9", "127.0.0.5", "10.0.0.1"])

    outcome = await make_client(AddressPolicy(["127.0.0.0/24"])).get(f"http://mixed.example:{web.port}/")

    assert isinstance(outcome, Response)
    assert [request.host for request in web.requests] == ["127.0.0.5"]


def test_a_socket_is_never_made_for_a_refused_address() -> None:
    sockets = CheckedSocketFactory(AddressPolicy())

    for sockaddr in (("127.0.0.1", 80), ("::1", 80, 0, 0), ("fe80::1", 80, 0, 2), ("1.1.1.1", 22)):
        with pytest.raises(OSError, match="may not be connected to"):
            sockets((socket.AF_INET, socket.SOCK_STREAM, 0, "", sockaddr))


async def test_an_unknown_name_is_retryable(client: Client) -> None:
    outcome = await client.get("http://nowhere.example/")

    assert isinstance(outcome, Retryable)
    assert outcome.kind == "dns"


async def test_a_name_server_that_hangs_is_abandoned_at_the_deadline(make_client: MakeClient) -> None:
    class Hanging(ScriptedResolver):
        async def resolve(self, host: str) -> list[str]:
            await asyncio.Event().wait()
            return []

    client = make_client(resolver=Hanging(), limits=replace(PATIENT, connect=SHORT))
    outcome = await client.get("http://slow.example/")

    assert isinstance(outcome, Retryable)
    assert outcome.kind == "dns"


async def test_an_ipv6_address_is_fetched_when_allowed(make_client: MakeClient) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(Answer(b"six").encode())
        writer.close()

    async with await asyncio.start_server(answer, "::1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        outcome = await make_client(AddressPolicy(["::1/128"])).get(f"http://[::0001]:{port}/")

    assert isinstance(outcome, Response)
    assert outcome.final_url == f"http://[::1]:{port}/"


async def test_names_from_the_hosts_file_are_checked_too(web: Web, make_client: MakeClient) -> None:
    web.serve("/", Answer(b"x"))

    refused = await make_client(AddressPolicy(), resolver=SystemResolver()).get(f"http://localhost:{web.port}/")
    allowed = await make_client(resolver=SystemResolver()).get(f"http://localhost:{web.port}/")

    assert isinstance(refused, Refused)
    assert isinstance(allowed, Response)


async def test_a_host_name_is_normalized_in_any_script_and_case(
    web: Web, names: ScriptedResolver, client: Client
) -> None:
    web.serve("/", Answer(b"yes"))
    names.say("xn--bcher-kva.example", ["127.0.0.1"])

    outcome = await client.get(f"http://BÜCHER.Example.:{web.port}")

    assert isinstance(outcome, Response)
    assert outcome.final_url == f"http://xn--bcher-kva.example:{web.port}/"
    assert web.requests[0].headers["host"] == f"xn--bcher-kva.example:{web.port}"
