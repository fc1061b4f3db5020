"""The offline page and the service worker: they hold nobody's data and need nothing from the server."""

import json
import re

import httpx

from feedmill.serve.web.core.assets import ASSETS, STYLESHEET, asset_url


async def test_the_service_worker_is_revalidated_and_caches_every_style_and_script(nobody: httpx.AsyncClient) -> None:
    answer = await nobody.get("/worker.js")

    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"
    [kept] = re.findall(r"SHELL = (\[.*?\]);", answer.text)
    needed = {asset_url(name) for name in ASSETS if name.startswith(("js/", "vendor/")) or name == STYLESHEET}
    assert needed | {"/offline", asset_url("icon.svg")} == set(json.loads(kept))
    assert {(await nobody.get(path)).status_code for path in json.loads(kept)} == {200}


async def test_the_offline_page_has_no_data_of_a_user(nobody: httpx.AsyncClient) -> None:
    chinese = await nobody.get("/offline", headers={"Accept-Language": "zh-CN"})

    assert "没有连接" in chinese.text
    assert "set-cookie" not in chinese.headers
    assert "<nav" not in chinese.text
