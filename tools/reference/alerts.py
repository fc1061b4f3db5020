"""The alert rules for Prometheus. Every metric in them is checked against the definitions of the code."""

import re
from dataclasses import dataclass
from typing import Any

import yaml
from reference.metrics import metric_families

from feedmill.model.refresh import SUCCESSFUL_OUTCOMES

HEADER = """\
# Alert rules for Feedmill. Made from the metrics of the code by `make docs`; docs/running/monitoring.md says how to use
# them. Copy the file to change thresholds.
"""
HISTOGRAM_PARTS = ("_bucket", "_sum", "_count")
METRIC_NAME = re.compile(r"\b(?:feedmill|process)_[a-z_]+\b")
SUCCESS = "|".join(SUCCESSFUL_OUTCOMES)
PAGE = "https://github.com/feedmill/feedmill/blob/main/docs/running/monitoring.md"


@dataclass(frozen=True)
class AlertRule:
    """`lasting` is how long the expression must hold; `what` and `help` are for the person who is woken."""

    name: str
    expression: str
    lasting: str
    severity: str
    what: str
    help: str


RULES = (
    AlertRule(
        "FeedmillDown",
        "absent(feedmill_info)",
        "5m",
        "critical",
        "No process of Feedmill answers.",
        "Look at the service (systemctl status feedmill, or the container), and at its last log lines.",
    ),
    AlertRule(
        "FeedmillDependencyDown",
        'min by (dependency) (feedmill_up{dependency!~"workers|scheduler"}) == 0',
        "5m",
        "critical",
        "{{ $labels.dependency }} does not answer Feedmill.",
        "The log event outage_began has the reason. Nothing is lost; it goes on when it answers again.",
    ),
    AlertRule(
        "FeedmillFeedsLate",
        "max(feedmill_lateness_seconds) > 900",
        "10m",
        "warning",
        "A feed has been due for {{ $value | humanizeDuration }}.",
        "Too few workers, or a slow database: docs/running/scale.md.",
    ),
    AlertRule(
        "FeedmillNothingFetched",
        "max(feedmill_feeds_due) > 0 and (sum(rate(feedmill_fetches_total[30m])) or vector(0)) == 0",
        "15m",
        "critical",
        "Feeds are due, and none is fetched.",
        "Is a scheduler running, and a worker? The log says what they wait for.",
    ),
    AlertRule(
        "FeedmillMostFetchesFail",
        f'sum(rate(feedmill_fetches_total{{outcome!~"{SUCCESS}"}}[15m])) > 0.5 * sum(rate(feedmill_fetches_total[15m]))',
        "15m",
        "warning",
        "More than half of the fetches fail.",
        "Most often it is the network or the name server of this machine: try to fetch a feed with curl.",
    ),
    AlertRule(
        "FeedmillNoWorkers",
        'max(feedmill_processes{role="api"}) > 0 unless max(feedmill_processes{role="worker"}) > 0',
        "5m",
        "critical",
        "No worker is running.",
        "Start one with feedmill worker. Feeds stay due until then.",
    ),
    AlertRule(
        "FeedmillNoScheduler",
        'max(feedmill_processes{role="api"}) > 0 unless max(feedmill_processes{role="scheduler"}) > 0',
        "5m",
        "warning",
        "No scheduler is running.",
        "Start it with feedmill scheduler.",
    ),
    AlertRule(
        "FeedmillQueueGrows",
        "max by (queue) (feedmill_queue_messages) > 10000 and max by (queue) (deriv(feedmill_queue_messages[30m])) > 0",
        "30m",
        "warning",
        "{{ $value }} messages wait in the queue {{ $labels.queue }}, and more arrive than are done.",
        "Start more workers.",
    ),
    AlertRule(
        "FeedmillPoolItemsHeldBack",
        'max by (group, kind) (feedmill_pool_items{status="held"}) > 0',
        "15m",
        "warning",
        "{{ $value }} {{ $labels.kind }} of the group {{ $labels.group }} are held back.",
        "Release or settle them with feedmill pool lost: docs/running/pools.md, after a crash.",
    ),
    AlertRule(
        "FeedmillRestarts",
        "changes(process_start_time_seconds[1h]) > 3 and on (instance, job) feedmill_info",
        "0m",
        "warning",
        "{{ $labels.instance }} started {{ $value }} times within an hour.",
        "The log before each start has the reason; out of memory is in the log of the kernel.",
    ),
)


def page() -> str:
    unknown = [name for rule in RULES for name in metric_names(rule.expression) if name not in metric_families()]
    if unknown:
        raise ValueError(f"alert rules name metrics that do not exist: {', '.join(unknown)}")
    rules = [_rule(rule) for rule in RULES]
    return HEADER + yaml.safe_dump({"groups": [{"name": "feedmill", "rules": rules}]}, sort_keys=False, width=118)


def metric_names(expression: str) -> set[str]:
    """The metrics of ours in an expression."""
    return {_without_part(name) for name in METRIC_NAME.findall(expression)}


def _without_part(name: str) -> str:
    for part in HISTOGRAM_PARTS:
        name = name.removesuffix(part)
    return name


def _rule(rule: AlertRule) -> dict[str, Any]:
    return {
        "alert": rule.name,
        "expr": rule.expression,
        "for": rule.lasting,
        "labels": {"severity": rule.severity},
        "annotations": {"summary": rule.what, "description": rule.help, "runbook_url": PAGE},
    }
