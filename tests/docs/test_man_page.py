"""The man page has every command and setting, and the program that formats it has no complaint."""

import subprocess
from collections.abc import Iterator

import click
import pytest

from feedmill.cli import cli
from feedmill.settings import Settings
from tests.cli.tmpfs import skip_or_fail_in_ci
from tests.docs.pages import ROOT
from tests.services.server import ServiceMissing, find_binary

PAGE = ROOT / "man" / "feedmill.1"


def _paths(group: click.Group, above: str) -> Iterator[str]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield f"{above} {name}"
        if isinstance(command, click.Group):
            yield from _paths(command, f"{above} {name}")


def test_every_command_and_every_setting_has_its_place() -> None:
    page = PAGE.read_text().replace("\\-", "-")

    assert [path for path in _paths(cli, "feedmill") if f"\n.SS {path} [OPTIONS]" not in page] == []
    assert [name for name in Settings.fields if f".B {name}\n" not in page] == []


@pytest.mark.external
def test_groff_has_no_complaint() -> None:
    try:
        groff = find_binary("groff")
    except ServiceMissing as missing:
        skip_or_fail_in_ci(str(missing))

    done = subprocess.run([groff, "-man", "-ww", "-Tutf8", PAGE], capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, "")
    assert "Subscribe this user to it; title and folder are theirs." in done.stdout
