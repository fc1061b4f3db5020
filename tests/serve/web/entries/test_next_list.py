"""Where reading goes on at the end of a list."""

from dataclasses import dataclass, field

import pytest

from feedmill.serve.web.entries.next_list import next_list


@dataclass(frozen=True)
class Feed:
    id: int
    unread: int = 1

    @property
    def title(self) -> str:
        return f"feed {self.id}"


@dataclass(frozen=True)
class Folder:
    id: int
    feeds: list[Feed] = field(default_factory=list)
    folders: list["Folder"] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"folder {self.id}"

    @property
    def unread(self) -> int:
        return sum(each.unread for each in [*self.feeds, *self.folders])


FOLDERS = [Folder(1, [Feed(1), Feed(2, 0)], [Folder(2, [Feed(3)])]), Folder(3, [Feed(4, 0)]), Folder(4, [Feed(5)])]
LOOSE = [Feed(6, 0), Feed(7)]


@pytest.mark.parametrize(
    ("path", "following"),
    [
        ("/feed/3", "/feed/1"),
        ("/feed/1", "/feed/5"),
        ("/feed/5", "/feed/7"),
        ("/feed/7", "/feed/3"),
        ("/folder/1", "/folder/4"),
        ("/folder/2", "/folder/4"),
        ("/folder/4", "/feed/7"),
        ("/unread", None),
        ("/label/1", None),
        ("/feed/99", None),
    ],
)
def test_after_a_feed_or_folder_comes_the_next_one_with_unread_entries(path: str, following: str | None) -> None:
    found = next_list(FOLDERS, LOOSE, path)

    assert (found and found.path) == following


def test_nothing_follows_when_everything_else_is_read() -> None:
    assert next_list([Folder(1, [Feed(1), Feed(2, 0)])], [Feed(3, 0)], "/feed/1") is None
