"""HTTP options of a feed, as entered in a form."""

import msgspec
import pytest

from feedmill.errors import BadInput
from feedmill.library.subscriptions.http_options import parse_http_options, summarize_http_options
from feedmill.model.fetch_options import FetchOptions


def options(kept: str | None) -> FetchOptions:
    assert kept is not None
    return msgspec.json.decode(kept, type=FetchOptions)


def test_an_empty_form_sets_nothing() -> None:
    assert parse_http_options({}) is None


def test_every_field_is_read() -> None:
    written = {
        "name": "ada",
        "password": "s3cret",
        "cookie": "a=b",
        "proxy": "http://proxy.example:8080",
        "user_agent": "Reader/1",
        "headers": "X-Key: 1\n\nX-Other:2",
    }

    read = options(parse_http_options(written, verify_tls=False))

    assert read == FetchOptions(
        basic_auth=("ada", "s3cret"),
        headers={"X-Key": "1", "X-Other": "2"},
        cookie="a=b",
        proxy="http://proxy.example:8080",
        user_agent="Reader/1",
        verify_tls=False,
    )


def test_a_secret_stays_when_its_field_is_empty() -> None:
    secrets = {"name": "ada", "password": "s3cret", "cookie": "a=b", "headers": "X-Key: 1"}
    kept = parse_http_options(secrets | {"user_agent": "Reader/1"})

    read = options(parse_http_options({"name": "ada"}, kept))

    assert (read.basic_auth, read.cookie, read.headers, read.user_agent) == (
        ("ada", "s3cret"),
        "a=b",
        {"X-Key": "1"},
        None,
    )


def test_a_password_is_not_kept_for_another_name() -> None:
    kept = parse_http_options({"name": "ada", "password": "s3cret"})

    assert options(parse_http_options({"name": "bob"}, kept)).basic_auth == ("bob", "")
    assert parse_http_options({}, kept) is None


@pytest.mark.parametrize(
    ("written", "field"),
    [
        ({"name": "ada\r\nX: y"}, "name"),
        ({"name": "a:b"}, "name"),
        ({"password": "alone"}, "name"),
        ({"name": "ada", "password": "pass\nword"}, "password"),
        ({"cookie": "a=b\r\nHost: x"}, "cookie"),
        ({"user_agent": "阅读器"}, "user_agent"),
        ({"proxy": "ftp://proxy.example"}, "proxy"),
        ({"proxy": "https://proxy.example"}, "proxy"),
        ({"headers": "no colon"}, "headers"),
        ({"headers": "\n".join(f"X-{n}: 1" for n in range(21))}, "headers"),
    ],
)
def test_an_invalid_option_is_refused_with_its_field(written: dict[str, str], field: str) -> None:
    with pytest.raises(BadInput) as refused:
        parse_http_options(written)

    assert refused.value.field == field


def test_a_summary_has_no_secret() -> None:
    written = {"name": "ada", "password": "s3cret", "cookie": "a=b", "user_agent": "Reader/1", "headers": "X-Key: 1"}

    summary = summarize_http_options(parse_http_options(written))

    assert summary is not None
    assert (summary.name, summary.shown, summary.kept) == ("ada", {"user_agent": "Reader/1"}, {"cookie"})
    assert summary.header_names == ("X-Key",)
    assert not any(secret in repr(summary) for secret in ("s3cret", "a=b"))
