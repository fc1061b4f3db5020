"""Every page of one user requested by another: Charlie sees and changes nothing of Alice's."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from sqlalchemy import Table, select
from starlette.routing import Route

from feedmill.model.user import Actor, ProviderSubject
from feedmill.serve.web.routes import ROUTES
from feedmill.store import schema
from feedmill.store.users.identities import add_identity
from tests.serve.rest.database_content import everything
from tests.serve.rest.site import Site
from tests.serve.web.valid_forms import FORMS, filled
from tests.serve.web.visitor import Visitor

WITH_IDS = [
    (method, route.path)
    for route in ROUTES
    if isinstance(route, Route) and "{id:int}" in route.path
    for method in sorted((route.methods or set()) - {"HEAD"})
]
LISTS = [
    "/search?q=mill",
    "/search?q=mill&in=/feed/{feed}",
    "/export",
    "/export?id={feed}",
    "/export?folder={folder}",
    "/subscribe/added?id={feed}",
    "/feeds",
    "/archive",
    "/health-of-feeds",
    "/all",
    "/history",
    "/go?q=quiet",
    "/bookmarks",
    "/filters",
    "/filters/new",
    "/muted",
    "/labels",
    "/folders",
    "/settings/services",
    "/settings/notifications",
    "/settings/webhooks",
    "/settings/output-feeds",
    "/settings/api-keys",
    "/pools",
]
HERS = ("Quiet Systems", "systems.xml", "Backpressure", "Computing")


@dataclass(frozen=True)
class Things:
    """The ids of what Alice has, by the first words of the paths that show it."""

    ids: dict[str, int]
    others: dict[str, int]

    def fill(self, path: str) -> str:
        [id] = [id for start, id in self.ids.items() if path.startswith(f"{start}/")]
        path = path.replace("{id:int}", str(id)).replace("{kind}", "titles").replace("{action}", "delete")
        return re.sub(r"\{(\w+):int\}", lambda found: str(self.others[found[1]]), path)


@pytest.fixture
async def things(site: Site, alice: Visitor) -> Things:
    token = {"X-CSRF-Token": alice.csrf()}
    for path, json in {
        "/labels": {"name": "private"},
        "/searches": {"name": "mine", "query": "mill"},
        "/bookmarks": {"url": site.web.url("/page")},
        "/feeds/refresh-all": {},
        "/api-keys": {"name": "mine", "scopes": ["read"]},
        "/services": {"kind": "linkding", "name": "Links", "options": {"address": site.web.url("/"), "token": "t"}},
        "/notifications": {"name": "phone", "url": "ntfys://ntfy.sh/t"},
        "/webhooks": {"url": site.web.url("/hook"), "events": ["entries.new"]},
        "/pools": {"name": "mine"},
        "/output-feeds": {"list": "all"},
    }.items():
        answer = await alice.client.post(f"/api{path}", json=json, headers=token)
        assert answer.is_success, (path, answer.text)
    assert (await alice.send("/settings/apps", app="netnewswire", name="phone")).status_code < 400
    await _add_filters(alice)
    await _add_identity(site, alice)
    await _idle(site)
    tables = {
        "/feed": schema.subscriptions,
        "/folder": schema.folders,
        "/folders": schema.folders,
        "/label": schema.labels,
        "/labels": schema.labels,
        "/item": schema.entries,
        "/searches": schema.saved_searches,
        "/filters": schema.filters,
        "/filter-jobs": schema.filter_jobs,
        "/jobs": schema.batches,
        "/bookmarks": schema.bookmarks,
        "/settings/sessions": schema.sessions,
        "/settings/api-keys": schema.api_keys,
        "/settings/services": schema.services,
        "/settings/notifications": schema.notification_targets,
        "/settings/webhooks": schema.webhooks,
        "/settings/apps": schema.app_passwords,
        "/settings/output-feeds": schema.output_feeds,
        "/settings/identities": schema.identities,
        "/pools": schema.pool_groups,
        "/admin/users": schema.users,
        "/admin/feeds": schema.feeds,
    }
    ids = {start: await _first(site, table) for start, table in tables.items()}
    # The second filter is a mute.
    ids["/muted"] = ids["/filters"] + 1
    return Things(ids, {"body": await _first(site, schema.raw_bodies), "delivery": 1, "user": 1, "number": 0})


async def _add_filters(alice: Visitor) -> None:
    """A filter that is applied to what is there, and a mute."""
    for path, fields in {
        "/filters/new": {
            "name": "private",
            "condition": "mill",
            "scope": "all",
            "action": "read",
            "new_label": "",
            "stored": "yes",
        },
        "/muted": {"do": "mute", "kind": "word", "text": "larch", "period": "day"},
    }.items():
        answer = await alice.send(path, **fields)
        assert answer.status_code == 303, (path, answer.text)


async def _add_identity(site: Site, alice: Visitor) -> None:
    subject = ProviderSubject("https://auth.example.org", "alice")
    await add_identity(site.app.db, await alice.user(site), subject, datetime.now(UTC), Actor())


async def _first(site: Site, table: Table) -> int:
    [row, *_] = await site.app.db.query(select(table.c.id).order_by(table.c.id))
    return int(row["id"])


async def _idle(site: Site) -> None:
    """Waits until Alice's jobs have ended, so that only Charlie could change anything."""
    async for _ in site.parts.batches.watch(await _first(site, schema.batches)):
        pass
    # What its end has started, such as the archiving of images.
    await site.parts.engine.until_idle()


