"""The Grafana dashboard, made from the definitions of the metrics: their types, help texts and scopes."""

import json
from dataclasses import dataclass
from typing import Any

from reference.metrics import first_sentence, metric_families

from feedmill.serve.http.prometheus_text import MetricFamily

UID = "feedmill"
QUANTILES = (0.5, 0.95, 0.99)
COLUMNS, HEIGHT = 24, 8
SOURCE = {"type": "prometheus", "uid": "${source}"}


@dataclass(frozen=True)
class MetricPanel:
    """A panel with one metric; `by` are the labels that tell its lines apart."""

    metric: str
    title: str
    by: tuple[str, ...] = ()
    unit: str = "short"
    kind: str = "timeseries"


@dataclass(frozen=True)
class DashboardRow:
    title: str
    panels: tuple[MetricPanel, ...]


ROWS = (
    DashboardRow(
        "Overview",
        (
            MetricPanel("feedmill_up", "Dependencies that answer", ("dependency",), "bool_on_off", "stat"),
            MetricPanel("feedmill_info", "Version", ("version",), "none", "stat"),
            MetricPanel("feedmill_feeds", "Feeds by status", ("status",), kind="stat"),
            MetricPanel("feedmill_entries", "Entries", kind="stat"),
        ),
    ),
    DashboardRow(
        "Schedule",
        (
            MetricPanel("feedmill_feeds_due", "Feeds that are due"),
            MetricPanel("feedmill_feeds_late", "Feeds that are late"),
            MetricPanel("feedmill_lateness_seconds", "The longest wait", unit="s"),
        ),
    ),
    DashboardRow(
        "Fetches",
        (
            MetricPanel("feedmill_fetches_total", "Fetches by outcome", ("outcome",), "ops"),
            MetricPanel("feedmill_fetch_seconds", "Duration of fetches", unit="s"),
            MetricPanel("feedmill_fetched_bytes_total", "Bytes fetched", unit="Bps"),
            MetricPanel("feedmill_new_entries_total", "New entries", unit="ops"),
        ),
    ),
    DashboardRow(
        "Archive and pools",
        (
            MetricPanel("feedmill_images", "Images by status", ("status",)),
            MetricPanel("feedmill_pool_items", "Pool items", ("group", "kind", "status")),
        ),
    ),
    DashboardRow(
        "Processes",
        (
            MetricPanel("feedmill_processes", "Processes by role", ("role",)),
            MetricPanel("feedmill_queue_messages", "Messages that wait", ("queue",)),
            MetricPanel("process_cpu_seconds_total", "CPU", ("instance",), "percentunit"),
            MetricPanel("process_resident_memory_bytes", "Memory", ("instance",), "bytes"),
            MetricPanel("process_open_fds", "Open files and sockets", ("instance",)),
            MetricPanel("process_start_time_seconds", "Running since", ("instance",), "dateTimeFromNow", "stat"),
        ),
    ),
)


def page() -> str:
    families = metric_families()
    panels: list[dict[str, Any]] = []
    top = 0
    for row in ROWS:
        panels.append({"type": "row", "title": row.title, "id": len(panels) + 1, "gridPos": _place(0, top, COLUMNS, 1)})
        width = COLUMNS // min(len(row.panels), 4)
        for number, panel in enumerate(row.panels):
            place = _place(number % 4 * width, top + 1 + number // 4 * HEIGHT, width, HEIGHT)
            panels.append(_panel(panel, families[panel.metric], len(panels) + 1, place))
        top += 1 + (len(row.panels) + 3) // 4 * HEIGHT
    return json.dumps(_dashboard(panels), indent=2) + "\n"


def expressions(panel: MetricPanel, family: MetricFamily) -> list[tuple[str, str]]:
    """The expressions of a panel, each with the legend of its lines."""
    scraped = f'{panel.metric}{{job=~"$job"}}'
    legend = " ".join(f"{{{{{label}}}}}" for label in panel.by) or panel.title
    # All processes report the same of the installation, so they are not added up.
    combine = "min" if panel.metric == "feedmill_up" else "max"
    by = f" by ({', '.join(panel.by)})" if panel.by else ""
    match family.kind:
        case "histogram":
            buckets = f'max by (le) (rate({panel.metric}_bucket{{job=~"$job"}}[$__rate_interval]))'
            return [(f"histogram_quantile({part}, {buckets})", f"{part:.0%}") for part in QUANTILES]
        case "counter":
            return [(f"{combine}{by} (rate({scraped}[$__rate_interval]))", legend)]
        case _:
            shown = f"{scraped} * 1000" if panel.unit == "dateTimeFromNow" else scraped
            return [(f"{combine}{by} ({shown})", legend)]


def _panel(panel: MetricPanel, family: MetricFamily, number: int, place: dict[str, int]) -> dict[str, Any]:
    targets = [
        {"refId": chr(ord("A") + index), "expr": expr, "legendFormat": legend, "datasource": SOURCE}
        for index, (expr, legend) in enumerate(expressions(panel, family))
    ]
    options: dict[str, Any] = {"legend": {"displayMode": "list", "placement": "bottom"}}
    if panel.kind == "stat":
        text = "name" if panel.metric == "feedmill_info" else "value_and_name"
        options = {"textMode": text, "reduceOptions": {"calcs": ["lastNotNull"]}}
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": first_sentence(family),
        "datasource": SOURCE,
        "gridPos": place,
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "options": options,
        "targets": targets,
    }


def _place(x: int, y: int, width: int, height: int) -> dict[str, int]:
    return {"x": x, "y": y, "w": width, "h": height}


def _dashboard(panels: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "uid": UID,
        "title": "Feedmill",
        "description": "Feeds, fetches, pools and processes of a Feedmill installation.",
        "tags": ["feedmill"],
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "timezone": "browser",
        "refresh": "1m",
        "time": {"from": "now-24h", "to": "now"},
        "templating": {
            "list": [
                {"name": "source", "label": "Data source", "type": "datasource", "query": "prometheus"},
                {
                    "name": "job",
                    "label": "Job",
                    "type": "query",
                    "datasource": SOURCE,
                    "query": "label_values(feedmill_info, job)",
                    "includeAll": True,
                    "allValue": ".*",
                    "multi": True,
                    "current": {"text": "All", "value": "$__all"},
                    "refresh": 2,
                },
            ]
        },
        "panels": panels,
    }
