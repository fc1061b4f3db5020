"""Checks the pools: items that wait for a decision, or were given up."""

from collections.abc import AsyncIterator

from feedmill.cli.doctor.findings import CheckContext, Finding, warning
from feedmill.i18n.messages import Message
from feedmill.store.admin.metrics import count_pool_items


async def check_pools(context: CheckContext) -> AsyncIterator[Finding]:
    if context.db is None:
        return
    for (group, kind, state), n in sorted((await count_pool_items(context.db)).items()):
        if state == "held":
            text = Message("doctor.pool_items_held", n=n, name=group, kind=kind)
            yield warning(text, Message("doctor.pool_items_held_help", name=group, kind=kind))
        elif state == "dead":
            text = Message("doctor.pool_items_dead", n=n, name=group, kind=kind)
            yield warning(text, Message("doctor.pool_items_dead_help", name=group, kind=kind))
