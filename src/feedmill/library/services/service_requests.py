"""The request that saves an article to each kind of service, as the service documents its API."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode
from uuid import NAMESPACE_URL, uuid5

import msgspec

from feedmill.library.services.saved_article import SavedArticle
from feedmill.library.services.template_request import fill_template
from feedmill.model.fetch_options import FetchOptions
from feedmill.model.services.save_service import ServiceKind, ServiceOptions
from feedmill.outbound.redirects import RequestPayload

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
SAVED_WITH = "Feedmill"
OMNIVORE_MUTATION = (
    "mutation SaveUrl($input: SaveUrlInput!) { saveUrl(input: $input) {"
    " ... on SaveSuccess { url clientRequestId } ... on SaveError { errorCodes message } } }"
)


@dataclass(frozen=True, slots=True)
class ServiceRequest:
    url: str
    payload: RequestPayload
    options: FetchOptions = field(default_factory=FetchOptions)


RequestBuilder = Callable[[ServiceOptions, SavedArticle], ServiceRequest]


def service_request(kind: ServiceKind, options: ServiceOptions, article: SavedArticle) -> ServiceRequest:
    """The request that saves the article. Wallabag's needs a token (`wallabag_request`)."""
    return BUILDERS[kind](options, article)


def wallabag_token_request(options: ServiceOptions) -> ServiceRequest:
    """Asks for an access token, with the password of the user (OAuth 2)."""
    fields = {
        "grant_type": "password",
        "client_id": options.client_id,
        "client_secret": options.client_secret,
        "username": options.username,
        "password": options.password,
    }
    payload = RequestPayload(urlencode(fields).encode(), FORM, wants_body=True)
    return ServiceRequest(_at(options, "/oauth/v2/token"), payload)


def wallabag_request(options: ServiceOptions, article: SavedArticle, token: str) -> ServiceRequest:
    """Adds the URL; one that Wallabag has already is updated."""
    tags = ",".join(tag.replace(",", " ") for tag in _tags(options, article))
    fields = {"url": article.url, "title": article.title, "tags": tags, "published_at": article.published}
    return _json(_at(options, "/api/entries.json"), _without_empty(fields), f"Bearer {token}")


def _linkding(options: ServiceOptions, article: SavedArticle) -> ServiceRequest:
    """A URL that Linkding has already is updated. Tags have no spaces there."""
    fields = {
        "url": article.url,
        "title": article.title,
        "description": article.excerpt,
        "tag_names": [tag.replace(" ", "-") for tag in _tags(options, article)],
    }
    return _json(_at(options, "/api/bookmarks/"), fields, f"Token {options.token}")


def _karakeep(options: ServiceOptions, article: SavedArticle) -> ServiceRequest:
    """A URL that Karakeep has already is answered with 200 and stays as it is."""
    fields = {"type": "link", "url": article.url, "title": article.title[:1000]}
    return _json(_at(options, "/api/v1/bookmarks"), _without_empty(fields), f"Bearer {options.token}")


def _readwise(options: ServiceOptions, article: SavedArticle) -> ServiceRequest:
    fields = {
        "url": article.url,
        "title": article.title,
        "author": article.author,
        "summary": article.excerpt,
        "published_date": article.published,
        "tags": _tags(options, article),
        "saved_using": SAVED_WITH,
    }
    return _json(_at(options, "/api/v3/save/"), _without_empty(fields), f"Token {options.token}")


def _instapaper(options: ServiceOptions, article: SavedArticle) -> ServiceRequest:
    fields = _without_empty({"url": article.url, "title": article.title, "selection": article.excerpt})
    login = FetchOptions(basic_auth=(options.username, options.password))
    return ServiceRequest(_at(options, "/api/add"), RequestPayload(urlencode(fields).encode(), FORM), login)


def _raindrop(options: ServiceOptions, article: SavedArticle) -> ServiceRequest:
    fields: dict[str, Any] = {
        "link": article.url,
        "title": article.title[:1000],
        "excerpt": article.excerpt,
        "tags": _tags(options, article),
        # Lets Raindrop read what is missing from the page.
        "pleaseParse": {},
    }
    if options.collection:
        fields["collection"] = {"$id": int(options.collection)}
    return _json(_at(options, "/rest/v1/raindrop"), fields, f"Bearer {options.token}", wants_body=True)


def _omnivore(options: ServiceOptions, article: SavedArticle) -> ServiceRequest:
    """The same request id each time that the article is sent, so that it is saved once."""
    saved = {"clientRequestId": str(uuid5(NAMESPACE_URL, article.url)), "source": "api", "url": article.url}
    fields = {"query": OMNIVORE_MUTATION, "variables": {"input": saved}}
    return _json(_at(options, "/api/graphql"), fields, options.token, wants_body=True)


def _template(options: ServiceOptions, article: SavedArticle) -> ServiceRequest:
    filled = fill_template(options, article)
    payload = RequestPayload(filled.body, filled.content_type, filled.method)
    return ServiceRequest(filled.url, payload, FetchOptions(headers=filled.headers))


BUILDERS: dict[ServiceKind, RequestBuilder] = {
    ServiceKind.LINKDING: _linkding,
    ServiceKind.KARAKEEP: _karakeep,
    ServiceKind.READWISE: _readwise,
    ServiceKind.INSTAPAPER: _instapaper,
    ServiceKind.RAINDROP: _raindrop,
    ServiceKind.OMNIVORE: _omnivore,
    ServiceKind.TEMPLATE: _template,
}


def _at(options: ServiceOptions, path: str) -> str:
    """The API's address, also if the user gave it with its path."""
    return f"{options.address.rstrip('/').removesuffix(path.rstrip('/'))}{path}"


def _json(url: str, fields: dict[str, Any], authorization: str, *, wants_body: bool = False) -> ServiceRequest:
    payload = RequestPayload(msgspec.json.encode(fields), JSON, wants_body=wants_body)
    return ServiceRequest(url, payload, FetchOptions(headers={"Authorization": authorization}))


def _tags(options: ServiceOptions, article: SavedArticle) -> list[str]:
    """The tags that the service is set to give, and the labels of the article."""
    chosen = (tag.strip() for tag in options.tags.split(","))
    return list(dict.fromkeys(tag for tag in (*chosen, *article.labels) if tag))


def _without_empty(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value}
