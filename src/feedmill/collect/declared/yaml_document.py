"""Reads YAML with line and column of each value, without the features that let a small file mean a huge one."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

import yaml

from feedmill.collect.declared.config_file import BadFile, ConfigDocument, KeyPath, line_and_column

MAX_DEPTH = 10
NULLS = frozenset({"", "~", "null", "Null", "NULL"})
# The one written in C is a hundred times faster; not every platform has it.
Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(file: FilePath, text: str) -> ConfigDocument:
    """Reads the text of the file; raises `BadFile`."""
    try:
        return _Tree().read(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{line_and_column(mark.line + 1, mark.column + 1)}: " if mark else ""
        raise BadFile(f"{file}: {place}{error.problem or error.context}") from error
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        place = line_and_column(before.count("\n") + 1, error.position - before.rfind("\n"))
        raise BadFile(f"{file}: {place}: {error.reason}") from error


@dataclass(slots=True)
class _Branch:
    """A list or mapping that is being read; `key` is the one whose value comes next."""

    holds: list[Any] | dict[str, Any]
    path: KeyPath
    key: str | None = None


class _Tree:
    """Builds plain values from YAML's events. Aliases are refused: with them a small file may mean a huge one."""

    def __init__(self) -> None:
        self._places: dict[KeyPath, tuple[int, int]] = {}
        self._open: list[_Branch] = []
        self._root: Any = None

    def read(self, text: str) -> ConfigDocument:
        for event in self._single(yaml.parse(text, Loader=Loader)):
            match event:
                case yaml.ScalarEvent():
                    self._scalar(event)
                case yaml.SequenceStartEvent():
                    self._branch(event, [])
                case yaml.MappingStartEvent():
                    self._branch(event, {})
                case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                    self._open.pop()
                case yaml.AliasEvent():
                    raise _refusal(event, "aliases (*name) are not allowed here")
        return ConfigDocument(self._root, self._places)

    def _single(self, events: Iterator[Any]) -> Iterator[Any]:
        documents = 0
        for event in events:
            documents += isinstance(event, yaml.DocumentStartEvent)
            if documents > 1:
                raise _refusal(event, "a second document begins here")
            yield event

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        branch = self._open[-1] if self._open else None
        if branch is not None and isinstance(branch.holds, dict) and branch.key is None:
            if event.value in branch.holds:
                raise _refusal(event, f"{event.value!r} stands here twice")
            branch.key = event.value
            self._places[(*branch.path, event.value)] = _place(event)
            return
        self._put(event, None if event.implicit[0] and event.value in NULLS else event.value)

    def _branch(self, event: Any, holds: list[Any] | dict[str, Any]) -> None:
        if len(self._open) >= MAX_DEPTH:
            raise _refusal(event, "it is nested too deeply")
        self._open.append(_Branch(holds, self._put(event, holds)))

    def _put(self, event: Any, value: Any) -> KeyPath:
        """Puts a value into the branch that is open; where that is."""
        path = self._put_into(self._open[-1], event, value) if self._open else ()
        if not path:
            self._root = value
        self._places.setdefault(path, _place(event))
        return path

    def _put_into(self, branch: _Branch, event: Any, value: Any) -> KeyPath:
        if isinstance(branch.holds, list):
            branch.holds.append(value)
            return (*branch.path, len(branch.holds) - 1)
        if branch.key is None:
            raise _refusal(event, "a key must be plain text")
        key, branch.key = branch.key, None
        branch.holds[key] = value
        return (*branch.path, key)


def _place(event: Any) -> tuple[int, int]:
    return event.start_mark.line + 1, event.start_mark.column + 1


def _refusal(event: Any, problem: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=event.start_mark)
