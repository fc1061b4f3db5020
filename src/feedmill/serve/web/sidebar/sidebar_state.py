"""How a user left the sidebar: which folders and groups are open, and whether only feeds with unread are shown.

It is a preference of the account, so every device and every page shows the sidebar as it was left.
"""

from dataclasses import dataclass, field, replace
from urllib.parse import parse_qsl, urlencode

from feedmill.library.users.preferences import preferences_of, save_preferences
from feedmill.model.user import User
from feedmill.store.database import Database

PREFERENCE = "sidebar"
# Below the feeds: labels, saved searches, further screens.
GROUPS = ("labels", "searches", "screens")
# Nobody has more folders that differ from the rest, and the preference stays short.
MOST_FOLDERS = 2000


@dataclass(frozen=True, slots=True)
class SidebarState:
    """`exceptions` are the open folders if the sidebar is collapsed, otherwise the closed ones."""

    only_unread: bool = False
    is_collapsed: bool = False
    exceptions: frozenset[int] = frozenset()
    groups: dict[str, bool] = field(default_factory=dict)

    def is_open(self, folder_id: int) -> bool:
        return (folder_id in self.exceptions) == self.is_collapsed

    def toggled(self, folder_id: int) -> "SidebarState":
        return replace(self, exceptions=self.exceptions ^ {folder_id})

    def collapsed(self, is_collapsed: bool) -> "SidebarState":
        return replace(self, is_collapsed=is_collapsed, exceptions=frozenset())

    def with_group(self, name: str, is_open: bool) -> "SidebarState":
        return replace(self, groups={**self.groups, name: is_open})

    def encode(self) -> str:
        groups = {name: "open" if is_open else "closed" for name, is_open in sorted(self.groups.items())}
        flags = {"unread": self.only_unread, "collapsed": self.is_collapsed}
        folders = ".".join(str(id) for id in sorted(self.exceptions)[-MOST_FOLDERS:])
        return urlencode({name: "1" for name, flag in flags.items() if flag} | {"folders": folders} | groups)


def parse_state(text: str) -> SidebarState:
    """What was encoded; what makes no sense is left out."""
    values = dict(parse_qsl(text))
    ids = [id for id in values.get("folders", "").split(".") if id.isascii() and id.isdigit() and len(id) < 17]
    return SidebarState(
        only_unread="unread" in values,
        is_collapsed="collapsed" in values,
        exceptions=frozenset(int(id) for id in ids),
        groups={name: values[name] == "open" for name in GROUPS if name in values},
    )


def sidebar_state_of(user: User) -> SidebarState:
    return parse_state(preferences_of(user).get(PREFERENCE, ""))


async def save_state(db: Database, user: User, state: SidebarState) -> User:
    return await save_preferences(db, user, {PREFERENCE: state.encode()})
