"""Passwords of feeds are on no administration page and in no log, whatever the admin does."""

import logging
import threading
from collections.abc import Iterator

import pytest
import structlog
from starlette.routing import Route

from feedmill import logs
from feedmill.serve.web.routes import ROUTES
from tests.scripted_web import Answer
from tests.serve.rest.site import Site
from tests.serve.web.visitor import Visitor

PAGES = [
    route.path
    for route in ROUTES
    if isinstance(route, Route)
    and route.path.startswith("/admin")
    and "{" not in route.path
    and "GET" in (route.methods or ())
]
API = ["feeds", "hosts", "blocked-hosts", "queue", "storage", "audit", "log", "settings"]


@pytest.fixture(autouse=True)
def _logs_as_a_server_writes_them(site: Site) -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    logs.set_up(site.app.settings)
    # A cached logger would write like this in every later test.
    structlog.configure(cache_logger_on_first_use=False)
    yield
    root.handlers[:], root.level = handlers, level
    logging.captureWarnings(False)
    threading.excepthook = threading.__excepthook__
    structlog.reset_defaults()


async def test_administration_shows_no_password_of_a_feed(site: Site, alice: Visitor) -> None:
    address = site.web.serve("/secret.xml", Answer(status=401)).replace("://", "://reader:hunter2@")
    token = {"X-CSRF-Token": alice.csrf()}
    added = await alice.client.post("/api/feeds", json={"url": address, "anyway": True}, headers=token)
    logging.getLogger("somebody.else").warning("could not ask %s", address)

    shown = [await alice.client.get(path) for path in PAGES]
    shown += [await alice.client.get(f"/api/admin/{name}") for name in API]

    assert added.is_success, added.text
    assert {answer.status_code for answer in shown} == {200}
    assert {answer.url.path for answer in shown if "could not ask" in answer.text} == {"/admin/log", "/api/admin/log"}
    assert [answer.url.path for answer in shown if "hunter2" in answer.text] == []