async def test_no_page_of_one_user_opens_for_another(site: Site, charlie: Visitor, things: Things) -> None:
    csrf = charlie.csrf()
    before = everything(site)

    values = dict.fromkeys(("entry", "feed", "folder", "label", "body", "other_feed", "filter", "pool"), 1) | {
        "url": "http://127.0.0.1/"
    }
    answers = {}
    for method, path in WITH_IDS:
        fields = filled(FORMS.get(path, {}), values)
        answers[path] = await _ask(charlie.client, method, things.fill(path), fields, csrf)

    opened = {path: answer.status_code for path, answer in answers.items() if answer.status_code not in (403, 404)}
    assert opened == {}
    assert everything(site) == before


async def test_no_form_takes_ids_of_another_user(site: Site, charlie: Visitor, things: Things) -> None:
    entry, feed, folder, label = (things.ids[start] for start in ("/item", "/feed", "/folder", "/label"))
    csrf, url = charlie.csrf(), site.web.url("/systems.xml")
    before = everything(site)

    forms: list[tuple[str, dict[str, Any]]] = [
        *(("/marks", {"do": f"{mark}:{entry}"}) for mark in ("read", "unread", "star", "later")),
        ("/marks/label", {"id": entry, "label": label}),
        ("/marks/images", {"id": entry}),
        *(("/feeds", {"id": feed, "do": do}) for do in ("pause", "refresh", f"add:{folder}", "interval:60")),
        ("/feeds/unsubscribe", {"id": feed}),
        ("/folders", {"name": "mine", "parent": folder}),
        ("/refresh-all", {"view": f"/feed/{feed}"}),
        ("/refresh-all", {"view": f"/folder/{folder}"}),
        *(
            ("/mark-all-read", {"view": view, "age": ""})
            for view in (f"/feed/{feed}", f"/folder/{folder}", f"/label/{label}")
        ),
        ("/searches", {"q": "mill", "name": "x", "in": f"/feed/{feed}"}),
        ("/subscribe/add", {"feed": url, "folder": folder}),
    ]
    answers = [await charlie.client.post(path, data={"csrf": csrf} | fields) for path, fields in forms]

    assert [answer.status_code for answer in answers if answer.status_code >= 500] == []
    assert everything(site) == before


async def test_no_list_shows_data_of_another_user(charlie: Visitor, things: Things) -> None:
    for path in LISTS:
        asked = path.format(feed=things.ids["/feed"], folder=things.ids["/folder"])
        shown = (await charlie.client.get(asked)).text
        assert not [word for word in ("Quiet Systems", "systems.xml", "Backpressure", "Computing") if word in shown], (
            path
        )


async def _ask(client: httpx.AsyncClient, method: str, path: str, fields: dict[str, Any], csrf: str) -> httpx.Response:
    if method == "GET":
        return await client.get(path)
    return await client.post(path, data={"csrf": csrf} | fields)
