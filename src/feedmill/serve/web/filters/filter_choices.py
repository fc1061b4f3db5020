"""Names of what filters refer to (folders, feeds, labels, pool groups, services), for their form and description."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

from starlette.requests import Request

from feedmill.library.entries.labels import label_names_of_user
from feedmill.library.filters.manage_filters import fillable_groups
from feedmill.library.subscriptions.lookup import sidebar_feeds_of_user
from feedmill.model.filters.entry_filter import EntryFilter, FilterAction, FilterScope, ScopeKind
from feedmill.model.user import Caller
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.feeds.subscription_fields import folder_options


@dataclass(frozen=True, slots=True)
class FilterChoices:
    """What a filter can refer to, by id."""

    folders: dict[int, str]
    feeds: dict[int, str]
    labels: dict[int, str]
    pools: dict[int, str]
    services: dict[int, str]

    def scope_name(self, scope: FilterScope) -> str | None:
        """The name of its folder or feed; None if that is gone."""
        names = self.folders if scope.kind is ScopeKind.FOLDER else self.feeds
        return None if scope.id is None else names.get(scope.id)

    @property
    def _names_of_targets(self) -> dict[FilterAction, dict[int, str]]:
        return {
            FilterAction.LABEL: self.labels,
            FilterAction.POOL: self.pools,
            FilterAction.SAVE: self.services,
        }

    def actions(self, described: EntryFilter) -> Iterator[tuple[FilterAction, str]]:
        """Its actions, each with the name of the label, pool group or service, if it has one."""
        for action, target_id in described.actions.targets:
            names = self._names_of_targets.get(action, {})
            if not target_id or target_id in names:
                yield action, names.get(target_id, "")


async def load_choices(request: Request, caller: Caller) -> FilterChoices:
    db, user_id = the_app(request).db, caller.user.id
    folders, (feeds, _), labels, groups, services = await asyncio.gather(
        folder_options(db, user_id),
        sidebar_feeds_of_user(db, user_id),
        label_names_of_user(db, user_id),
        fillable_groups(db, caller),
        the_app(request).services.all(user_id),
    )
    return FilterChoices(
        dict(folders),
        {each.id: each.title for each in feeds},
        {each.id: each.name for each in labels},
        {each.id: each.name for each in groups},
        {each.id: each.name for each in services},
    )
