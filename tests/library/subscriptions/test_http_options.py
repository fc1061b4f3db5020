"""How a feed is asked for, as it is written in a form."""

import msgspec
import pytest

from feedmill.errors import BadInput
from feedmill.library.subscriptions.http_options import RequestOptionsForm, parse_http_options
from feedmill.outbound.fetch_options import FetchOptions


def options(kept: str | None) -> FetchOptions:
    assert kept is not None
    return msgspec.json.decode(kept, type=FetchOptions)


def test_an_empty_form_says_nothing() -> None:
    assert parse_http_options(RequestOptionsForm()) is None


def test_every_field_is_taken() -> None:
    written = RequestOptionsForm(
        "ada", "s3cret", "a=b", "http://proxy.example:8080", "Reader/1", "X-Key: 1\n\nX-Other:2", False
    )

    read = options(parse_http_options(written))

    assert read == FetchOptions(
        ("ada", "s3cret"), {"X-Key": "1", "X-Other": "2"}, "a=b", "http://proxy.example:8080", "Reader/1", False
    )


def test_what_opens_a_feed_stays_when_its_field_is_empty() -> None:
    kept = parse_http_options(RequestOptionsForm("ada", "s3cret", "a=b", headers="X-Key: 1", user_agent="Reader/1"))

    read = options(parse_http_options(RequestOptionsForm("ada"), kept))

    assert (read.basic_auth, read.cookie, read.headers, read.user_agent) == (
        ("ada", "s3cret"),
        "a=b",
        {"X-Key": "1"},
        None,
    )


def test_the_password_of_one_name_is_not_kept_for_another() -> None:
    kept = parse_http_options(RequestOptionsForm("ada", "s3cret"))

    assert options(parse_http_options(RequestOptionsForm("bob"), kept)).basic_auth == ("bob", "")
    assert parse_http_options(RequestOptionsForm(), kept) is None


@pytest.mark.parametrize(
    ("written", "field"),
    [
        (RequestOptionsForm("ada\r\nX: y"), "name"),
        (RequestOptionsForm("a:b"), "name"),
        (RequestOptionsForm(password="alone"), "name"),
        (RequestOptionsForm("ada", "pass\nword"), "password"),
        (RequestOptionsForm(cookie="a=b\r\nHost: x"), "cookie"),
        (RequestOptionsForm(user_agent="阅读器"), "user_agent"),
        (RequestOptionsForm(proxy="ftp://proxy.example"), "proxy"),
        (RequestOptionsForm(proxy="https://proxy.example"), "proxy"),
        (RequestOptionsForm(headers="no colon"), "headers"),
        (RequestOptionsForm(headers="\n".join(f"X-{n}: 1" for n in range(21))), "headers"),
    ],
)
def test_what_cant_be_sent_is_refused_by_its_field(written: RequestOptionsForm, field: str) -> None:
    with pytest.raises(BadInput) as refused:
        parse_http_options(written)

    assert refused.value.field == field
