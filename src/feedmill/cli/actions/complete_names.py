"""Completes names on the command line: feeds by id, users, pool groups.

A shell asks while somebody types: what can't be read at once completes nothing, and nothing is created or migrated.
"""

import asyncio
from collections.abc import Awaitable, Callable

import click
from click.shell_completion import CompletionItem

from feedmill.adapters.database import database_exists, open_database
from feedmill.cli.startup.context import Context
from feedmill.errors import FeedmillError
from feedmill.model.control_characters import replace_control_characters
from feedmill.settings import Settings
from feedmill.store.admin.completion_names import feed_titles, pool_group_names, user_names
from feedmill.store.database import Database

MAX_SECONDS = 2
MAX_NAMES = 200

# Each name with what a shell shows beside it.
Names = dict[str, str]


def complete_feed(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The ids of feeds, with their titles beside them."""
    return _complete(ctx, incomplete, _feeds)


def complete_user(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return _complete(ctx, incomplete, _users)


def complete_pool_group(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return _complete(ctx, incomplete, _pool_groups)


def _complete(
    ctx: click.Context, incomplete: str, read: Callable[[Database], Awaitable[Names]]
) -> list[CompletionItem]:
    try:
        names = asyncio.run(_read(_settings(ctx), read))
    except (FeedmillError, TimeoutError):
        return []
    fitting = [name for name in names if name.startswith(incomplete)]
    return [CompletionItem(name, help=_on_one_line(names[name])) for name in fitting[:MAX_NAMES]]


def _on_one_line(text: str) -> str:
    """A shell shows it as it is: without line ends, which would be further names, and without control characters."""
    return replace_control_characters(" ".join(text.split()))


def _settings(ctx: click.Context) -> Settings:
    """The settings, with the global options that have been typed."""
    options = ctx.find_root().params
    return Context.of_options(options.get("data"), options.get("given") or ()).quiet_settings


async def _read(settings: Settings, read: Callable[[Database], Awaitable[Names]]) -> Names:
    if not database_exists(settings):
        return {}
    db = open_database(settings)
    try:
        async with asyncio.timeout(MAX_SECONDS):
            return await read(db)
    finally:
        await db.close()


async def _feeds(db: Database) -> Names:
    return {str(feed_id): title for feed_id, title in (await feed_titles(db)).items()}


async def _users(db: Database) -> Names:
    return dict.fromkeys(await user_names(db), "")


async def _pool_groups(db: Database) -> Names:
    return dict.fromkeys(await pool_group_names(db), "")
