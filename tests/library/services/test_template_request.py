"""A template is filled with any article without a value leaving its place."""

from urllib.parse import parse_qsl, urlsplit

import msgspec
import pytest

from feedmill.errors import BadInput
from feedmill.library.services.saved_article import SavedArticle
from feedmill.library.services.template_request import check_template, fill_template
from feedmill.model.services.save_service import ServiceOptions

HOSTILE = 'a"b\\c\r\nX-Injected: 1\r\n\r\n{url}&admin=1#x\x00\x7f<é>%0d%0a\u2028'
ARTICLE = SavedArticle(7, "https://e.org/?a=1&b=2", HOSTILE, labels=("one", "two"))


def _options(**options: str) -> ServiceOptions:
    return ServiceOptions(**({"address": "https://e.example/save"} | options))


def test_a_value_stays_inside_its_text_of_json() -> None:
    body = '{"link": "{url}", "more": [{"t": "<{title}>"}, 5, null], "unknown": "{other}"}'

    filled = fill_template(_options(body=body), ARTICLE)

    assert msgspec.json.decode(filled.body) == {
        "link": ARTICLE.url,
        "more": [{"t": f"<{HOSTILE}>"}, 5, None],
        "unknown": "{other}",
    }
    assert filled.content_type == "application/json"


def test_a_value_stays_inside_its_field_of_a_form() -> None:
    filled = fill_template(_options(body_format="form", body="link={url}&title={title}&empty="), ARTICLE)

    assert parse_qsl(filled.body.decode(), keep_blank_values=True) == [
        ("link", ARTICLE.url),
        ("title", HOSTILE),
        ("empty", ""),
    ]


def test_a_value_stays_inside_its_parameter_of_the_address() -> None:
    filled = fill_template(_options(address="https://e.example/save?u={url}&t={title}", method="GET"), ARTICLE)

    parts = urlsplit(filled.url)
    assert (parts.netloc, parts.path, parts.fragment) == ("e.example", "/save", "")
    assert parse_qsl(parts.query) == [("u", ARTICLE.url), ("t", HOSTILE)]
    assert (filled.body, filled.content_type) == (b"", "")


def test_a_value_cannot_add_a_header() -> None:
    filled = fill_template(_options(headers="X-Title: {title}\nContent-Type: application/x-mine"), ARTICLE)

    assert list(filled.headers) == ["X-Title"]
    assert not set(filled.headers["X-Title"]) & set("\r\n\x00\x7f")
    assert filled.content_type == "application/x-mine"


def test_a_placeholder_in_a_value_is_not_filled() -> None:
    filled = fill_template(_options(body_format="text", body="{title}"), SavedArticle(1, "https://e.org/", "{url}"))

    assert filled.body == b"{url}"


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"address": "https://{title}.example/"}, "address"),
        ({"address": "https://e.example/{title}"}, "address"),
        ({"address": "{url}"}, "address"),
        ({"address": "file:///etc/passwd"}, "address"),
        ({"address": "https://alice:secret@e.example/"}, "address"),
        ({"method": "DELETE"}, "method"),
        ({"body_format": "xml"}, "body_format"),
        ({"body": '{"a": {url}}'}, "body"),
        ({"body": "[" * 10_000}, "body"),
        ({"headers": "no header"}, "headers"),
        ({"headers": "X-A: a\x0bX-B: b\x00"}, "headers"),
    ],
)
def test_a_template_that_cannot_be_used_is_refused_by_its_field(options: dict[str, str], field: str) -> None:
    with pytest.raises(BadInput) as refused:
        check_template(_options(**options))

    assert refused.value.field == field


@pytest.mark.parametrize("depth", [100, 600, 1999])
def test_a_template_that_is_nested_too_deep_is_refused(depth: int) -> None:
    with pytest.raises(BadInput) as refused:
        check_template(_options(body="[" * depth + "]" * depth))

    assert refused.value.field == "body"


def test_a_usable_template_passes() -> None:
    check_template(_options(address="https://e.example/?u={url}", body='{"u": "{url}"}', headers="X-A: {title}"))
