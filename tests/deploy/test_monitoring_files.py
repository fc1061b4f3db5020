"""The dashboard, the alert rules and the rotation of logs: they fit the metrics of the code, and work."""

import asyncio
import json
import os
import re
import shutil
import subprocess
from grp import getgrgid
from pathlib import Path
from pwd import getpwuid
from typing import Any

import pytest
import yaml

from feedmill.app import build_app
from feedmill.cli.demo.feed_server import LOOPBACK, run_demo_web
from feedmill.cli.demo.prepare_reader import prepare_reader
from feedmill.serve.http.metrics import Metrics
from feedmill.serve.http.prometheus_text import MetricFamily
from feedmill.settings import Settings
from tests.cli.tmpfs import skip_or_fail_in_ci
from tests.docs.pages import ROOT
from tests.services.server import ServiceMissing, find_binary

DASHBOARD = json.loads((ROOT / "deploy" / "grafana" / "feedmill.json").read_text())
ALERTS = ROOT / "deploy" / "prometheus" / "alerts.yaml"
ALERT_TESTS = Path(__file__).parent / "alert_tests.yaml"
RULES: list[dict[str, Any]] = yaml.safe_load(ALERTS.read_text())["groups"][0]["rules"]
EXPRESSIONS = [target["expr"] for panel in DASHBOARD["panels"] for target in panel.get("targets", ())]
METRIC = re.compile(r"\b((?:feedmill|process)_[a-z_]+?)(?:_bucket|_sum|_count)?\b(?=[^a-z_]|$)")
LABELS = re.compile(r"by \(([a-z, ]+)\) \((?:rate\()?(\w+)\{")
# Labels that Prometheus adds.
OF_PROMETHEUS = {"instance", "job"}


@pytest.fixture(scope="module")
def families(tmp_path_factory: pytest.TempPathFactory) -> dict[str, MetricFamily]:
    """Every metric of an installation with feeds, fetches, images and a pool."""
    return asyncio.run(_read_families(tmp_path_factory.mktemp("demo")))


async def _read_families(folder: Path) -> dict[str, MetricFamily]:
    async with run_demo_web() as web:
        settings = Settings(data=folder, own_servers=frozenset({(LOOPBACK, web.port)}))
        async with build_app(settings) as app:
            metrics = Metrics(app)
            await prepare_reader(app, web, "correct horse battery")
            return {family.name: family for family in await metrics.families()}


def test_the_dashboard_has_every_metric_and_no_other(families: dict[str, MetricFamily]) -> None:
    assert {name for expression in EXPRESSIONS for name in METRIC.findall(expression)} == families.keys()


def test_a_panel_uses_labels_that_its_metric_has(families: dict[str, MetricFamily]) -> None:
    for expression in EXPRESSIONS:
        for labels, name in LABELS.findall(expression):
            samples = families[name].samples if name in families else ()
            wanted = set(labels.split(", ")) - OF_PROMETHEUS
            assert all(wanted <= sample.labels.keys() for sample in samples), expression


def test_alerts_use_metrics_that_exist(families: dict[str, MetricFamily]) -> None:
    used = {name for rule in RULES for name in METRIC.findall(rule["expr"])}
    assert used
    assert used <= families.keys()


def test_every_alert_has_a_test_in_which_it_fires() -> None:
    cases = [case for test in yaml.safe_load(ALERT_TESTS.read_text())["tests"] for case in test["alert_rule_test"]]

    assert {case["alertname"] for case in cases if case["exp_alerts"]} == {rule["alert"] for rule in RULES}


def test_the_monitoring_page_names_every_alert() -> None:
    page = (ROOT / "docs" / "running" / "monitoring.md").read_text()

    assert [rule["alert"] for rule in RULES if f"`{rule['alert']}`" not in page] == []


@pytest.mark.external
def test_prometheus_reads_the_expressions_of_the_dashboard(tmp_path: Path) -> None:
    rules = [
        {"record": f"panel:{number}", "expr": expression.replace("$__rate_interval", "5m").replace("$job", ".*")}
        for number, expression in enumerate(EXPRESSIONS)
    ]
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))

    _promtool("check", "rules", tmp_path / "rules.yaml")


@pytest.mark.external
def test_alerts_fire_when_they_should_and_not_else(tmp_path: Path) -> None:
    # What they say to people is left out, so that the cases need not repeat it.
    quiet = [{name: value for name, value in rule.items() if name != "annotations"} for rule in RULES]
    (tmp_path / "alerts.yaml").write_text(yaml.safe_dump({"groups": [{"name": "feedmill", "rules": quiet}]}))
    shutil.copy(ALERT_TESTS, tmp_path)

    _promtool("check", "rules", ALERTS)
    _promtool("test", "rules", tmp_path / ALERT_TESTS.name)


@pytest.mark.external
def test_a_log_is_rotated_while_a_process_writes_to_it(tmp_path: Path) -> None:
    text = (ROOT / "deploy" / "logrotate" / "feedmill").read_text()
    config, log = tmp_path / "feedmill.conf", tmp_path / "feedmill.log"
    own = f"su {getpwuid(os.geteuid()).pw_name} {getgrgid(os.getegid()).gr_name}"
    config.write_text(text.replace("/var/log/feedmill", str(tmp_path)).replace("su feedmill feedmill", own))
    config.chmod(0o644)
    tmp_path.chmod(0o755)
    rotate = [_program("logrotate"), "--force", "--state", str(tmp_path / "state"), str(config)]

    # As a shell opens it with >>.
    with log.open("a") as open_log:
        print("before", file=open_log, flush=True)
        done = subprocess.run(rotate, capture_output=True, text=True)
        print("after", file=open_log, flush=True)

    assert own in config.read_text()
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "feedmill.log.1").read_text() == "before\n"
    assert log.read_text() == "after\n"


def _program(name: str) -> str:
    try:
        return find_binary(name)
    except ServiceMissing as missing:
        skip_or_fail_in_ci(str(missing))


def _promtool(*args: object) -> None:
    done = subprocess.run([_program("promtool"), *map(str, args)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
