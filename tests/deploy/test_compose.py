"""What `deploy/compose.yaml` promises to whoever starts it."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from feedmill.cli import COMMANDS
from feedmill.settings import PREFIX, Settings

DEPLOY = Path(__file__).parents[2] / "deploy"
TEXT = (DEPLOY / "compose.yaml").read_text()


class Strict(yaml.SafeLoader):
    """Says no to a name that is there twice, as Docker does."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        names = [key.value for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"]
        assert len(names) == len(set(names)), f"twice in {node.start_mark}: {names}"
        return super().construct_mapping(node, deep)


COMPOSE: dict[str, Any] = yaml.load(TEXT, Strict)
WITH_REDIS: dict[str, Any] = yaml.load((DEPLOY / "compose.redis.yaml").read_text(), Strict)
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = ("api", "scheduler", "worker")
STORES = ("postgres", "redis", "s3")
REQUIRED = re.compile(r"\$\{(\w+):\?[^}]+\}")
SECRET = re.compile(r"PASSWORD|SECRET|TOKEN|KEY|AUTH|requirepass|DATABASE|REDIS")


def _variables() -> dict[str, str]:
    """What each service is told through its environment, all together."""
    return {f"{name}.{key}": value for name, service in SERVICES.items() for key, value in _environment(service)}


def _environment(service: dict[str, Any]) -> list[tuple[str, str]]:
    return list(service.get("environment", {}).items())


def test_every_part_of_an_installation_is_there() -> None:
    assert set(SERVICES) == {*OURS, *STORES}


@pytest.mark.parametrize("name", STORES)
def test_no_store_can_be_reached_from_outside(name: str) -> None:
    assert "ports" not in SERVICES[name]
    assert SERVICES[name]["networks"] == ["inside"]
    assert COMPOSE["networks"]["inside"]["internal"]


def test_the_web_server_is_published_to_this_machine_alone_unless_told_otherwise() -> None:
    published = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}

    assert published == {"api": ["${PUBLISH:-127.0.0.1:8000}:8000"]}


def test_the_second_file_publishes_redis_alone_and_to_this_machine_unless_told_otherwise() -> None:
    assert WITH_REDIS == {
        "services": {"redis": {"ports": ["${PUBLISH_REDIS:-127.0.0.1:6379}:6379"], "networks": ["inside", "outside"]}}
    }
    assert not COMPOSE["networks"]["outside"].get("internal")


@pytest.mark.parametrize("variable", _variables())
def test_a_secret_has_no_default(variable: str) -> None:
    value = str(_variables()[variable])

    assert bool(REQUIRED.search(value)) == bool(SECRET.search(variable.partition(".")[2])), value


def test_redis_wants_its_password() -> None:
    command = SERVICES["redis"]["command"]

    assert REQUIRED.fullmatch(command[command.index("--requirepass") + 1])


def test_what_has_to_be_filled_in_is_empty_in_the_example() -> None:
    lines = (DEPLOY / "example.env").read_text().splitlines()
    given = [line for line in lines if line and not line.startswith("#")]

    assert sorted(given) == sorted(f"{name}=" for name in set(REQUIRED.findall(TEXT)))


@pytest.mark.parametrize("name", OURS)
def test_every_setting_is_one_of_ours(name: str) -> None:
    known = {f"{PREFIX}{setting.upper()}" for setting in Settings.fields}

    assert {key for key, _ in _environment(SERVICES[name])} <= known


@pytest.mark.parametrize("name", OURS)
def test_every_process_is_a_command_of_ours_and_may_do_little(name: str) -> None:
    service = SERVICES[name]

    assert [service["command"][0]] == [command for command in COMMANDS if command == name]
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert int(service["stop_grace_period"].removesuffix("s")) > 30


@pytest.mark.parametrize("name", OURS)
def test_it_may_open_a_file_for_every_connection_that_it_takes(name: str) -> None:
    assert SERVICES[name]["ulimits"]["nofile"] > 2 * Settings.fields["max_connections"].default


@pytest.mark.parametrize("name", ["api", *STORES])
def test_whatever_listens_says_whether_it_is_well(name: str) -> None:
    assert SERVICES[name]["healthcheck"]["test"][0] in ("CMD", "CMD-SHELL")


def test_only_a_proxy_on_this_machine_is_believed() -> None:
    [network] = COMPOSE["networks"]["outside"]["ipam"]["config"]

    assert dict(_environment(SERVICES["api"]))["FEEDMILL_TRUSTED_PROXIES"] == f"{network['gateway']}/32"


@pytest.mark.parametrize("name", OURS)
def test_nobody_starts_before_the_stores_are_well(name: str) -> None:
    assert SERVICES[name]["depends_on"] == {store: {"condition": "service_healthy"} for store in STORES}


def test_every_image_of_others_has_a_version() -> None:
    for name in STORES:
        assert re.search(r":\d", SERVICES[name]["image"]), name
