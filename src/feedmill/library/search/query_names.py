"""Resolves the names of feeds, folders and labels in a search query."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from feedmill.library.search.query_tokens import QueryToken
from feedmill.model.entry_marks import UserLabel
from feedmill.model.subscription import Folder, Subscription
from feedmill.store.database import Database
from feedmill.store.entries.labels import labels_of
from feedmill.store.search.tokenizer import fold_text
from feedmill.store.subscriptions.folders import folders_of
from feedmill.store.subscriptions.read_subscriptions import subscriptions_of


@dataclass(frozen=True, slots=True)
class UserNames:
    subscriptions: Sequence[Subscription] = ()
    own_folders: Sequence[Folder] = ()
    own_labels: Sequence[UserLabel] = ()

    def feeds(self, name: str) -> tuple[int, ...]:
        """The feeds whose title or URL contains these words, or of the subscriptions with these ids."""
        numbers = name.split(",")
        if all(number.isdecimal() for number in numbers):
            wanted = {int(number) for number in numbers}
            return tuple(one.feed_id for one in self.subscriptions if one.id in wanted)
        plain = fold_text(name)
        return tuple(
            one.feed_id for one in self.subscriptions if plain and plain in fold_text(f"{one.title} {one.url}")
        )

    def folder(self, name: str) -> tuple[int, ...]:
        """The feeds in the folders of that name and their subfolders."""
        plain = fold_text(name)
        named = [one.id for one in self.own_folders if fold_text(one.name) == plain]
        below = _below(named, {one.id: one.parent_id for one in self.own_folders})
        return tuple(one.feed_id for one in self.subscriptions if not below.isdisjoint(one.folder_ids))

    def labels(self, name: str) -> tuple[int, ...]:
        plain = fold_text(name)
        return tuple(label.id for label in self.own_labels if fold_text(label.name) == plain)


def name_term(kind: str, name: str) -> str:
    """The term of the search language that asks for the folder or label of this name."""
    return f'{kind}:"{fold_text(name)}"'


async def load_names(db: Database, user_id: int, tokens: Iterable[QueryToken]) -> UserNames:
    """The names that these tokens may need."""
    kinds = {token.kind for token in tokens}
    return UserNames(
        await subscriptions_of(db, user_id) if kinds & {"feed", "folder"} else (),
        await folders_of(db, user_id) if "folder" in kinds else (),
        await labels_of(db, user_id) if "label" in kinds else (),
    )


def _below(folder_ids: Iterable[int], parents: Mapping[int, int]) -> set[int]:
    found = added = set(folder_ids)
    while added:
        added = {id for id, parent in parents.items() if parent in added} - found
        found = found | added
    return found
