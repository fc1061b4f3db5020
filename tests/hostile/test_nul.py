"""NUL characters, which PostgreSQL cannot store, are refused in every form before it is processed."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from feedmill.library.users.manage_users import create_first_admin
from tests.browser import sample_feeds
from tests.databases import emptied
from tests.scripted_web import Web
from tests.serve.rest.site import Site, running_site
from tests.serve.web.visitor import Visitor

NUL = "a\0b"
FORMS = (
    ("/labels", {"name": NUL}),
    ("/folders", {"name": NUL}),
    ("/searches", {"q": NUL, "name": NUL}),
    ("/subscribe", {"url": NUL}),
    ("/subscribe/add", {"feed": NUL, "title": NUL}),
    ("/starters", {"feed": NUL}),
    ("/feed/1/edit", {"title": NUL, "block_rules": NUL, "keep_selector": NUL, "new_label": NUL, "user_agent": NUL}),
    ("/feed/1/edit/preview", {"block_rules": NUL}),
    ("/bookmarks", {"url": "http://127.0.0.1/", "title": NUL, "note": NUL}),
    ("/settings/api-keys", {"name": NUL, "scope": "read"}),
    ("/settings/services", {"kind": "linkding", "name": "Links", "address": "https://example.org", "token": NUL}),
    ("/settings/notifications", {"name": NUL, "url": "ntfys://ntfy.sh/t", "gap": "5", "digest": "none"}),
    ("/settings/webhooks", {"url": NUL}),
    ("/settings/output-feeds", {"list": "all", "name": NUL}),
    ("/pools/new", {"name": NUL}),
    ("/admin/users/new", {"name": NUL, "password": "correct horse battery"}),
    ("/login", {"name": NUL, "password": NUL}),
    ("/register", {"name": NUL, "password": NUL * 5, "again": NUL * 5}),
)


@pytest.fixture
async def site(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Site]:
    async with emptied(request, "postgresql", tmp_path), Web() as web:
        database = request.getfixturevalue("postgres_service").url
        async with running_site(tmp_path, web, database=database) as site:
            alice = await create_first_admin(site.app.db, "alice", sample_feeds.PASSWORD, datetime.now(UTC))
            await sample_feeds.subscribe_to(site, alice, sample_feeds.sample_feeds(web.url(""))[1])
            yield site


async def test_a_form_with_a_nul_is_refused(alice: Visitor) -> None:
    answers = {path: await alice.send(path, **fields) for path, fields in FORMS}

    assert {path: answer.status_code for path, answer in answers.items() if answer.status_code != 422} == {}
