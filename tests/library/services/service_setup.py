"""Services of users on a scripted web that checks requests by the documented rules of each service."""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import parse_qs

import msgspec
from sqlalchemy import select

from feedmill.encryption import Encryption
from feedmill.library.outbound_tools import OutboundTools
from feedmill.library.services.service import SaveServices, make_save_services
from feedmill.model.services.save_service import SaveService, ServiceKind, ServiceSave
from feedmill.model.timestamps import to_iso
from feedmill.model.user import User
from feedmill.outbound.client import Client
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.feeds.add_feeds import add_feed
from feedmill.store.schema import entries, service_saves, subscriptions
from feedmill.store.services.saves import to_save
from feedmill.store.users.users import add_user
from tests.library.webhooks.webhook_setup import NOW
from tests.scripted_web import Answer, ReceivedRequest, Web

KEY = "a-secret-key-of-this-test-that-is-long-enough"
TOKEN = "t0ken-of-alice"
ARTICLE = "https://blog.example/a?b=1&c=ü"
TITLE = 'A "quoted" title\\ & more'

SUBSCRIBE = insert(subscriptions, "user_id", "feed_id", "title", "paused", "created_at")
ADD_ENTRY = insert(
    entries,
    "feed_id",
    "guid",
    "sort_at",
    "refresh_token",
    "digest",
    "first_seen_at",
    "last_seen_at",
    "title",
    "link",
    "content_html",
)


def with_key(key: str = KEY) -> Encryption:
    return Encryption(lambda: key, lambda: key)


@dataclass
class ServiceSetup:
    db: Database
    client: Client
    web: Web
    now: datetime = NOW
    services: SaveServices = field(init=False)

    def __post_init__(self) -> None:
        self.services = make_save_services(OutboundTools(self.db, self.client, lambda: self.now), with_key())

    async def reader(self, name: str = "alice") -> User:
        return await add_user(self.db, name, None, False, self.now)

    async def entry(self, user: User, link: str | None = ARTICLE, title: str = TITLE, guid: str = "1") -> int:
        """An entry of a feed that the user subscribes to."""
        feed, at = await add_feed(self.db, f"https://blog.example/feed-of-{user.id}", self.now), to_iso(self.now)
        known = await self.db.query(select(subscriptions.c.id).where(subscriptions.c.feed_id == feed.id))
        row = {"user_id": user.id, "feed_id": feed.id, "title": "Blog", "paused": 0, "created_at": at}
        same = {
            "feed_id": feed.id,
            "sort_at": at,
            "refresh_token": "t",
            "digest": "d",
            "first_seen_at": at,
            "last_seen_at": at,
        }
        added = same | {"guid": guid, "title": title, "link": link, "content_html": "<p>The <b>text</b>.</p>"}
        await self.db.batch([*([] if known else [Step(SUBSCRIBE, row)]), Step(ADD_ENTRY, added)])
        found = await self.db.query(select(entries.c.id).where(entries.c.feed_id == feed.id, entries.c.guid == guid))
        return int(found[0]["id"])

    async def add(self, user: User, kind: ServiceKind, **options: str) -> SaveService:
        """A service of the user at this web's address."""
        return await self.services.create(user.id, kind, str(kind), {"address": self.web.url(""), **options})

    async def save(self, user: User, *entry_ids: int) -> list[ServiceSave]:
        """Saves entries by the shortcut and sends what is due; all saves."""
        await self.services.save(user.id, entry_ids, None)
        return await self.send()

    async def send(self) -> list[ServiceSave]:
        await self.services.send()
        rows = await self.db.query(select(service_saves).order_by(service_saves.c.id))
        return [to_save(row) for row in rows]


@dataclass
class DocumentedService:
    """Answers as the documentation of a service says; `saved` has what it accepted."""

    kind: ServiceKind
    saved: list[Mapping[str, Any]] = field(default_factory=list)
    tokens_given: int = 0

    def serve(self, web: Web) -> None:
        for path, answer in ANSWERS[self.kind].items():
            web.serve(path, lambda seen, answer=answer: answer(self, seen))


def _json(seen: ReceivedRequest) -> dict[str, Any]:
    assert seen.headers["content-type"] == "application/json"
    read: dict[str, Any] = msgspec.json.decode(seen.body)
    return read


def _form(seen: ReceivedRequest) -> dict[str, str]:
    assert seen.headers["content-type"] == "application/x-www-form-urlencoded"
    return {name: value for name, [value] in parse_qs(seen.body.decode(), strict_parsing=True).items()}


def _answer(status: int, body: object = None) -> Answer:
    return Answer(msgspec.json.encode(body), status, {"Content-Type": "application/json"})


def _linkding(service: DocumentedService, seen: ReceivedRequest) -> Answer:
    if seen.headers.get("authorization") != f"Token {TOKEN}":
        return _answer(401, {"detail": "Invalid token."})
    fields = _json(seen)
    if seen.method != "POST" or not fields.get("url") or any(" " in tag for tag in fields["tag_names"]):
        return _answer(400, {"url": ["This field is required."]})
    assert fields.keys() <= {"url", "title", "description", "notes", "is_archived", "unread", "shared", "tag_names"}
    service.saved.append(fields)
    return _answer(201, {"id": len(service.saved)} | fields)


