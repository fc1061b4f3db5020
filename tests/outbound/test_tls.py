"""Certificates are verified unless a feed says otherwise."""

import asyncio
import ssl
from datetime import UTC, datetime, timedelta

import pytest

from feedmill.model.fetch_options import FetchOptions
from feedmill.model.fetch_outcome import FetchOutcome, NotModified, Refused, Response, Retryable, Validators
from tests.outbound.conftest import MakeClient
from tests.scripted_web import Answer, ScriptedResolver, Web
from tests.scripted_web.certificates import CertificateAuthority

AUTHORITY = CertificateAuthority.make()
UNVERIFIED = FetchOptions(verify_tls=False)
DAY = timedelta(days=1)


async def fetch(server: ssl.SSLContext, make_client: MakeClient, host: str, options: FetchOptions) -> FetchOutcome:
    async with Web(server) as web:
        web.serve("/", Answer(b"over TLS"))
        return await make_client(tls=AUTHORITY.trusted()).get(web.url("/", host), options=options)


@pytest.fixture(autouse=True)
def known_names(names: ScriptedResolver) -> None:
    names.say("feeds.example", ["127.0.0.1"])


@pytest.mark.parametrize("host", ["feeds.example", "127.0.0.1"])
async def test_a_certificate_of_a_trusted_authority_for_this_host_is_accepted(
    host: str, make_client: MakeClient
) -> None:
    outcome = await fetch(AUTHORITY.server(host), make_client, host, FetchOptions())

    assert isinstance(outcome, Response)
    assert outcome.body == b"over TLS"


async def test_a_response_has_the_expiry_of_its_certificate(make_client: MakeClient, names: ScriptedResolver) -> None:
    server = AUTHORITY.server("feeds.example", ends=9 * DAY)
    async with Web(server) as web:
        web.serve("/", Answer(b"short"))
        web.serve("/same", Answer(status=304))
        client = make_client(tls=AUTHORITY.trusted())
        answer = await client.get(web.url("/", "feeds.example"))
        same = await client.get(web.url("/same", "feeds.example"), Validators('"x"'))
        unseen = await client.get(web.url("/", "feeds.example"), options=UNVERIFIED)

    assert isinstance(answer, Response)
    assert isinstance(same, NotModified)
    assert isinstance(unseen, Response)
    ends = datetime.now(UTC) + 9 * DAY
    assert answer.certificate_until is not None
    assert abs(answer.certificate_until - ends) < timedelta(minutes=10)
    assert same.certificate_until == answer.certificate_until
    assert unseen.certificate_until is None


BAD = {
    "another host": AUTHORITY.server("other.example"),
    "a parent domain": AUTHORITY.server("example"),
    "expired": AUTHORITY.server("feeds.example", -3 * DAY, -2 * DAY),
    "not yet valid": AUTHORITY.server("feeds.example", 2 * DAY, 3 * DAY),
    "unknown authority": CertificateAuthority.make().server("feeds.example"),
}


@pytest.mark.parametrize("case", BAD)
async def test_a_bad_certificate_is_refused(case: str, make_client: MakeClient) -> None:
    outcome = await fetch(BAD[case], make_client, "feeds.example", FetchOptions())

    assert isinstance(outcome, Refused)
    assert outcome.kind == "certificate"
    assert "ssl" not in str(outcome.detail).lower()


async def test_the_commonest_faults_of_certificates_are_named(make_client: MakeClient) -> None:
    outcomes = [await fetch(BAD[case], make_client, "feeds.example", FetchOptions()) for case in BAD]

    assert [outcome.detail.code for outcome in outcomes if isinstance(outcome, Refused)] == [
        "fetch.certificate_other_host",
        "fetch.certificate_other_host",
        "fetch.certificate_expired",
        "fetch.certificate",
        "fetch.certificate",
    ]


@pytest.mark.parametrize("case", BAD)
async def test_a_feed_can_be_fetched_without_verification(case: str, make_client: MakeClient) -> None:
    outcome = await fetch(BAD[case], make_client, "feeds.example", UNVERIFIED)

    assert isinstance(outcome, Response)


async def test_an_unverified_connection_is_not_used_for_a_verified_request(make_client: MakeClient) -> None:
    client = make_client(tls=AUTHORITY.trusted())
    async with Web(BAD["expired"]) as web:
        web.serve("/", Answer(b"x"))

        first = await client.get(web.url("/", "feeds.example"), options=UNVERIFIED)
        second = await client.get(web.url("/", "feeds.example"))

    assert isinstance(first, Response)
    assert isinstance(second, Refused)


async def test_plain_http_on_a_tls_port_is_a_tls_failure(make_client: MakeClient) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        outcome = await make_client().get(f"https://127.0.0.1:{port}/")

    assert isinstance(outcome, Retryable)
    assert outcome.kind in ("tls", "connect")


async def test_tls_on_a_plain_http_port_is_a_failure(make_client: MakeClient) -> None:
    async with Web(AUTHORITY.server("127.0.0.1")) as web:
        outcome = await make_client().get(f"http://127.0.0.1:{web.port}/")

    assert isinstance(outcome, Retryable)


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion.TLSv1_1 is deprecated")
async def test_an_outdated_protocol_is_a_failure(make_client: MakeClient) -> None:
    server = AUTHORITY.server("feeds.example")
    server.minimum_version = server.maximum_version = ssl.TLSVersion.TLSv1_1

    outcome = await fetch(server, make_client, "feeds.example", FetchOptions())

    assert isinstance(outcome, Retryable)
    assert outcome.kind in ("tls", "connect")


async def test_a_redirect_does_not_take_credentials_from_https_to_http(web: Web, make_client: MakeClient) -> None:
    web.serve("/plain", Answer(b"x"))
    async with Web(AUTHORITY.server("127.0.0.1")) as secure:
        secure.serve("/", Answer(status=302, headers={"Location": web.url("/plain")}))

        outcome = await make_client(tls=AUTHORITY.trusted()).get(
            secure.url("/"), options=FetchOptions(basic_auth=("alice", "sesame"))
        )

    assert isinstance(outcome, Response)
    assert "authorization" in secure.requests[0].headers
    assert "authorization" not in web.requests[0].headers
