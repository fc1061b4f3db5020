"""`GET /metrics`: metrics of the installation and of this process for Prometheus."""

import asyncio
import os
import resource
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from hmac import compare_digest
from ipaddress import ip_address
from pathlib import Path

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from feedmill import __version__
from feedmill.app import App
from feedmill.engine.task_names import QUEUES
from feedmill.serve.http.cached_query import CachedQuery
from feedmill.serve.http.health import OK, check_all
from feedmill.serve.http.prometheus_text import (
    CONTENT_TYPE,
    MetricFamily,
    MetricSample,
    counter,
    gauge,
    gauges,
    histogram,
    render_metrics,
)
from feedmill.settings import Settings
from feedmill.store.admin import metrics as counts

STARTED_AT = time.time()
PROXY_HEADERS = ("forwarded", "x-forwarded-for", "x-real-ip", "via")
INSTALLATION_WIDE = "Of the whole installation: the same from every API process, so don't add them up."
FROM_LOG = f"{INSTALLATION_WIDE} Counted from the fetch log, a minute late, since this process started."


class Metrics:
    """Reads metrics from the database and Redis. Each query is independent: one that fails leaves out only its own."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._fetches = counts.FetchCounter(datetime.now(UTC) - counts.SETTLED_AFTER)
        queries: list[Callable[[], Awaitable[list[MetricFamily]]]] = [
            self._feeds,
            self._due,
            self._count_fetches,
            self._images,
            self._pools,
            self._processes,
            self._health,
        ]
        self._samples = [CachedQuery(query) for query in queries]

    async def text(self) -> str:
        return render_metrics(await self.families())

    async def families(self) -> list[MetricFamily]:
        """Every metric, with its name, type and help text; those whose query fails are left out."""
        found = await asyncio.gather(*(sample.read() for sample in self._samples))
        return [family for families in (*found, _this_process()) for family in families or ()]

    async def _feeds(self) -> list[MetricFamily]:
        feeds = await counts.count_feeds_by_status(self._app.db)
        return [
            gauges("feedmill_feeds", f"Feeds by status. {INSTALLATION_WIDE}", "status", feeds.by_status),
            gauge("feedmill_entries", f"Entries that are kept. {INSTALLATION_WIDE}", feeds.entries),
        ]

    async def _due(self) -> list[MetricFamily]:
        due = await counts.count_due_feeds(self._app.db, datetime.now(UTC))
        return [
            gauge(
                "feedmill_feeds_due",
                f"Feeds whose time has come and that are not fetched yet. {INSTALLATION_WIDE}",
                due.feeds,
            ),
            gauge(
                "feedmill_feeds_late",
                f"Feeds that have been due for more than five minutes. {INSTALLATION_WIDE}",
                due.late,
            ),
            gauge(
                "feedmill_lateness_seconds",
                f"How long the feed that waits longest has been due. {INSTALLATION_WIDE}",
                due.oldest.total_seconds(),
            ),
        ]

    async def _count_fetches(self) -> list[MetricFamily]:
        fetches = self._fetches
        await counts.count_new_fetches(self._app.db, fetches, datetime.now(UTC))
        outcomes = tuple(MetricSample(number, {"outcome": outcome}) for outcome, number in fetches.by_outcome.items())
        within = {bound / 1000: number for bound, number in zip(counts.BOUNDS, fetches.within, strict=True)}
        seconds, total = fetches.milliseconds / 1000, sum(fetches.by_outcome.values())
        return [
            MetricFamily("feedmill_fetches_total", "counter", f"Fetches by outcome. {FROM_LOG}", outcomes),
            histogram("feedmill_fetch_seconds", f"How long fetches took. {FROM_LOG}", within, total, seconds),
            counter("feedmill_fetched_bytes_total", f"Bytes that fetches brought. {FROM_LOG}", fetches.bytes),
            counter("feedmill_new_entries_total", f"Entries that fetches brought. {FROM_LOG}", fetches.new_entries),
        ]

    async def _images(self) -> list[MetricFamily]:
        images = await counts.count_images(self._app.db)
        return [gauges("feedmill_images", f"Images by status. {INSTALLATION_WIDE}", "status", images)]

    async def _pools(self) -> list[MetricFamily]:
        items = await counts.count_pool_items(self._app.db)
        names = ("group", "kind", "status")
        samples = tuple(MetricSample(number, dict(zip(names, key, strict=True))) for key, number in items.items())
        return [
            MetricFamily(
                "feedmill_pool_items", "gauge", f"Pool items by group, kind and status. {INSTALLATION_WIDE}", samples
            )
        ]

    async def _processes(self) -> list[MetricFamily]:
        coordination = self._app.coordination
        present, waiting = await coordination.presence.count_by_role(), await coordination.count_messages(QUEUES)
        return [
            gauges("feedmill_processes", f"Running processes by role. {INSTALLATION_WIDE}", "role", present),
            gauges("feedmill_queue_messages", f"Messages that wait, by queue. {INSTALLATION_WIDE}", "queue", waiting),
        ]

    async def _health(self) -> list[MetricFamily]:
        states = {name: int(state == OK) for name, state in (await check_all(self._app)).items()}
        return [gauges("feedmill_up", "Whether each dependency answers this process.", "dependency", states)]


def _this_process() -> list[MetricFamily]:
    used = resource.getrusage(resource.RUSAGE_SELF)
    info = MetricFamily(
        "feedmill_info", "gauge", "The version that runs.", (MetricSample(1, {"version": __version__}),)
    )
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return [
        info,
        counter("process_cpu_seconds_total", "CPU time of this process.", used.ru_utime + used.ru_stime),
        gauge("process_resident_memory_bytes", "Memory of this process.", pages * os.sysconf("SC_PAGE_SIZE")),
        gauge("process_open_fds", "Open files and sockets of this process.", len(os.listdir("/proc/self/fd"))),
        gauge("process_start_time_seconds", "When this process started, since 1970.", STARTED_AT),
    ]


async def show_metrics(request: Request) -> Response:
    if refused := metrics_refusal(request, request.app.state.app.settings):
        return refused
    text = await request.app.state.metrics.text()
    return Response(text, media_type=CONTENT_TYPE, headers={"Cache-Control": "no-store"})


def metrics_refusal(request: Request, settings: Settings) -> Response | None:
    """Why this caller may not read the metrics; None when it may."""
    token = settings.metrics_token.get_secret_value()
    if not token:
        hint = "metrics are shown to this machine only, unless metrics_token is set\n"
        return None if _is_from_loopback(request) else PlainTextResponse(hint, 403)
    given = request.headers.get("authorization", "")
    if compare_digest(given.encode(), f"Bearer {token}".encode()):
        return None
    return PlainTextResponse("metrics_token is wanted\n", 401, headers={"WWW-Authenticate": "Bearer"})


def _is_from_loopback(request: Request) -> bool:
    """Whether the client is on this machine; not if a proxy on it forwards requests of others."""
    if request.client is None or any(name in request.headers for name in PROXY_HEADERS):
        return False
    return ip_address(request.client.host).is_loopback


routes = [Route("/metrics", show_metrics)]
