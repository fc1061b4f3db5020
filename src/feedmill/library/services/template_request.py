"""Fills the template of a request with an article.

The template is parsed first and its texts are filled then. So a value can't end a text of JSON, add a field to a form
or a header to the request, whatever characters it has.
"""

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

import msgspec

from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.library.services.saved_article import SavedArticle
from feedmill.library.subscriptions.http_options import parse_header_lines
from feedmill.model.services.save_service import BodyFormat, ServiceOptions, TemplateMethod
from feedmill.outbound.request_headers import UNSENDABLE_CHARACTERS
from feedmill.outbound.user_urls import parse_url_without_login

PLACEHOLDERS = ("url", "title", "author", "feed", "published", "excerpt", "text", "labels", "id")
CONTENT_TYPES = {
    BodyFormat.JSON: "application/json",
    BodyFormat.FORM: "application/x-www-form-urlencoded",
    BodyFormat.TEXT: "text/plain; charset=utf-8",
}
MAX_HEADER_VALUE = 1000
# Of lists and objects in JSON.
MAX_DEPTH = 50

_PLACEHOLDER = re.compile(rf"\{{({'|'.join(PLACEHOLDERS)})\}}")


@dataclass(frozen=True, slots=True)
class FilledTemplate:
    method: str
    url: str
    headers: dict[str, str]
    content_type: str
    body: bytes


def check_template(options: ServiceOptions) -> None:
    """Raises `BadInput` with the field of the template that can't be used."""
    if options.method not in list(TemplateMethod):
        raise BadInput(Message("service.bad_method"), "method")
    if options.body_format not in list(BodyFormat):
        raise BadInput(Message("service.bad_body_format"), "body_format")
    if _PLACEHOLDER.search(options.address.partition("?")[0]):
        raise BadInput(Message("service.placeholder_in_path"), "address")
    parse_header_lines(options.headers)
    if options.body_format == BodyFormat.JSON and options.body:
        _parse_json(options.body)
    filled = fill_template(options, SavedArticle(1, "https://example.org/", "Title"))
    try:
        parse_url_without_login(filled.url)
    except BadInput as error:
        raise BadInput(error.message, "address") from error


def fill_template(options: ServiceOptions, article: SavedArticle) -> FilledTemplate:
    """The request for an article. The template was checked when it was written."""
    values = _values(article)
    headers = {name: _header_value(text, values) for name, text in parse_header_lines(options.headers).items()}
    own_type = next((headers.pop(name) for name in list(headers) if name.lower() == "content-type"), None)
    has_body = options.method != TemplateMethod.GET
    return FilledTemplate(
        options.method,
        _fill_url(options.address, values),
        headers,
        (own_type or CONTENT_TYPES[BodyFormat(options.body_format)]) if has_body else "",
        _body(options, values) if has_body else b"",
    )


def _values(article: SavedArticle) -> dict[str, str]:
    return {name: str(getattr(article, name)) for name in PLACEHOLDERS if name != "labels"} | {
        "labels": ", ".join(article.labels)
    }


def _fill(text: str, values: dict[str, str]) -> str:
    """In one pass: a placeholder in a value stays as it is."""
    return _PLACEHOLDER.sub(lambda found: values[found[1]], text)


def _fill_url(address: str, values: dict[str, str]) -> str:
    path, mark, query = address.partition("?")
    return f"{path}{mark}{_PLACEHOLDER.sub(lambda found: quote(values[found[1]], safe=''), query)}"


def _header_value(text: str, values: dict[str, str]) -> str:
    return " ".join(UNSENDABLE_CHARACTERS.sub(" ", _fill(text, values)).split())[:MAX_HEADER_VALUE]


def _body(options: ServiceOptions, values: dict[str, str]) -> bytes:
    match options.body_format:
        case BodyFormat.FORM:
            fields = parse_qsl(options.body, keep_blank_values=True)
            return urlencode([(name, _fill(text, values)) for name, text in fields]).encode()
        case BodyFormat.JSON if options.body:
            return msgspec.json.encode(_fill_json(_parse_json(options.body), values))
    return _fill(options.body, values).encode()


def _parse_json(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, ValueError) as error:
        raise BadInput(Message("service.bad_json"), "body") from error


def _fill_json(part: Any, values: dict[str, str], depth: int = 0) -> Any:
    if depth > MAX_DEPTH:
        raise BadInput(Message("service.bad_json"), "body")
    if isinstance(part, str):
        return _fill(part, values)
    if isinstance(part, list):
        return [_fill_json(each, values, depth + 1) for each in part]
    if isinstance(part, dict):
        return {name: _fill_json(each, values, depth + 1) for name, each in part.items()}
    return part
