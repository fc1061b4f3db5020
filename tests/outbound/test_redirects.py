"""Every redirect is checked like the first URL, credentials stay with their host, and only permanent ones move a
feed."""

from dataclasses import replace

import pytest

from feedmill.model.fetch_options import FetchOptions
from feedmill.model.fetch_outcome import HttpError, Refused, Response, Retryable, Validators
from feedmill.outbound.address_policy import AddressPolicy
from feedmill.outbound.client import Client
from tests.outbound.conftest import PATIENT, SHORT, MakeClient
from tests.scripted_web import Answer, ClientConnection, ReceivedRequest, ScriptedResolver, Web
from tests.waiting import slow_pace


def to(location: str, status: int = 302) -> Answer:
    return Answer(status=status, headers={"Location": location})


def chain(web: Web, *statuses: int) -> str:
    """/0 redirects to /1 with the first status, /1 to /2 with the second, and so on."""
    for number, status in enumerate(statuses):
        web.serve(f"/{number}", to(f"/{number + 1}", status))
    web.serve(f"/{len(statuses)}", Answer(b"here", headers={"ETag": '"e"'}))
    return web.url("/0")


@pytest.mark.parametrize(
    ("statuses", "permanent"),
    [
        ([], None),
        ([301], "/1"),
        ([308], "/1"),
        ([302], None),
        ([303], None),
        ([307], None),
        ([301, 308, 301], "/3"),
        ([301, 302], "/1"),
        ([302, 301], None),
        ([301, 301, 307, 301], "/2"),
    ],
)
async def test_only_permanent_redirects_from_the_start_move_a_feed(
    statuses: list[int], permanent: str | None, web: Web, client: Client
) -> None:
    outcome = await client.get(chain(web, *statuses))

    assert isinstance(outcome, Response)
    assert outcome.final_url == web.url(f"/{len(statuses)}")
    assert outcome.permanent_url == (permanent and web.url(permanent))
    assert outcome.validators == Validators('"e"')


async def test_five_redirects_are_followed_and_the_sixth_is_not(web: Web, client: Client) -> None:
    five = await client.get(chain(web, *[302] * 5))
    six = await client.get(chain(web, *[302] * 6))

    assert isinstance(five, Response)
    assert isinstance(six, Refused)
    assert six.kind == "too_many_redirects"
    assert len(web.requests) == 12


async def test_a_redirect_loop_is_detected_at_once(web: Web, client: Client) -> None:
    web.serve("/a", to("/b"))
    web.serve("/b", to("/a"))

    outcome = await client.get(web.url("/a"))

    assert isinstance(outcome, Refused)
    assert outcome.kind == "redirect_loop"
    assert len(web.requests) == 2


async def test_a_redirect_to_itself_is_a_loop(web: Web, client: Client) -> None:
    outcome = await client.get(web.serve("/a", to("#top", 301)))

    assert isinstance(outcome, Refused)
    assert outcome.kind == "redirect_loop"


@pytest.mark.parametrize(
    ("location", "kind"),
    [
        ("http://10.0.0.1/", "address"),
        ("http://169.254.169.254/latest/meta-data/", "address"),
        ("http://[::ffff:a9fe:a9fe]/", "address"),
        ("//192.168.0.1/", "address"),
        ("http://inside.example/", "address"),
        ("http://2852039166/", "address"),
        ("http://1.1.1.1:22/", "port"),
        ("file:///etc/passwd", "scheme"),
        ("gopher://1.1.1.1/", "scheme"),
        ("javascript:alert(1)", "scheme"),
        ("http://[", "url"),
        ("http://:80/", "url"),
        ("http://ok.example\\@10.0.0.1/", "url"),
    ],
)
async def test_a_redirect_cannot_reach_a_forbidden_address(
    location: str, kind: str, web: Web, names: ScriptedResolver, client: Client
) -> None:
    names.say("inside.example", ["10.0.0.1"])

    outcome = await client.get(web.serve("/", to(location)))

    assert isinstance(outcome, Refused)
    assert outcome.kind == kind


async def test_the_refused_hop_is_named(web: Web, client: Client) -> None:
    outcome = await client.get(web.serve("/", to("http://10.0.0.1/x")))

    assert (outcome.url, outcome.final_url) == (web.url("/"), "http://10.0.0.1/x")


