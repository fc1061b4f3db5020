"""Pages in Chinese have no English sentence, except what feeds and users wrote."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from lxml import html

from feedmill.i18n.messages import Message, message_to_stored
from feedmill.library.users.find_caller import caller_of_api_key
from feedmill.library.users.manage_users import create_first_admin, make_user
from feedmill.model.pool import PoolRule
from feedmill.model.user import Actor
from feedmill.store.database import Step
from feedmill.store.pools.grants import grant_access
from feedmill.store.schema import feeds, fetch_log, image_tasks
from feedmill.store.users.api_keys import add_api_key
from tests.browser.sample_feeds import CHINESE, PASSWORD, SampleEntry, SampleFeed, subscribe_to
from tests.scripted_web import Answer
from tests.serve.rest.site import Site
from tests.serve.web import sample_sites as sites
from tests.serve.web.visitor import Visitor

PAGES = [
    "/unread",
    "/all",
    "/starred",
    "/later",
    "/history",
    "/feed/1",
    "/feed/2",
    "/item/1",
    "/feeds",
    "/folders",
    "/labels",
    "/bookmarks",
    "/search?q=nowhere",
    "/filters",
    "/filters/new?q=is:unread",
    "/filters/1",
    "/muted",
    "/search?q=%28",
    "/go",
    "/keys",
    "/keys/edit",
    "/appearance",
    "/appearance/css",
    "/subscribe",
    "/import",
    "/health-of-feeds",
    "/archive",
    "/feed/1/health",
    "/feed/1/menu",
    "/feed/2/health",
    "/feed/2/edit",
    "/feed/1/archive",
    "/feed/2/archive",
    "/feed/1/archive/images",
    "/feed/1/archive/images?state=failed",
    "/feed/1/archive/reparse",
    "/settings",
    "/settings/two-factor",
    "/settings/two-factor/set-up",
    "/settings/sessions",
    "/settings/api-keys",
    "/settings/apps",
    "/settings/services",
    "/settings/services/new?kind=linkding",
    "/settings/services/new?kind=template",
    "/settings/notifications",
    "/settings/output-feeds",
    "/settings/webhooks",
    "/pools",
    "/pools/new",
    "/admin",
    "/admin/users/1",
    "/admin/users/new",
    "/admin/feeds",
    "/admin/feeds/1",
    "/admin/feeds/2",
    "/admin/queue",
    "/admin/hosts",
    "/admin/hosts/127.0.0.1",
    "/admin/feeds/1/merge?into=2",
    "/admin/feeds/1/merge?into=1",
    "/admin/storage?retention=yes",
    "/admin/log",
    "/admin/settings",
    "/admin/audit",
    "/offline",
    "/logout",
]

# URLs and what is for programs; the feeds of this site and its user write Chinese.
DATA = (
    "script",
    "style",
    "code",
    "pre",
    "kbd",
    "textarea",
    "*[@dir='ltr']",
    "*[contains(concat(' ', @class, ' '), ' address ')]",
    "datalist",
    "option[contains(@value, '/')]",
)
# Commands, formats, and what is typed as code.
NAMES = re.compile(r"feedmill (?:add|pool create|pool import|restore)|JSON Feed|Google Reader|\.ad, aside")
# Or the name of a value that is missing.
ENGLISH = re.compile(r"\b[A-Za-z][a-z']+(?:[ ,]+[a-z']{2,})+\b|\{\w+\}")


@pytest.fixture
async def reader(site: Site) -> Visitor:
    """A user who reads Chinese, with a broken feed, failed images and their error messages."""
    user = await create_first_admin(site.app.db, "alice", PASSWORD, datetime.now(UTC))
    image = f'<img src="{site.web.url("/wheel.png")}">'
    for path, title in (("/jia.xml", "甲"), ("/yi.xml", "乙")):
        pieces = [SampleEntry(f"第{n}篇", CHINESE + image, hours=n) for n in range(1, 4)]
        await subscribe_to(site, user, SampleFeed(path, title, pieces, language="zh"))
    alice = await Visitor.signed_in(site, "alice")
    alice.client.headers["accept-language"] = "zh-CN"
    site.web.serve("/jia.xml", Answer(b"<html><b>moved</b></html>"))
    await site.app.db.batch([Step(feeds.update().where(feeds.c.id == 1).values(last_fetched_at=None))])
    await alice.send("/feed/1/health", do="refresh")
    now = datetime.now(UTC)
    failed = {"feed_id": 2, "at": f"{now - timedelta(hours=1):%Y-%m-%dT%H:%M:%SZ}", "outcome": "connect"}
    refused = Message("fetch.no_connection", detail="111")
    missing = Message("fetch.status", status=404)
    said = {"message": message_to_stored(refused), "bytes": 0, "ms": 5, "new_entries": 0, "revised_entries": 0}
    broken = {"status": "error", "last_error": said["message"], "last_error_kind": failed["outcome"]}
    await site.app.db.batch(
        [
            Step(fetch_log.insert().values(**failed, **said)),
            Step(feeds.update().where(feeds.c.id == 2).values(consecutive_failures=12, **broken)),
            Step(image_tasks.update().values(status="failed", last_error=message_to_stored(missing))),
        ]
    )
    actions = ["read", "star", "later", "raise_to_top", "notify", "full_text"]
    sent = {"name": "磨", "condition": "磨坊", "scope": "feed:2", "action": actions, "new_label": "木", "stored": "yes"}
    await alice.send("/filters/new", **sent, stops="yes")
    await alice.send("/muted", do="mute", kind="word", text="水闸", period="week")
    await alice.send("/muted", do="follow", kind="site", text="example.org", period="for_good")
    return alice


async def test_no_page_has_an_english_sentence(reader: Visitor) -> None:
    found = {path: list(_english(await _page(reader, path))) for path in PAGES}

    assert {path: words for path, words in found.items() if words} == {}


async def test_pages_about_permissions_have_no_english_sentence(site: Site, reader: Visitor) -> None:
    db, now = site.app.db, datetime.now(UTC)
    alice = await reader.user(site)
    bob = await make_user(db, "bob", PASSWORD, False, now, Actor())
    group = await site.app.pools.create("磨坊", PoolRule(labels=("好",), labels_of="bob"))
    await grant_access(db, group, bob, Actor(), now)
    await add_api_key(db, alice.id, "索引", "fm_limited", ["read", "pools", "write"], now, groups=[group.id])
    who = await caller_of_api_key(db, "fm_limited", now)
    await add_api_key(db, bob.id, "手机", "fm_phone", ["read"], now)
    await add_api_key(db, alice.id, "其他", "fm_made", ["read"], now, maker=who)
    await Visitor.signed_in(site, "alice")

    pages = ["/pools", f"/pools/{group.id}", "/settings", "/settings/api-keys", "/settings/sessions", "/admin/users/2"]
    found = {path: list(_english(await _page(reader, path))) for path in pages}
    sent = [
        (f"/pools/{group.id}/grants", {"taker": "nobody"}),
        ("/pools/new", {"name": "x", "labels": "x", "labels_of": "nobody"}),
        ("/settings/api-keys", {"name": "x", "scope": "read", "pool_group": str(group.id)}),
        ("/admin/users/2/password", {"revoke_keys": "yes"}),
        ("/settings/password", {"current": PASSWORD, "new": "long enough", "again": "long enough"}),
        ("/settings/sessions/end-others", {"revoke_keys": "yes"}),
    ]
    for path, fields in sent:
        answer = await reader.send(path, **fields)
        if answer.status_code == 303:
            answer = await reader.client.get(answer.headers["location"])
        found[path] = list(_english(html.fromstring(answer.text)))

    assert {path: words for path, words in found.items() if words} == {}


async def test_answers_to_forms_have_no_english_sentence(site: Site, reader: Visitor) -> None:
    here = site.web.url("")
    lines = ['text="A"', 'text="B" xmlUrl="ftp://b.example/x"', 'text="C" type="link" url="http://c.example/"']
    lines += [f'text="D" xmlUrl="{sites.feed(site, "/ding.xml", "丁")}"']
    opml = f"<opml><body>{''.join(f'<outline {line}/>' for line in lines)}</body></opml>"
    sent = [
        ("/subscribe", {"url": f"{here}/nothing-there"}),
        ("/subscribe", {"url": "ftp://example.org/"}),
        ("/subscribe", {"url": "http://10.0.0.1/"}),
        ("/subscribe", {"url": f"{here}/jia.xml"}),
        ("/subscribe/add", {"feed": f"{here}/nothing-there"}),
        ("/feed/1/health/test", {"url": f"{here}/jia.xml"}),
        ("/feed/1/health/test", {"url": "gopher://x"}),
        ("/import", {"opml": opml}),
        ("/import", {"opml": "<opml>"}),
        ("/item/1/full-text", {}),
        ("/feed/1/health", {"do": "dance"}),
        ("/marks", {"do": "dance", "id": "1"}),
        ("/undo", {"undo": "nonsense"}),
        ("/undo", {"undo": "0" * 32}),
        ("/undo", {}),
        ("/undo", {"undo": ["0" * 32, "1" * 32]}),
        ("/mark-all-read?view=/all", {"view": "/all"}),
        ("/mark-all-read", {"what": "/all"}),
        ("/folders", {"name": ""}),
        ("/filters/new", {"name": "", "condition": "(", "scope": "all", "new_label": ""}),
        ("/filters/new", {"name": "", "condition": "磨", "scope": "all", "new_label": ""}),
        ("/filters/1/try", {"condition": "磨坊"}),
        ("/filters/1/switch", {"on": "no"}),
        ("/filters/1/move", {"to": "up"}),
        ("/filters/1/apply", {}),
        ("/filters/1/revert", {}),
        ("/muted", {"do": "mute", "kind": "word", "text": "…", "period": "day"}),
        ("/muted/2", {"period": "month"}),
        ("/item/1/mute", {"do": "follow", "subject": "word:面粉", "text": "", "period": "day", "next": "/all"}),
        ("/item/1/effects", {"action": "star", "target": "0"}),
        ("/filters/1/delete", {"revert": "yes"}),
        ("/item/999", {}),
    ]

    found = {}
    for path, fields in sent:
        answer = await reader.send(path, **fields)
        if answer.status_code == 303:
            answer = await reader.client.get(answer.headers["location"])
        found[path, str(fields)] = list(_english(html.fromstring(answer.text)))

    assert {asked: words for asked, words in found.items() if words} == {}


async def _page(reader: Visitor, path: str) -> Any:
    answer = await reader.client.get(path)
    assert answer.status_code in (200, 422), (path, answer.status_code)
    return html.fromstring(answer.text)


def _english(page: Any) -> Iterator[str]:
    """Runs of English words that a person sees or a screen reader speaks."""
    for data in page.xpath("|".join(f"//{each}" for each in DATA)):
        if data.getparent() is not None:
            data.drop_tree()
    said = [text for text in page.xpath("//text()") if text.strip()]
    said += page.xpath("//@title|//@aria-label|//@placeholder|//@alt")
    for text in said:
        yield from ENGLISH.findall(NAMES.sub("", " ".join(text.split())))
