"""What every process of a scaled-out installation shares: jobs and batches that are sent to workers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from celery import Celery  # type: ignore[import-untyped]

from feedmill.app import App
from feedmill.engine.celery import CeleryEngine
from feedmill.engine.celery_app import make_celery
from feedmill.errors import BadSetting
from feedmill.run.batches import Batches
from feedmill.run.embedded import assemble
from feedmill.run.scheduler import Scheduler
from feedmill.run.sending import PassedOn, Sender
from feedmill.settings import Settings
from feedmill.store.claims import claim_due_in_outline

# Claimed and sent at once: enough for many workers, few enough to be begun long before their claims end.
AT_A_TIME = 1000


@dataclass(frozen=True, slots=True)
class Distributed:
    celery: Celery
    sender: Sender
    batches: Batches
    scheduler: Scheduler


@asynccontextmanager
async def sending(app: App) -> AsyncIterator[Distributed]:
    """The parts that send; closed at the end."""
    celery = make_celery(app.settings.redis.get_secret_value())
    sender = Sender(app.db, CeleryEngine(celery), app.coordination.locks)
    here = assemble(app)
    handlers = replace(here.handlers, keeper=PassedOn(app.db, app.tools.clock))
    try:
        yield Distributed(
            celery,
            sender,
            replace(here.batches, engine=sender, handlers=handlers),
            replace(here.scheduler, engine=sender, handlers=handlers, lot=AT_A_TIME, claim=claim_due_in_outline),
        )
    finally:
        await sender.stop()


def refuse_what_cannot_scale(settings: Settings, command: str) -> None:
    """Several processes need a broker, and a database that they all reach."""
    if not settings.redis.get_secret_value():
        raise BadSetting(f"redis: 'feedmill {command}' needs the URL of a Redis (without one, run 'feedmill serve')")
    if settings.database_url.startswith("sqlite"):
        hint = "a postgresql://, mysql:// or d1+https:// URL (with SQLite, run 'feedmill serve')"
        raise BadSetting(f"database: 'feedmill {command}' shares it with other processes, so it needs {hint}")
