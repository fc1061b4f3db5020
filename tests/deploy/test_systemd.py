"""What the units for systemd promise."""

from pathlib import Path

import pytest

from feedmill.cli import COMMANDS
from feedmill.settings import PREFIX, Settings

UNITS = sorted((Path(__file__).parents[2] / "deploy" / "systemd").glob("*.service"))


def _hardening(unit: Path) -> str:
    return unit.read_text().partition("\nUMask=")[2].partition("[Install]")[0]


def test_there_is_one_for_each_way_to_run() -> None:
    roles = ["feedmill-api", "feedmill-scheduler", "feedmill-worker@", "feedmill"]

    assert [unit.stem for unit in UNITS] == roles


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_it_starts_a_command_of_ours_as_nobody_in_particular(unit: Path) -> None:
    lines = unit.read_text().splitlines()
    [command] = [line.split()[-1] for line in lines if line.startswith("ExecStart=")]
    told = [word.split("=")[0] for line in lines if line.startswith("Environment=") for word in line[12:].split()]

    assert command in COMMANDS
    assert "User=feedmill" in lines
    assert {name.removeprefix(PREFIX).lower() for name in told} <= set(Settings.fields)


def test_all_of_them_may_do_equally_little() -> None:
    assert len({_hardening(unit) for unit in UNITS}) == 1
    assert "NoNewPrivileges=yes" in _hardening(UNITS[0])


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_it_may_open_a_file_for_every_connection_that_it_takes(unit: Path) -> None:
    [limit] = [line.partition("=")[2] for line in unit.read_text().splitlines() if line.startswith("LimitNOFILE=")]

    assert int(limit) > 2 * Settings.fields["max_connections"].default


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_it_goes_on_when_the_kernel_kills_the_parser_of_a_large_document(unit: Path) -> None:
    assert "OOMPolicy=continue" in unit.read_text().splitlines()
