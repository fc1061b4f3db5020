"""The parts that all processes of a scaled-out installation have: job sender, batches and scheduler."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace

from celery import Celery  # type: ignore[import-untyped]

from feedmill.app import App
from feedmill.engine.celery_app import make_celery
from feedmill.engine.celery_engine import CeleryEngine
from feedmill.engine.jobs import ArchiveImages, Priority
from feedmill.errors import BadSetting, EngineUnavailable
from feedmill.run.batches import Batches
from feedmill.run.embedded import assemble_parts
from feedmill.run.job_sender import JobSender, NoHeldClaims
from feedmill.run.scheduler import Scheduler
from feedmill.settings import Settings
from feedmill.store.feeds.claims import claim_due_feeds_minimal

# Feeds claimed and sent at once: enough for many workers, few enough to start long before their claims end.
CLAIMS_PER_CHUNK = 1000


@dataclass(frozen=True, slots=True)
class DistributedParts:
    celery: Celery
    sender: JobSender
    batches: Batches
    scheduler: Scheduler


@asynccontextmanager
async def open_distributed(app: App) -> AsyncIterator[DistributedParts]:
    """Opens the parts that send jobs, and closes them at the end."""
    celery = make_celery(app.settings.redis.get_secret_value())
    sender = JobSender(app.db, CeleryEngine(celery), app.coordination.locks)

    async def nudge_images() -> None:
        # The next scan starts them again.
        with suppress(EngineUnavailable):
            await sender.submit(ArchiveImages(), Priority.SCHEDULED)

    local = assemble_parts(app)
    handlers = replace(local.handlers, held_claims=NoHeldClaims(app.db, app.tools.clock), nudge_images=nudge_images)
    try:
        yield DistributedParts(
            celery,
            sender,
            replace(local.batches, engine=sender, handlers=handlers, can_send=app.coordination.answers),
            replace(
                local.scheduler,
                engine=sender,
                handlers=handlers,
                chunk_size=CLAIMS_PER_CHUNK,
                claim=claim_due_feeds_minimal,
            ),
        )
    finally:
        await sender.stop()


def require_scalable_settings(settings: Settings, command: str) -> None:
    """Raises `BadSetting` without a broker, or with a database that several processes can't share."""
    if not settings.redis.get_secret_value():
        raise BadSetting(f"redis: 'feedmill {command}' needs the URL of a Redis (without one, run 'feedmill serve')")
    if settings.database_url.startswith("sqlite"):
        hint = "a postgresql://, mysql:// or d1+https:// URL (with SQLite, run 'feedmill serve')"
        raise BadSetting(f"database: 'feedmill {command}' shares it with other processes, so it needs {hint}")
