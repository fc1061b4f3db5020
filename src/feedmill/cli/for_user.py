"""What `feedmill add` and `feedmill import` do for one person with `--user`."""

from datetime import UTC, datetime, timedelta

from feedmill.app import App
from feedmill.errors import CallerError
from feedmill.library.accounts import normal_name
from feedmill.library.discovery import Answers
from feedmill.library.folders import ensure_folders, shortened
from feedmill.library.importing import carry_out, plan_import
from feedmill.library.subscribe import Subscribed, Wish, subscribe
from feedmill.model.account import User
from feedmill.model.subscription import Choice
from feedmill.store.accounts import user_of_name


class UnknownUser(CallerError):
    """There is no such account."""


async def find_user(app: App, name: str) -> User:
    user = await user_of_name(app.db, normal_name(name))
    if user is None:
        raise UnknownUser(f"there is no account {name}: 'feedmill user list' shows them all")
    return user


async def subscribe_user(
    app: App, name: str, url: str, choice: Choice, folder: tuple[str, ...], anyway: bool
) -> Subscribed:
    """Subscribes the person; raises a `CallerError` that says why not."""
    user = await find_user(app, name)
    folders = await ensure_folders(app.db, user.id, [folder]) if folder else {}
    filed = tuple(folder_id for path, folder_id in folders.items() if path == shortened(folder))
    return await subscribe(app.tools, user, Wish(url, choice, filed, anyway=anyway), Answers())


async def import_for_user(app: App, name: str, opml: bytes) -> tuple[list[int], int, list[str]]:
    """The ids of the new feeds, how many were here already, and what could not be taken over."""
    user = await find_user(app, name)
    plan = await plan_import(app.db, user, opml)
    added = await carry_out(app.db, user, plan, datetime.now(UTC), head_start=timedelta(0))
    problems = [f"line {error.line}: {error.message}" if error.line else error.message for error in plan.errors]
    return added, len(plan.here) + len(plan.subscribed), problems
