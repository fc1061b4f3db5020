"""What a change of marks replaces, so that it can be undone."""

from collections.abc import Iterable

from feedmill.model.entry_marks import EntryMarks
from feedmill.store.entries.replaced_marks import FormerMarks, MarkKind, ReplacedMarks
from feedmill.store.entries.visible_entries import ListedEntry


def replaced_marks(listed: Iterable[ListedEntry | None], marks: EntryMarks) -> ReplacedMarks:
    """The former marks of the entries that `marks` change."""
    changed = [entry for entry in listed if entry is not None and _changes(entry, marks)]
    labelled = [(id, tuple(entry.id for entry in changed if not _has_label(entry, id))) for id in marks.add_labels]
    return ReplacedMarks(_kinds(marks), tuple(map(_former, changed)), tuple(labelled))


def _kinds(marks: EntryMarks) -> tuple[MarkKind, ...]:
    given: dict[MarkKind, object] = {"read": marks.read, "starred": marks.starred, "later": marks.later}
    return tuple(kind for kind, value in given.items() if value is not None)


def _changes(entry: ListedEntry, marks: EntryMarks) -> bool:
    return (
        (marks.read is not None and marks.read == bool(entry.is_unread))
        or (marks.starred is not None and marks.starred != (entry.starred_at is not None))
        or (marks.later is not None and bool(marks.later or entry.later_at))
        or any(not _has_label(entry, id) for id in marks.add_labels)
    )


def _has_label(entry: ListedEntry, label_id: int) -> bool:
    return any(label.id == label_id for label in entry.labels)


def _former(entry: ListedEntry) -> FormerMarks:
    return FormerMarks(
        entry.id, bool(entry.is_unread), entry.read_at, entry.starred_at, entry.later_at, entry.later_until
    )
