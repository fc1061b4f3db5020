"""How a feed is asked for, as it is written in a form."""

import msgspec
import pytest

from feedmill.errors import BadInput
from feedmill.library.http_options import Written, read_written
from feedmill.outbound.options import FetchOptions


def options(kept: str | None) -> FetchOptions:
    assert kept is not None
    return msgspec.json.decode(kept, type=FetchOptions)


def test_an_empty_form_says_nothing() -> None:
    assert read_written(Written()) is None


def test_every_field_is_taken() -> None:
    written = Written("ada", "s3cret", "a=b", "http://proxy.example:8080", "Reader/1", "X-Key: 1\n\nX-Other:2", False)

    read = options(read_written(written))

    assert read == FetchOptions(
        ("ada", "s3cret"), {"X-Key": "1", "X-Other": "2"}, "a=b", "http://proxy.example:8080", "Reader/1", False
    )


def test_what_opens_a_feed_stays_when_its_field_is_empty() -> None:
    kept = read_written(Written("ada", "s3cret", "a=b", headers="X-Key: 1", user_agent="Reader/1"))

    read = options(read_written(Written("ada"), kept))

    assert (read.basic_auth, read.cookie, read.headers, read.user_agent) == (
        ("ada", "s3cret"), "a=b", {"X-Key": "1"}, None,
    )  # fmt: skip


def test_the_password_of_one_name_is_not_kept_for_another() -> None:
    kept = read_written(Written("ada", "s3cret"))

    assert options(read_written(Written("bob"), kept)).basic_auth == ("bob", "")
    assert read_written(Written(), kept) is None


@pytest.mark.parametrize(
    ("written", "field"),
    [
        (Written("ada\r\nX: y"), "name"),
        (Written("a:b"), "name"),
        (Written(password="alone"), "name"),
        (Written("ada", "pass\nword"), "password"),
        (Written(cookie="a=b\r\nHost: x"), "cookie"),
        (Written(user_agent="阅读器"), "user_agent"),
        (Written(proxy="ftp://proxy.example"), "proxy"),
        (Written(proxy="https://proxy.example"), "proxy"),
        (Written(headers="no colon"), "headers"),
        (Written(headers="\n".join(f"X-{n}: 1" for n in range(21))), "headers"),
    ],
)
def test_what_cant_be_sent_is_refused_by_its_field(written: Written, field: str) -> None:
    with pytest.raises(BadInput) as refused:
        read_written(written)

    assert refused.value.field == field
