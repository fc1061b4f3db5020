"""A language is one folder: a made-up third one is offered and used without a change of code."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import feedmill

pytestmark = pytest.mark.external

LANGUAGE = {"name": "Deutsch (Probe)", "tag": "de", "locale": "de"}
TEXTS = {
    "schedule": {"every": "alle {length}", "retry": "neuer Versuch nach {length}, denn {because}"},
    "explain": {"new_entries": {"one": "brachte einen Eintrag", "other": "brachte {n} Einträge"}},
    "setup": {"title": "Willkommen bei Feedmill"},
}
RENDER = """
from datetime import timedelta
from feedmill.i18n.catalogue import language_names
from feedmill.i18n.choose_language import choose_language
from feedmill.i18n.messages import Message
from feedmill.i18n.translator import translator

t = translator("de")
print(language_names()["de"], choose_language("fr, de-AT;q=0.8, en;q=0.5"))
print(t.render(Message("schedule.every", length=timedelta(minutes=30))))
print(t.render(Message("explain.new_entries", n=1234)), "|", t.render(Message("explain.new_entries", n=1)))
print(t.render(Message("schedule.retry", length=timedelta(hours=1.5), because=Message("fetch.timeout"))))
"""
SHOW_PAGE = """
import asyncio, sys
import httpx
from feedmill.app import build_app
from feedmill.run.embedded import open_embedded
from feedmill.serve import asgi
from feedmill.settings import load_settings

async def main():
    async with build_app(load_settings(data=sys.argv[1])) as app, open_embedded(app) as parts:
        transport = httpx.ASGITransport(asgi.create_asgi_app(app, parts.batches))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            print((await client.get("/setup", headers={"Accept-Language": "de"})).text)

asyncio.run(main())
"""
RENDER_CHINESE = """
from feedmill.i18n.messages import Message
from feedmill.i18n.translator import translator

print(translator("zh_CN").render(Message("fetch.timeout")), Message("fetch.timeout"))
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of Feedmill with one folder more."""
    copy = tmp_path / "copy"
    shutil.copytree(Path(feedmill.__file__).parent, copy / "feedmill", ignore=shutil.ignore_patterns("__pycache__"))
    folder = copy / "feedmill" / "i18n" / "locales" / "de"
    folder.mkdir()
    for name, texts in (TEXTS | {"language": LANGUAGE}).items():
        (folder / f"{name}.json").write_text(json.dumps(texts, ensure_ascii=False), "utf-8")
    return copy


def test_its_folder_is_all_that_a_language_needs(package: Path) -> None:
    names, every, plural, reason = run(package, RENDER).splitlines()

    assert names == "Deutsch (Probe) de"
    assert every == "alle 30 Min."
    assert plural == "brachte 1.234 Einträge | brachte einen Eintrag"
    # What it lacks is English, with its own numbers.
    assert reason == "neuer Versuch nach 1,5 Std., denn the server took too long"


def test_a_page_is_shown_in_it_and_in_english_where_it_lacks_a_text(package: Path, tmp_path: Path) -> None:
    page = run(package, SHOW_PAGE, str(tmp_path / "data"))

    assert '<html lang="de"' in page
    assert "Willkommen bei Feedmill" in page
    assert "Create account" in page


def test_rewording_english_changes_no_chinese(package: Path) -> None:
    before = run(package, RENDER_CHINESE).split(maxsplit=1)
    file = package / "feedmill" / "i18n" / "locales" / "en" / "fetch.json"
    file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | {"timeout": "it was slow"}), "utf-8")

    after = run(package, RENDER_CHINESE).split(maxsplit=1)

    assert after[0] == before[0] == "服务器太久没有响应"
    assert (before[1].strip(), after[1].strip()) == ("the server took too long", "it was slow")


def run(package: Path, script: str, *arguments: str) -> str:
    """What the script prints, run with that copy of Feedmill."""
    environment = os.environ | {"PYTHONPATH": str(package), "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=package, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout
