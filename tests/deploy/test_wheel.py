"""The wheel stands alone: it has all that it needs and nothing else, and works with every Python that it names."""

import asyncio
import json
import re
import sys
import tarfile
import tomllib
import urllib.request
from dataclasses import dataclass
from email import message_from_string
from email.message import Message
from pathlib import Path
from zipfile import ZipFile

import pytest

import feedmill
from feedmill import __version__
from tests.cli.command import Server
from tests.cli.tmpfs import skip_or_fail_in_ci
from tests.deploy.wheel import ROOT, Installation, find_python, install_wheel
from tests.scripted_web import Answer, Web
from tests.services.server import ServiceMissing

SOURCE = Path(feedmill.__file__).parent
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
# The target of a link or picture in Markdown.
LINK = re.compile(r"\[[^\]]*\]\(([^)]+)\)")
LOOPBACK = {"FEEDMILL_ALLOW_PRIVATE": "127.0.0.0/8", "FEEDMILL_HOST_GAP": "0"}
FEED = b"""<rss version="2.0"><channel><title>Herons</title><link>http://herons.example/</link>
<item><guid>1</guid><title>A grey heron</title><description>It stands in the water.</description></item>
</channel></rss>"""


def _metadata(wheel: Path) -> Message:
    with ZipFile(wheel) as archive:
        return message_from_string(archive.read(f"feedmill-{__version__}.dist-info/METADATA").decode())


def test_the_wheel_has_every_file_of_the_package_and_nothing_else(wheel: Path) -> None:
    ours = {str(path.relative_to(SOURCE.parent)) for path in SOURCE.rglob("*") if path.is_file()}

    with ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if not name.startswith(f"feedmill-{__version__}.")}

    assert packed == {name for name in ours if "__pycache__" not in name}
    assert {Path(name).suffix for name in packed} >= {".py", ".html", ".json", ".css", ".js", ".sql", ".typed"}


def test_the_wheel_runs_with_any_python_3_that_its_metadata_names(wheel: Path) -> None:
    metadata = _metadata(wheel)
    prefix = "Programming Language :: Python :: 3."

    named = [each for each in metadata.get_all("Classifier", []) if each.startswith(prefix)]

    assert wheel.name == f"feedmill-{__version__}-py3-none-any.whl"
    assert metadata["Requires-Python"] == f">={PYTHONS[0]}"
    assert named == [prefix.removesuffix("3.") + version for version in PYTHONS]


def test_the_metadata_has_the_licence_the_readme_and_every_extra(wheel: Path) -> None:
    metadata = _metadata(wheel)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    assert (metadata["License-Expression"], metadata["License-File"]) == ("MIT", "LICENSE")
    assert set(metadata.get_all("Provides-Extra", [])) == set(project["optional-dependencies"])


def test_pictures_and_links_of_the_readme_have_whole_addresses_on_the_package_index(wheel: Path) -> None:
    readme = str(_metadata(wheel).get_payload())

    targets = [re.sub(r"^https://[^/]+/feedmill/feedmill/(blob/)?main/", "", each) for each in LINK.findall(readme)]
    relative = LINK.findall((ROOT / "README.md").read_text())

    assert "![A tour" in readme
    assert targets == relative
    assert not [each for each in LINK.findall(readme) if not each.startswith(("https://", "http://", "#"))]


def test_the_source_archive_has_no_tests(wheel: Path) -> None:
    [archive] = wheel.parent.glob("*.tar.gz")

    with tarfile.open(archive) as files:
        top = {Path(name).parts[1] for name in files.getnames()}

    assert top == {"src", "man", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "PKG-INFO", ".gitignore"}


@pytest.mark.parametrize("version", PYTHONS)
async def test_a_newcomer_serves_and_reads_a_feed(
    version: str, wheel: Path, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    newcomer = Newcomer(_installation(version, wheel, request, tmp_path), tmp_path / "home")
    newcomer.home.mkdir()

    async with Web() as web:
        seen = await asyncio.to_thread(newcomer.read_a_feed, web.serve("/feed", Answer(FEED)))

    assert seen.first_line == f"Feedmill {__version__} keeps its data in {newcomer.home}/.local/share/feedmill"
    assert seen.titles == ["A grey heron"]
    assert "登录" in seen.page
    assert {path.name for path in newcomer.home.iterdir()} == {".local", "serve.log", "serve.out"}


def _installation(version: str, wheel: Path, request: pytest.FixtureRequest, folder: Path) -> Installation:
    try:
        python = find_python(version)
    except ServiceMissing as missing:
        skip_or_fail_in_ci(f"Python {version} can't be had: {missing}")
    if python == sys.executable:
        core: Installation = request.getfixturevalue("core")
        return core
    return install_wheel(wheel, folder / "venv", python)


@dataclass(frozen=True)
class FirstVisit:
    """What a newcomer has seen."""

    first_line: str
    titles: list[str]
    page: str


@dataclass(frozen=True)
class Newcomer:
    installed: Installation
    home: Path

    def read_a_feed(self, url: str) -> FirstVisit:
        with self.installed.serving(self.home, **LOOPBACK) as server:
            self._command("user", "add", "alice", typed="correct horse battery\n" * 2)
            key = self._command("user", "key", "alice").split()[-1]
            self._command("add", "--user", "alice", url)
            entries = json.loads(_get(server, "/api/entries", Authorization=f"Bearer {key}"))
            page = _get(server, "/login", **{"Accept-Language": "zh-CN"})
            return FirstVisit(server.printed().splitlines()[0], [each["title"] for each in entries["items"]], page)

    def _command(self, *words: str, typed: str = "") -> str:
        done = self.installed.run(self.home, *words, typed=typed, **LOOPBACK)
        assert done.returncode == 0, done
        return done.stdout


def _get(server: Server, path: str, **headers: str) -> str:
    with urllib.request.urlopen(urllib.request.Request(server.address + path, headers=headers)) as response:
        return str(response.read().decode())
