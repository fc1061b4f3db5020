"""Runs all checks, section by section; one that fails or hangs becomes a finding, and the others go on."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path

from feedmill.adapters.database import database_exists, open_database
from feedmill.cli.doctor.access import check_accounts, check_proxies, check_public_url, check_sign_in
from feedmill.cli.doctor.backups import check_backups
from feedmill.cli.doctor.database import check_database, check_secrets
from feedmill.cli.doctor.deliveries import check_hubs, check_notifications, check_services, check_webhooks
from feedmill.cli.doctor.feeds import check_feeds, check_feeds_file, check_network
from feedmill.cli.doctor.findings import Check, CheckContext, Finding, error
from feedmill.cli.doctor.machine import check_clock, check_log_file, check_open_files, check_python, check_sqlite
from feedmill.cli.doctor.object_store import check_image_limit, check_objects, check_store_owner
from feedmill.cli.doctor.owners import NOT_PERMITTED, not_permitted
from feedmill.cli.doctor.pools import check_pools
from feedmill.cli.doctor.processes import check_jobs, check_late_feeds, check_processes, check_redis
from feedmill.cli.doctor.storage import check_data_folder, check_disk, check_file_system, check_permissions
from feedmill.errors import FeedmillError
from feedmill.i18n.messages import Message
from feedmill.settings import Settings
from feedmill.store.database import Database
from feedmill.store.migrations import pending_migrations

CHECK_SECONDS = 10

SECTIONS: Mapping[str, Sequence[Check]] = {
    "machine": (check_python, check_sqlite, check_clock, check_open_files, check_log_file),
    "storage": (
        check_data_folder,
        check_disk,
        check_file_system,
        check_permissions,
        check_objects,
        check_store_owner,
        check_image_limit,
    ),
    "database": (check_database, check_secrets),
    "processes": (check_redis, check_processes, check_late_feeds, check_jobs),
    "feeds": (check_feeds, check_network, check_feeds_file),
    "deliveries": (check_webhooks, check_notifications, check_services, check_hubs, check_pools),
    "access": (check_accounts, check_public_url, check_proxies, check_sign_in),
    "backups": (check_backups,),
}


async def diagnose(settings: Settings, now: datetime) -> dict[str, list[Finding]]:
    """All findings, by section."""
    async with _ready_database(settings) as db:
        context = CheckContext(settings, now, db)
        checks = [(section, check) for section, checks in SECTIONS.items() for check in checks]
        found = await asyncio.gather(*(run_check(check, context) for _, check in checks))
    results: dict[str, list[Finding]] = {section: [] for section in SECTIONS}
    for (section, _), findings in zip(checks, found, strict=True):
        results[section] += [finding for finding in findings if not _is_repeated(finding, results)]
    return results


def _is_repeated(finding: Finding, results: Mapping[str, Sequence[Finding]]) -> bool:
    """Whether another check has stopped at the same folder, into which this user may not look."""
    return finding.code == NOT_PERMITTED and any(finding in findings for findings in results.values())


async def run_check(check: Check, context: CheckContext) -> list[Finding]:
    """The findings of one check; what stops it is the last of them."""
    found: list[Finding] = []
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            async for finding in check(context):
                found.append(finding)
    except TimeoutError:
        found.append(error(Message("doctor.no_answer", seconds=CHECK_SECONDS), Message("doctor.no_answer_help")))
    except FeedmillError as problem:
        found.append(error(Message("doctor.failed", reason=problem.message), Message("doctor.failed_help")))
    except OSError as problem:
        found.append(_unusable_file(problem, context.settings.data))
    return found


def _unusable_file(problem: OSError, data: Path) -> Finding:
    file = Path(os.fsdecode(problem.filename)) if isinstance(problem.filename, str | bytes) else data
    if isinstance(problem, PermissionError):
        return not_permitted(file, data)
    return error(
        Message("doctor.failed", reason=f"{file}: {problem.strerror or problem}"), Message("doctor.file_failed_help")
    )


@asynccontextmanager
async def _ready_database(settings: Settings) -> AsyncIterator[Database | None]:
    """The database; None if it is not there, does not answer or has another schema, which its own check reports."""
    db = None
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            db = open_database(settings) if database_exists(settings) else None
            is_ready = db is not None and not await pending_migrations(db)
    except (FeedmillError, TimeoutError):
        is_ready = False
    try:
        yield db if is_ready else None
    finally:
        if db is not None:
            await db.close()
