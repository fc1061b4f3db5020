"""Checks what goes out: webhooks, notifications, services, requests to hubs."""

from collections.abc import AsyncIterator

from feedmill.cli.doctor.findings import CheckContext, Finding, error, ok, warning
from feedmill.i18n.messages import Message
from feedmill.optional_imports import is_installed
from feedmill.store.admin.failure_counts import (
    count_notification_targets,
    failing_hub_subscriptions,
    failing_notification_targets,
    failing_services,
    failing_webhooks,
)


async def check_webhooks(context: CheckContext) -> AsyncIterator[Finding]:
    if context.db is None:
        return
    failing = await failing_webhooks(context.db)
    if failing.paused:
        yield warning(Message("doctor.webhooks_paused", n=failing.paused), Message("doctor.webhooks_paused_help"))
    if failing.failing:
        yield warning(Message("doctor.webhooks_failing", n=failing.failing), Message("doctor.webhooks_failing_help"))
    if not failing.paused and not failing.failing:
        yield ok(Message("doctor.webhooks_ok"))


async def check_notifications(context: CheckContext) -> AsyncIterator[Finding]:
    if context.db is None:
        return
    targets = await count_notification_targets(context.db)
    if targets and not is_installed("apprise"):
        yield error(Message("doctor.notify_extra_missing", n=targets), Message("doctor.notify_extra_missing_help"))
    if n := await failing_notification_targets(context.db):
        yield warning(Message("doctor.notifications_failing", n=n), Message("doctor.notifications_failing_help"))


async def check_services(context: CheckContext) -> AsyncIterator[Finding]:
    if context.db is not None and (n := await failing_services(context.db)):
        yield warning(Message("doctor.services_failing", n=n), Message("doctor.services_failing_help"))


async def check_hubs(context: CheckContext) -> AsyncIterator[Finding]:
    if context.db is not None and (n := await failing_hub_subscriptions(context.db)):
        url = context.settings.public_url or "public_url"
        yield warning(Message("doctor.hubs_failing", n=n), Message("doctor.hubs_failing_help", url=url))
