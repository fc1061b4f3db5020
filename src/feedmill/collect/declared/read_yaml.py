"""Reads YAML with line and column of each value. Aliases are refused, because they let a small file expand."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

import yaml

from feedmill.collect.declared.read_data_file import BadDataFile, DataFile, KeyPath, line_and_column

MAX_DEPTH = 10
NULLS = frozenset({"", "~", "null", "Null", "NULL"})
# The loader in C is a hundred times faster, but not every platform has it.
Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(file: FilePath, text: str) -> DataFile:
    """Reads the text of the file; raises `BadDataFile`."""
    try:
        return _Tree().read(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{line_and_column(mark.line + 1, mark.column + 1)}: " if mark else ""
        raise BadDataFile(f"{file}: {place}{error.problem or error.context}") from error
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        place = line_and_column(before.count("\n") + 1, error.position - before.rfind("\n"))
        raise BadDataFile(f"{file}: {place}: {error.reason}") from error


@dataclass(slots=True)
class _Branch:
    """A list or mapping that is being read; `key` is the key whose value comes next."""

    values: list[Any] | dict[str, Any]
    path: KeyPath
    key: str | None = None


class _Tree:
    """Builds plain values from YAML's events."""

    def __init__(self) -> None:
        self._places: dict[KeyPath, tuple[int, int]] = {}
        self._branches: list[_Branch] = []
        self._root: Any = None

    def read(self, text: str) -> DataFile:
        for event in self._single(yaml.parse(text, Loader=Loader)):
            match event:
                case yaml.ScalarEvent():
                    self._scalar(event)
                case yaml.SequenceStartEvent():
                    self._open_branch(event, [])
                case yaml.MappingStartEvent():
                    self._open_branch(event, {})
                case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                    self._branches.pop()
                case yaml.AliasEvent():
                    raise _error(event, "aliases (*name) are not allowed here")
        return DataFile(self._root, self._places)

    def _single(self, events: Iterator[Any]) -> Iterator[Any]:
        documents = 0
        for event in events:
            documents += isinstance(event, yaml.DocumentStartEvent)
            if documents > 1:
                raise _error(event, "a second document begins here")
            yield event

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        branch = self._branches[-1] if self._branches else None
        if branch is not None and isinstance(branch.values, dict) and branch.key is None:
            if event.value in branch.values:
                raise _error(event, f"{event.value!r} stands here twice")
            branch.key = event.value
            self._places[(*branch.path, event.value)] = _place(event)
            return
        self._add(event, None if event.implicit[0] and event.value in NULLS else event.value)

    def _open_branch(self, event: Any, values: list[Any] | dict[str, Any]) -> None:
        if len(self._branches) >= MAX_DEPTH:
            raise _error(event, "it is nested too deeply")
        self._branches.append(_Branch(values, self._add(event, values)))

    def _add(self, event: Any, value: Any) -> KeyPath:
        """Adds a value to the innermost open branch and returns its path."""
        path = self._add_to(self._branches[-1], event, value) if self._branches else ()
        if not path:
            self._root = value
        self._places.setdefault(path, _place(event))
        return path

    def _add_to(self, branch: _Branch, event: Any, value: Any) -> KeyPath:
        if isinstance(branch.values, list):
            branch.values.append(value)
            return (*branch.path, len(branch.values) - 1)
        if branch.key is None:
            raise _error(event, "a key must be plain text")
        key, branch.key = branch.key, None
        branch.values[key] = value
        return (*branch.path, key)


def _place(event: Any) -> tuple[int, int]:
    return event.start_mark.line + 1, event.start_mark.column + 1


def _error(event: Any, problem: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=event.start_mark)
