"""Checks the feeds: those that fail, our own network, the file that declares them."""

from collections.abc import AsyncIterator, Mapping
from datetime import timedelta

from feedmill.cli.doctor.findings import CheckContext, Finding, error, ok, warning
from feedmill.collect.declared.feeds_file import find_feeds_file, read_declarations
from feedmill.collect.declared.feeds_file_paths import feeds_file_pattern
from feedmill.collect.scheduling.outage import FEWEST_HOSTS, MOST_REACHED
from feedmill.errors import FeedmillError
from feedmill.i18n.messages import Message
from feedmill.model.feed import FeedStatus
from feedmill.store.admin.failure_counts import recently_reached_hosts
from feedmill.store.admin.metrics import count_feeds_by_status
from feedmill.store.feeds.declared_feeds import count_declared_feeds

NETWORK_WINDOW = timedelta(minutes=15)


async def check_feeds(context: CheckContext) -> AsyncIterator[Finding]:
    if context.db is None:
        return
    by_status = (await count_feeds_by_status(context.db)).by_status
    if n := by_status.get(FeedStatus.ERROR, 0):
        yield warning(Message("doctor.feeds_failing", n=n), Message("doctor.feeds_failing_help"))
    else:
        yield ok(Message("doctor.feeds_ok"))


async def check_network(context: CheckContext) -> AsyncIterator[Finding]:
    if context.db is None:
        return
    reached = await recently_reached_hosts(context.db, context.now - NETWORK_WINDOW)
    if finding := judge_network(reached):
        yield finding


def judge_network(reached: Mapping[str, bool]) -> Finding | None:
    """Whether hardly any of the hosts that were asked lately could be reached."""
    if len(reached) < FEWEST_HOSTS or sum(reached.values()) > MOST_REACHED * len(reached):
        return None
    text = Message("doctor.network_down", n=len(reached))
    host = min(host for host, is_reached in reached.items() if not is_reached)
    return error(text, Message("doctor.network_down_help", host=host))


async def check_feeds_file(context: CheckContext) -> AsyncIterator[Finding]:
    settings = context.settings
    try:
        file = find_feeds_file(settings.feeds_file, settings.data)
        declared = len(read_declarations(file)) if file else 0
    except FeedmillError as problem:
        text = Message("doctor.feeds_file_invalid", reason=problem.message)
        yield error(text, Message("doctor.feeds_file_invalid_help"))
        return
    if file is not None:
        yield ok(Message("doctor.feeds_file_ok", file=str(file), n=declared))
    elif context.db is not None and (n := await count_declared_feeds(context.db)):
        text = Message("doctor.feeds_file_missing", file=str(feeds_file_pattern(settings.data)), n=n)
        yield error(text, Message("doctor.feeds_file_missing_help"))
