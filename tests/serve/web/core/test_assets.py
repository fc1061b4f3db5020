"""Styles and scripts: small, cached, with the correct type."""

import gzip
import re
from hashlib import sha256
from pathlib import Path

import httpx

from feedmill.serve import web
from feedmill.serve.web.core.assets import ASSETS, PAGE_SCRIPTS, STYLESHEET, asset_url
from feedmill.serve.web.core.script_bundle import code_lines

MOST_SCRIPT = 45_000
MOST_STYLE = 20_000
STATIC = Path(web.__file__).parent / "static"


async def test_a_file_of_this_version_is_cached_forever_and_compressed(nobody: httpx.AsyncClient) -> None:
    answer = await nobody.get(asset_url(STYLESHEET))

    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/css; charset=utf-8"
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["vary"] == "Accept-Encoding"
    sent = set(answer.text.splitlines())
    for path in (STATIC / "css").glob("*.css"):
        styles = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
        assert {line for line in styles.splitlines() if line} <= sent, path.name
    assert "/*" not in answer.text


async def test_a_page_from_before_an_upgrade_gets_the_current_file_without_long_caching(
    nobody: httpx.AsyncClient,
) -> None:
    answer = await nobody.get("/static/000000000000/js/app.js", headers={"Accept-Encoding": "identity"})

    assert (answer.status_code, answer.headers["cache-control"]) == (200, "public, max-age=60")
    assert "content-encoding" not in answer.headers


async def test_no_other_file_is_served(nobody: httpx.AsyncClient) -> None:
    for name in ("../page.py", "..%2Fpage.py", "vendor/README.md", "", "css", "/etc/passwd"):
        assert (await nobody.get(f"/static/x/{name}")).status_code == 404, name


def test_scripts_and_styles_stay_small() -> None:
    assert sum(len(asset.gzipped) for name, asset in ASSETS.items() if name.endswith(".js")) < MOST_SCRIPT
    assert len(ASSETS[STYLESHEET].gzipped) < MOST_STYLE


def test_a_page_gets_its_script_with_all_modules_in_one_file_without_comments() -> None:
    assert {name for name in ASSETS if name.startswith("js/")} == {f"js/{name}.js" for name in PAGE_SCRIPTS}
    sent = {
        line for name, asset in ASSETS.items() if name.startswith("js/") for line in asset.body.decode().splitlines()
    }
    for path in (STATIC / "js").glob("*.js"):
        code = code_lines(path.read_text())

        assert {line.removeprefix("export ") for line in code if not line.startswith("import ")} <= sent, path.name
        # What begins with // in such a text would be taken for a comment.
        assert [line for line in code if line.count("`") % 2] == [], path.name
    assert [line for line in sent if line.startswith(("//", " "))] == []


def test_the_compressed_file_has_the_same_content() -> None:
    assert all(gzip.decompress(asset.gzipped) == asset.body for asset in ASSETS.values())


def test_vendored_scripts_match_the_list_in_the_readme() -> None:
    named = dict(re.findall(r"\| `([\w.-]+\.js)` \|.*`([0-9a-f]{64})`", (STATIC / "vendor" / "README.md").read_text()))
    there = {path.name: sha256(path.read_bytes()).hexdigest() for path in (STATIC / "vendor").glob("*.js")}

    assert named == there


def test_our_own_files_refer_to_no_other_site() -> None:
    ours = {name: asset for name, asset in ASSETS.items() if name.endswith((".js", ".css")) and "vendor" not in name}

    assert [name for name, asset in ours.items() if re.search(rb"https?://|url\(//", asset.body)] == []
