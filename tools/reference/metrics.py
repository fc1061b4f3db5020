"""The metrics that `/metrics` has, as the code defines them."""

import asyncio
import tempfile
from functools import cache
from pathlib import Path

from feedmill.app import build_app
from feedmill.serve.http.metrics import INSTALLATION_WIDE, Metrics
from feedmill.serve.http.prometheus_text import MetricFamily
from feedmill.settings import Settings


@cache
def metric_families() -> dict[str, MetricFamily]:
    """Every metric by its name, from an empty installation."""
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_read(Path(folder)))


async def _read(folder: Path) -> dict[str, MetricFamily]:
    async with build_app(Settings(data=folder)) as app:
        return {family.name: family for family in await Metrics(app).families()}


def first_sentence(family: MetricFamily) -> str:
    """The help text without the note on all processes, which a dashboard has taken care of."""
    return family.help.partition(f" {INSTALLATION_WIDE}")[0]
