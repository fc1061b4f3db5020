"""A working request for every route of the APIs of reader apps, all of them about things that are Alice's.

Tests of rights send them as Charlie, tests of bad input spoil them, tests of limits make them larger. A route that has
no request here fails `tests/serve/test_app_rights.py`.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

import httpx

from feedmill.library.feeds.fetch_icons import IconFetcher
from feedmill.serve import greader, miniflux
from feedmill.serve.greader.item_ids import short_id
from tests.archive.images import sample_images
from tests.scripted_web import Answer
from tests.serve.app_client import AppUser, GreaderApp, sign_in
from tests.serve.rest.site import Site

MARK = "hidden"
"""A word in everything that is Alice's: no response to another user may have it."""
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
READING_LIST, READ, STARRED = (f"user/-/state/com.google/{name}" for name in ("reading-list", "read", "starred"))
Fields = list[tuple[str, str]]


@dataclass(frozen=True)
class AppRequest:
    """`fields` are the parameters of a form, or of the query of a GET; `json` is a body."""

    method: str
    path: str
    fields: Fields = field(default_factory=list)
    json: Any = None
    content: bytes = b""

    async def send(self, user: AppUser, headers: dict[str, str]) -> httpx.Response:
        sent = urlencode(self.fields)
        path = f"{self.path}?{sent}" if sent and self.method == "GET" else self.path
        body = self.content or (json.dumps(self.json).encode() if self.json is not None else sent.encode())
        return await user.client.request(self.method, path, content=body, headers=FORM | headers)


@dataclass(frozen=True)
class Belongings:
    """What is Alice's, and the address of a feed that anybody may add."""

    alice: AppUser
    app: GreaderApp
    feed_id: int
    category_id: int
    entry_id: int
    enclosure_id: int
    other_feed: str
    other_opml: bytes


async def prepare_belongings(site: Site, alice: AppUser) -> Belongings:
    """A feed of Alice's in a folder, with an icon, and an entry with a label, a link and a file."""
    web, key = site.web, {"X-Auth-Token": alice.password}
    page = "<html><body><article>" + "<p>Words of the page. " + "A long sentence. " * 60 + "</article></body></html>"
    link = web.serve("/page", Answer(page.encode(), headers={"Content-Type": "text/html"}))
    icon = web.serve("/icon.png", Answer(sample_images.PNG, headers={"Content-Type": "image/png"}))
    body = (
        f"<feed xmlns='http://www.w3.org/2005/Atom'><title>{MARK} feed</title><icon>{icon}</icon><entry><id>1</id>"
        f"<title>{MARK} entry</title><link href='{link}'/><category term='{MARK} tag'/>"
        f"<link rel='enclosure' href='https://example.org/{MARK}.mp3' type='audio/mpeg'/></entry></feed>"
    )
    mine = web.serve(f"/{MARK}.xml", Answer(body.encode()))
    other = web.serve("/other.xml", Answer(body.replace(MARK, "other").encode()))

    async def send(method: str, path: str, sent: Any = None) -> Any:
        answer = await alice.client.request(method, f"/v1{path}", json=sent, headers=key)
        assert answer.status_code < 300, answer.text
        return answer.json() if answer.content else None

    category = (await send("POST", "/categories", {"title": f"{MARK} folder"}))["id"]
    feed = (await send("POST", "/feeds", {"feed_url": mine, "category_id": category}))["feed_id"]
    [entry] = (await send("GET", f"/feeds/{feed}/entries"))["entries"]
    enclosure = entry["enclosures"][0]["id"]
    await send("PUT", f"/enclosures/{enclosure}", {"media_progression": 7})
    app = await sign_in(alice)
    await app.post("/edit-tag", f"i={short_id(entry['id'])}&a=user/-/label/{MARK} label")
    await IconFetcher(site.app.db, site.app.client).fetch()
    opml = f'<opml version="2.0"><body><outline text="x" type="rss" xmlUrl="{other}?2"/></body></opml>'.encode()
    return Belongings(alice, app, feed, category, entry["id"], enclosure, other, opml)


