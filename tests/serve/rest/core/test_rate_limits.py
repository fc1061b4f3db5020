"""How many requests one caller may send."""

from pathlib import Path

import httpx
from starlette.responses import PlainTextResponse

from feedmill.serve.http.rate_limits import RateLimit
from tests.scripted_web import Web
from tests.serve.rest.site import running_site


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def client(clock: Clock, per_minute: int) -> httpx.AsyncClient:
    limited = RateLimit(PlainTextResponse("yes"), per_minute, clock)
    return httpx.AsyncClient(transport=httpx.ASGITransport(limited), base_url="http://feedmill.test")


async def test_a_burst_is_served_and_requests_beyond_it_are_refused() -> None:
    clock = Clock()
    async with client(clock, per_minute=60) as asking:
        answers = [(await asking.get("/")).status_code for _ in range(16)]
        refused = await asking.get("/")
        clock.now += int(refused.headers["retry-after"])
        later = await asking.get("/")

    assert answers == [200] * 15 + [429]
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many")
    assert later.status_code == 200


async def test_callers_have_separate_limits() -> None:
    async with client(Clock(), per_minute=8) as asking:
        first, second = {"Authorization": "Bearer a"}, {"Authorization": "Bearer b"}
        answers = [(await asking.get("/", headers=who)).status_code for who in (first, first, first, second)]

    assert answers == [200, 200, 429, 200]


async def test_invented_keys_and_cookies_are_counted_by_address() -> None:
    async with client(Clock(), per_minute=16) as asking:
        keys = [(await asking.get("/", headers={"Authorization": f"Bearer {n}"})).status_code for n in range(6)]
    async with client(Clock(), per_minute=16) as asking:
        cookies = [(await asking.get("/", headers={"Cookie": f"feedmill_session={n}"})).status_code for n in range(6)]

    assert keys == cookies == [200] * 4 + [429] * 2


async def test_the_setting_limits_the_api_and_nothing_else(tmp_path: Path) -> None:
    async with Web() as web, running_site(tmp_path, web, api_per_minute=4) as site:
        browser = await site.browser()
        api = [(await browser.get("/api/me")).status_code for _ in range(2)]
        health = [(await browser.get("/health/live")).status_code for _ in range(3)]

    assert (api, health) == ([401, 429], [200] * 3)