def _karakeep(service: DocumentedService, seen: ReceivedRequest) -> Answer:
    if seen.headers.get("authorization") != f"Bearer {TOKEN}":
        return _answer(401, {"code": "UNAUTHORIZED"})
    fields = _json(seen)
    if fields.get("type") != "link" or not fields.get("url"):
        return _answer(400, {"code": "bad_request"})
    is_known = any(each["url"] == fields["url"] for each in service.saved)
    service.saved.append(fields)
    return _answer(200 if is_known else 201, {"id": "k1"})


def _readwise(service: DocumentedService, seen: ReceivedRequest) -> Answer:
    if seen.headers.get("authorization") != f"Token {TOKEN}":
        return _answer(401, {"detail": "Invalid token."})
    fields = _json(seen)
    if not fields.get("url"):
        return _answer(400, {"url": ["This field is required."]})
    allowed = {"url", "html", "should_clean_html", "title", "author", "summary", "published_date", "image_url"}
    assert fields.keys() <= allowed | {"location", "category", "saved_using", "tags", "notes"}
    service.saved.append(fields)
    return _answer(201, {"id": "r1", "url": "https://read.readwise.io/read/r1"})


def _instapaper(service: DocumentedService, seen: ReceivedRequest) -> Answer:
    login = b64encode(b"alice@example.org:pass word").decode()
    if seen.headers.get("authorization") != f"Basic {login}":
        return _answer(403)
    fields = _form(seen)
    if not fields.get("url"):
        return _answer(400)
    assert fields.keys() <= {"url", "title", "selection"}
    service.saved.append(fields)
    return _answer(201, {"bookmark_id": 1})


def _raindrop(service: DocumentedService, seen: ReceivedRequest) -> Answer:
    if seen.headers.get("authorization") != f"Bearer {TOKEN}":
        return _answer(401, {"result": False, "errorMessage": "Unauthorized"})
    fields = _json(seen)
    if not fields.get("link"):
        return _answer(200, {"result": False, "errorMessage": "link is required"})
    assert fields["pleaseParse"] == {}
    service.saved.append(fields)
    return _answer(200, {"result": True, "item": {"_id": 1}})


def _omnivore(service: DocumentedService, seen: ReceivedRequest) -> Answer:
    if seen.headers.get("authorization") != TOKEN:
        return _answer(200, {"data": {"saveUrl": {"errorCodes": ["UNAUTHORIZED"], "message": "no"}}})
    asked = _json(seen)
    sent = asked["variables"]["input"]
    assert "saveUrl(input: $input)" in asked["query"]
    assert sent.keys() == {"url", "source", "clientRequestId"}
    service.saved.append(sent)
    return _answer(200, {"data": {"saveUrl": {"url": "https://o.example", "clientRequestId": sent["clientRequestId"]}}})


def _wallabag_token(service: DocumentedService, seen: ReceivedRequest) -> Answer:
    expected = {"grant_type": "password", "client_id": "id_1", "client_secret": "secret"}
    if _form(seen) != expected | {"username": "alice", "password": "pass word"}:
        return _answer(
            400, {"error": "invalid_grant", "error_description": "Invalid username and password combination"}
        )
    service.tokens_given += 1
    return _answer(200, {"access_token": TOKEN, "expires_in": 3600, "token_type": "bearer"})


def _wallabag(service: DocumentedService, seen: ReceivedRequest) -> Answer:
    if seen.headers.get("authorization") != f"Bearer {TOKEN}":
        return _answer(401, {"error": "invalid_grant"})
    fields = _json(seen)
    if not fields.get("url"):
        return _answer(400)
    assert isinstance(fields.get("tags", ""), str)
    service.saved.append(fields)
    return _answer(200, {"id": 1})


ANSWERS = {
    ServiceKind.LINKDING: {"/api/bookmarks/": _linkding},
    ServiceKind.KARAKEEP: {"/api/v1/bookmarks": _karakeep},
    ServiceKind.READWISE: {"/api/v3/save/": _readwise},
    ServiceKind.INSTAPAPER: {"/api/add": _instapaper},
    ServiceKind.RAINDROP: {"/rest/v1/raindrop": _raindrop},
    ServiceKind.OMNIVORE: {"/api/graphql": _omnivore},
    ServiceKind.WALLABAG: {"/oauth/v2/token": _wallabag_token, "/api/entries.json": _wallabag},
}
LOGINS: dict[ServiceKind, dict[str, str]] = {
    kind: {"token": TOKEN} for kind in ANSWERS if kind not in (ServiceKind.INSTAPAPER, ServiceKind.WALLABAG)
} | {
    ServiceKind.INSTAPAPER: {"username": "alice@example.org", "password": "pass word"},
    ServiceKind.WALLABAG: {
        "client_id": "id_1",
        "client_secret": "secret",
        "username": "alice",
        "password": "pass word",
    },
}