def miniflux_requests(hers: Belongings) -> dict[tuple[str, str], AppRequest]:
    """By method and route; what deletes stands last."""
    values = {
        "user": hers.alice.user.id,
        "key": 1,
        "feed_id": hers.feed_id,
        "category_id": hers.category_id,
        "entry_id": hers.entry_id,
        "enclosure_id": hers.enclosure_id,
    }
    bodies = miniflux_bodies(hers)
    found = {}
    for route, handlers in miniflux.HANDLERS.items():
        path = "/v1" + re.sub(r"\{(\w+)[^}]*\}", lambda name: str(values[name[1]]), route)
        for method in handlers:
            body = bodies.get((method, route))
            raw = body if isinstance(body, bytes) else b""
            found[method, route] = AppRequest(method, path, json=None if raw else body, content=raw)
    return dict(sorted(found.items(), key=lambda item: item[0][0] == "DELETE"))


def miniflux_bodies(hers: Belongings) -> dict[tuple[str, str], Any]:
    """The bodies of routes that read one; None: the route reads none."""
    feed, category, entry = miniflux.FEED, miniflux.CATEGORY, miniflux.ENTRY
    without = ("mark-all-as-read", "refresh", "bookmark", "star", "save", "flush-history")
    routes = [("PUT", route) for route in miniflux.HANDLERS] + [("POST", route) for route in miniflux.HANDLERS]
    return {(method, route): None for method, route in routes if route.endswith(without)} | {
        ("POST", "/users"): {"username": "eve", "password": "correct horse battery"},
        ("PUT", "/users/{user}"): {"password": "correct horse battery"},
        ("POST", "/api-keys"): {"description": "mine"},
        ("POST", "/categories"): {"title": "New"},
        ("PUT", category): {"title": f"{MARK} renamed"},
        ("POST", "/discover"): {"url": hers.other_feed},
        ("POST", "/feeds"): {"feed_url": hers.other_feed, "category_id": hers.category_id},
        ("PUT", feed): {"title": f"{MARK} renamed", "category_id": hers.category_id, "disabled": False},
        ("POST", f"{feed}/entries/import"): {"url": "https://example.org/"},
        ("PUT", "/entries"): {"entry_ids": [hers.entry_id], "status": "read", "starred": True},
        ("PUT", entry): {"title": "x", "content": "x"},
        ("PUT", "/enclosures/{enclosure_id:int}"): {"media_progression": 5},
        ("POST", "/import"): hers.other_opml,
    }


def greader_requests(hers: Belongings) -> dict[str, AppRequest]:
    """By route below `/reader`; what deletes stands last."""
    item, feed, folder = short_id(hers.entry_id), f"feed/{hers.feed_id}", f"user/-/label/{MARK} folder"
    label = f"user/-/label/{MARK} label"
    api = greader.API
    forms: dict[str, tuple[str, Fields | bytes]] = {
        "/stream/items/ids": ("GET", [("s", feed)]),
        "/stream/items/count": ("GET", [("s", feed), ("a", "true")]),
        "/stream/items/contents": ("POST", [("i", item)]),
        "/stream/contents": ("GET", [("s", feed)]),
        "/stream/contents/{stream:path}": ("GET", []),
        "/subscribed": ("GET", [("s", feed)]),
        "/token": ("GET", []),
        "/user-info": ("GET", []),
        "/subscription/list": ("GET", []),
        "/tag/list": ("GET", []),
        "/unread-count": ("GET", []),
        "/subscription/export": ("GET", []),
        "/subscription/import": ("POST", hers.other_opml),
        "/subscription/quickadd": ("POST", [("quickadd", hers.other_feed)]),
        "/edit-tag": ("POST", [("i", item), ("a", READ), ("a", STARRED), ("r", label)]),
        "/mark-all-as-read": ("POST", [("s", feed)]),
        "/rename-tag": ("POST", [("s", folder), ("dest", f"{folder} renamed")]),
        "/disable-tag": ("POST", [("s", f"{folder} renamed"), ("s", label)]),
        "/subscription/edit": ("POST", [("ac", "unsubscribe"), ("s", feed)]),
    }
    found = {"/reader/atom/{stream:path}": AppRequest("GET", f"/reader/atom/{quote(feed)}")}
    for route, (method, sent) in forms.items():
        path = api + route.replace("{stream:path}", quote(feed, safe=""))
        raw = sent if isinstance(sent, bytes) else b""
        found[api + route] = AppRequest(method, path, [] if isinstance(sent, bytes) else sent, content=raw)
    return found
