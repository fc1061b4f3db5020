"""The outcome for each HTTP status."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from feedmill.model.fetch_outcome import Gone, HttpError, Response, Retryable, Throttled, Validators
from feedmill.outbound.client import Client
from tests.scripted_web import Answer, Web

WEEK = timedelta(days=7)


@pytest.mark.parametrize(
    "status", [201, 202, 204, 205, 226, 299, 400, 401, 402, 403, 404, 405, 406, 408, 418, 421, 425, 451, 499, 600, 999]
)
async def test_other_statuses_are_not_retryable(status: int, web: Web, client: Client) -> None:
    outcome = await client.get(web.serve("/", Answer(b"", status, {"ETag": '"e"'})))

    assert isinstance(outcome, HttpError)
    assert outcome.status == status


@pytest.mark.parametrize("status", [500, 501, 502, 504, 505, 507, 508, 520, 522, 599])
async def test_a_server_error_is_retryable(status: int, web: Web, client: Client) -> None:
    outcome = await client.get(web.serve("/", Answer(b"sorry", status)))

    assert isinstance(outcome, Retryable)
    assert (outcome.kind, outcome.status) == ("http_5xx", status)


async def test_410_is_gone(web: Web, client: Client) -> None:
    assert isinstance(await client.get(web.serve("/", Answer(b"", 410))), Gone)


async def test_a_body_transformed_by_a_proxy_is_used_without_its_validators(web: Web, client: Client) -> None:
    outcome = await client.get(web.serve("/", Answer(b"x", 203, {"ETag": '"e"'})))

    assert isinstance(outcome, Response)
    assert outcome.validators == Validators()


async def test_an_unrequested_partial_response_is_an_error(web: Web, client: Client) -> None:
    answer = Answer(b"part", 206, {"Content-Range": "bytes 0-3/99", "ETag": '"e"'})

    outcome = await client.get(web.serve("/", answer))

    assert isinstance(outcome, Retryable)
    assert outcome.kind == "partial"


async def test_the_body_of_an_error_is_not_waited_for(web: Web, client: Client) -> None:
    outcome = await client.get(web.serve("/", Answer(b"x", 404, {"Content-Length": "99999999"})))

    assert isinstance(outcome, HttpError)


@pytest.mark.parametrize(
    ("said", "least", "most"),
    [
        ("120", timedelta(seconds=120), timedelta(seconds=120)),
        (" 120 ", timedelta(seconds=120), timedelta(seconds=120)),
        ("604800", WEEK, WEEK),
        ("31536000", WEEK, WEEK),
        ("9" * 400, WEEK, WEEK),
        ("9" * 6000, WEEK, WEEK),
        ("Fri, 31 Dec 9999 23:59:59 GMT", WEEK, WEEK),
        ("Friday, 31-Dec-49 23:59:59 GMT", WEEK, WEEK),
    ],
)
async def test_retry_after_in_seconds(said: str, least: timedelta, most: timedelta, web: Web, client: Client) -> None:
    outcome = await client.get(web.serve("/", Answer(b"", 429, {"Retry-After": said})))

    assert isinstance(outcome, Throttled)
    assert outcome.retry_after is not None
    assert least <= outcome.retry_after <= most
    assert abs(outcome.until - datetime.now(UTC) - outcome.retry_after) < timedelta(seconds=10)


async def test_retry_after_as_a_date(web: Web, client: Client) -> None:
    in_an_hour = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)

    outcome = await client.get(web.serve("/", Answer(b"", 429, {"Retry-After": in_an_hour})))

    assert isinstance(outcome, Throttled)
    assert outcome.retry_after is not None
    assert timedelta(minutes=55) <= outcome.retry_after <= timedelta(hours=1)


@pytest.mark.parametrize(
    "said",
    ["", "0", "-5", "1.5", "soon", "１２０", "Thu, 01 Jan 1970 00:00:00 GMT", "Mon, 99 Foo 2030", "\x01"],
)
async def test_an_invalid_retry_after_is_replaced_by_our_own_pause(said: str, web: Web, client: Client) -> None:
    outcome = await client.get(web.serve("/", Answer(b"", 503, {"Retry-After": said})))

    assert isinstance(outcome, Throttled | Retryable)
    if isinstance(outcome, Throttled):
        assert outcome.retry_after is None
        assert timedelta(minutes=4) < outcome.until - datetime.now(UTC) < timedelta(minutes=6)


@pytest.mark.parametrize(("status", "scope"), [(429, "domain"), (503, "url")])
async def test_the_status_decides_whether_the_url_or_the_domain_is_paused(
    status: int, scope: str, web: Web, client: Client
) -> None:
    outcome = await client.get(web.serve("/", Answer(b"", status, {"Retry-After": "60"})))

    assert isinstance(outcome, Throttled)
    assert (outcome.scope, outcome.status) == (scope, status)
