"""Subscribes a user to a feed or an OPML file, for `feedmill add --user` and `feedmill import --user`."""

from datetime import timedelta

from feedmill.app import App
from feedmill.cli.actions.find_user import find_user
from feedmill.collect.discovery.response_cache import ResponseCache
from feedmill.library.subscriptions.folders import clip_path, ensure_folders
from feedmill.library.subscriptions.import_opml import plan_import, run_import
from feedmill.library.subscriptions.subscribe import SubscribeRequest, SubscribeResult, subscribe
from feedmill.model.feed_settings import FeedSettings


async def subscribe_user(
    app: App, name: str, url: str, settings: FeedSettings, folder: tuple[str, ...], anyway: bool
) -> SubscribeResult:
    """Subscribes the user; raises a `CallerError` that says why not."""
    user = await find_user(app.db, name)
    folders = await ensure_folders(app.db, user.id, [folder]) if folder else {}
    folder_ids = tuple(folder_id for path, folder_id in folders.items() if path == clip_path(folder))
    return await subscribe(app.tools, user, SubscribeRequest(url, settings, folder_ids, anyway=anyway), ResponseCache())


async def import_for_user(app: App, name: str, opml: bytes) -> tuple[list[int], int, list[str]]:
    """Imports the file; returns the ids of new feeds, the number of existing ones, and the problems."""
    user = await find_user(app.db, name)
    plan = await plan_import(app.db, user, opml)
    added = await run_import(app.tools, user, plan, head_start=timedelta(0))
    problems = [f"line {error.line}: {error.message}" if error.line else str(error.message) for error in plan.errors]
    return added, len(plan.here) + len(plan.subscribed), problems