@pytest.mark.parametrize(
    ("location", "path"),
    [
        (b"next", "/dir/next"),
        (b"../next", "/next"),
        (b"?page=2", "/dir/feed?page=2"),
        (b"/a b", "/a%20b"),
        (b"/a%20b", "/a%20b"),
        ("/é".encode(), "/%C3%A9"),
        ("/é".encode("latin-1"), "/%E9"),
        (b"/x#fragment", "/x"),
        (b"  /x  ", "/x"),
        (b"/x\ty", "/xy"),
        (b"/a?b=c|d", "/a?b=c|d"),
        (b"/quote\"'<>", "/quote%22%27%3C%3E"),
    ],
)
async def test_a_location_is_read_as_browsers_read_it(location: bytes, path: str, web: Web, client: Client) -> None:
    web.serve("/dir/feed", b"HTTP/1.1 302 Found\r\nLocation: " + location + b"\r\nContent-Length: 0\r\n\r\n")
    web.serve(path, Answer(b"here"))

    outcome = await client.get(web.url("/dir/feed"))

    assert isinstance(outcome, Response)
    assert outcome.final_url == web.url(path)


@pytest.mark.parametrize("status", [300, 304, 305, 306])
async def test_other_3xx_statuses_are_not_followed(status: int, web: Web, client: Client) -> None:
    outcome = await client.get(web.serve("/", to("/other", status)))

    assert isinstance(outcome, HttpError)
    assert len(web.requests) == 1


@pytest.mark.parametrize("headers", [{}, {"Location": ""}, {"Location": "  "}])
async def test_a_redirect_without_a_valid_target_is_an_error(headers: dict[str, str], web: Web, client: Client) -> None:
    outcome = await client.get(web.serve("/", Answer(status=301, headers=headers)))

    assert isinstance(outcome, HttpError)
    assert outcome.status == 301


SECRET = FetchOptions(("alice", "sesame"), {"X-Api-Key": "k"}, cookie="c=1", user_agent="Alice's reader")


async def test_credentials_are_not_sent_to_another_host(web: Web, client: Client) -> None:
    web.serve("/away", to(web.url("/there", "127.0.0.2")))
    web.serve("/there", to(web.url("/home")), host="127.0.0.2")
    web.serve("/home", Answer(b"back"))

    await client.get(web.url("/away"), options=SECRET)

    away, there, home = (request.headers for request in web.requests)
    assert away["authorization"] == home["authorization"] == "Basic YWxpY2U6c2VzYW1l"
    assert (away["cookie"], away["x-api-key"]) == ("c=1", "k")
    assert not {"authorization", "cookie", "x-api-key"} & set(there)
    assert there["user-agent"] == "Alice's reader"


async def test_credentials_are_not_sent_to_another_port(web: Web, client: Client) -> None:
    async with Web() as other:
        other.serve("/there", Answer(b"there"))
        web.serve("/away", to(other.url("/there")))

        await client.get(web.url("/away"), options=SECRET)

    assert not {"authorization", "cookie", "x-api-key"} & set(other.requests[0].headers)


async def test_credentials_in_the_url_become_a_header(web: Web, client: Client) -> None:
    web.serve("/", Answer(b"yes"))

    outcome = await client.get(f"http://alice:ses%40me@127.0.0.1:{web.port}/")

    assert web.requests[0].headers["authorization"] == "Basic YWxpY2U6c2VzQG1l"
    assert outcome.final_url == web.url("/")


async def test_credentials_in_a_redirect_are_not_used(web: Web, client: Client) -> None:
    web.serve("/", to(f"http://mallory:x@127.0.0.2:{web.port}/there"))
    web.serve("/there", Answer(b"there"))

    outcome = await client.get(web.url("/"))

    assert "authorization" not in web.seen("/there")[0].headers
    assert outcome.final_url == web.url("/there", "127.0.0.2")


async def test_the_time_limit_covers_all_redirects(web: Web, make_client: MakeClient) -> None:
    async def slow(seen: ReceivedRequest, wire: ClientConnection) -> None:
        await slow_pace(SHORT.total_seconds() / 3)
        await wire.send(to(f"/slow?{len(web.requests)}").encode())

    web.serve("/slow", slow)
    client = make_client(limits=replace(PATIENT, total=SHORT))

    outcome = await client.get(web.url("/slow"))

    assert isinstance(outcome, Retryable)
    assert outcome.kind == "timeout"
    assert len(web.requests) <= 4


async def test_a_redirect_from_a_public_host_does_not_reach_an_allowed_private_network(
    web: Web, names: ScriptedResolver, make_client: MakeClient
) -> None:
    web.serve("/", to("http://10.0.0.1/admin"))

    outcome = await make_client(AddressPolicy(["127.0.0.1/32"])).get(web.url("/"))

    assert isinstance(outcome, Refused)
