"""Requests for a host name that is not configured are refused, and the response says which setting to add."""

import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from lxml import html

from feedmill.errors import BadSetting
from feedmill.settings import load_settings
from tests.scripted_web import Web
from tests.serve.rest.site import Site, running_site

PAGE = {"Accept": "text/html,*/*"}


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    """A site with the default settings."""
    async with Web() as web, running_site(tmp_path, web, public_url="") as site:
        yield site


async def ask(site: Site, host: str | None, path: str = "/setup", **headers: str) -> httpx.Response:
    browser = await site.browser(**PAGE | headers)
    return await browser.get(path, headers={"Host": host} if host is not None else {})


LOCAL_HOSTS = [
    "localhost",
    "localhost:8000",
    "LOCALHOST",
    "localhost.",
    "feeds.localhost",
    "127.0.0.1:8000",
    "[::1]:8000",
    "192.168.1.7",
    "203.0.113.9:80",
    "[2001:db8::1]",
    socket.gethostname(),
    f"{socket.gethostname().partition('.')[0]}.local:8000",
]
OTHER_HOSTS = [
    "evil.example",
    "evil.example:8000",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "localhost@evil.example",
    "evil",
    "",
    " ",
    "a b",
    "[evil]",
    "evil.example/localhost",
    "::1",
    "xn--",
    "*",
    "caf\u00e9.example",
    "a" * 300,
]


async def test_ip_addresses_and_local_host_names_are_accepted(site: Site) -> None:
    statuses = {host: (await ask(site, host)).status_code for host in LOCAL_HOSTS}

    assert statuses == dict.fromkeys(LOCAL_HOSTS, 200)


@pytest.mark.parametrize("path", ["/setup", "/", "/api/me", "/health", "/metrics", "/icons/1", "/worker.js"])
async def test_dns_rebinding_is_refused(site: Site, path: str) -> None:
    statuses = {host: await raw(site, path, [host.encode()]) for host in OTHER_HOSTS}

    assert statuses == dict.fromkeys(OTHER_HOSTS, 421)


async def test_a_request_that_changes_something_is_refused_too(site: Site) -> None:
    browser = await site.browser()

    answer = await browser.post("/api/sessions", json={}, headers={"Host": "evil.example"})

    assert (answer.status_code, answer.json()["code"]) == (421, "host_not_allowed")


async def test_a_request_with_two_hosts_is_refused(site: Site) -> None:
    assert await raw(site, "/setup", [b"localhost", b"localhost"]) == 421


async def test_a_health_check_without_a_host_header_is_answered(site: Site) -> None:
    assert await raw(site, "/health/live", []) == 200


@pytest.mark.parametrize(
    "settings",
    [
        {"public_url": "https://feeds.example.org"},
        {"public_url": "https://Feeds.example.org:8443/"},
        {"public_url": "", "allowed_hosts": "other.example, feeds.example.org"},
        {"public_url": "", "allowed_hosts": "FEEDS.example.org:80"},
        {"public_url": "", "allowed_hosts": "*"},
    ],
)
async def test_a_host_name_that_the_operator_configured_is_accepted(tmp_path: Path, settings: dict[str, str]) -> None:
    async with Web() as web, running_site(tmp_path, web, **settings) as site:
        assert (await ask(site, "feeds.example.org")).status_code == 200
        assert (await ask(site, "evil.example")).status_code == (200 if "*" in settings.values() else 421)


async def test_the_page_names_the_exact_line_to_add(site: Site) -> None:
    answer = await ask(site, "feeds.example.org:8000")

    lines = [code.text for code in html.fromstring(answer.text).iter("code")]
    assert lines == [
        "FEEDMILL_PUBLIC_URL=http://feeds.example.org:8000",
        'public_url = "http://feeds.example.org:8000"',
    ]
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("line", [0, 1])
async def test_adding_the_line_from_the_page_allows_the_host_name(site: Site, tmp_path: Path, line: int) -> None:
    said = [code.text or "" for code in html.fromstring((await ask(site, "feeds.example.org")).text).iter("code")][line]
    name, value = said.removeprefix("FEEDMILL_").lower().split("=")

    async with running_site(tmp_path, site.web, **{name.strip(): value.strip(' "')}) as changed:
        assert (await ask(changed, "feeds.example.org")).status_code == 200


async def test_a_second_host_name_goes_into_allowed_hosts(tmp_path: Path) -> None:
    given = {"public_url": "https://feeds.example.org", "allowed_hosts": "nas"}
    async with Web() as web, running_site(tmp_path, web, **given) as site:
        answer = await ask(site, "other.example:8000")

    assert "FEEDMILL_ALLOWED_HOSTS=nas,other.example" in answer.text


async def test_the_page_is_available_in_chinese(site: Site) -> None:
    answer = await ask(site, "feeds.example.org", **{"Accept-Language": "zh-CN"})

    assert "此地址尚未设置" in answer.text
    assert "FEEDMILL_PUBLIC_URL=http://feeds.example.org" in answer.text


async def test_a_hostile_host_name_is_not_repeated_on_the_page(site: Site) -> None:
    answer = await ask(site, '"><script>alert(1)</script>')

    assert answer.status_code == 421
    assert "alert" not in answer.text


async def test_api_clients_get_the_refusal_as_json(site: Site) -> None:
    api = await ask(site, "evil.example", "/api/entries")
    plain = await ask(site, "evil.example", "/health", Accept="*/*")

    assert api.headers["content-type"] == "application/problem+json"
    assert "FEEDMILL_PUBLIC_URL" in api.json()["detail"]
    assert plain.headers["content-type"].startswith("text/plain")


async def test_the_page_can_load_its_styles(site: Site) -> None:
    page = html.fromstring((await ask(site, "evil.example")).text)
    [styles] = page.xpath("//link[@rel='stylesheet']/@href")

    assert (await ask(site, "evil.example", styles)).status_code == 200


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("public_url", "feeds.example.org"),
        ("public_url", "https://example.org/feeds"),
        ("public_url", "ftp://a.org"),
        ("public_url", "https://"),
        ("allowed_hosts", "https://feeds.example.org"),
        ("allowed_hosts", "*.example.org"),
    ],
)
def test_a_setting_that_can_never_match_is_refused_at_start(name: str, value: str) -> None:
    with pytest.raises(BadSetting, match=name):
        load_settings(**{name: value})


async def test_a_client_that_disconnects_while_sending_a_form_causes_no_error(site: Site) -> None:
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"host", b"localhost"), (b"content-type", b"application/x-www-form-urlencoded")]
    await site.asgi(scope("/login", headers) | {"method": "POST"}, receive, send)


async def raw(site: Site, path: str, hosts: list[bytes]) -> int:
    """The status of a request with exactly these Host headers."""
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    await site.asgi(scope(path, [(b"host", host) for host in hosts]), receive, send)
    return int(sent[0]["status"])


def scope(path: str, headers: list[tuple[bytes, bytes]]) -> dict[str, Any]:
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8000),
        "state": {},
    }
