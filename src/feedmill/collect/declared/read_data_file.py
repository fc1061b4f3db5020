"""Reads a YAML, JSON or TOML file into plain values, of YAML with line and column of each."""

import json
import tomllib
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from feedmill.errors import CallerError
from feedmill.optional_imports import import_by_name

MAX_BYTES = 8_000_000
# Imported when a YAML file is read: PyYAML takes a megabyte, and most instances have no such file.
READ_YAML = "feedmill.collect.declared.read_yaml:read_yaml"

KeyPath = tuple[str | int, ...]


class BadDataFile(CallerError):
    """The file is not valid; the text says what is wrong and where."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """The values of a file. `places` has line and column by path; it is empty for JSON and TOML."""

    data: Any
    places: dict[KeyPath, tuple[int, int]] = field(default_factory=dict)


def read_data_file(file: FilePath) -> DataFile:
    """Reads YAML, JSON or TOML, by the suffix of the file; raises `BadDataFile`."""
    text = _read_text(file)
    try:
        match file.suffix.lower():
            case ".json":
                return DataFile(json.loads(text))
            case ".toml":
                return DataFile(tomllib.loads(text))
        document: DataFile = import_by_name(READ_YAML)(file, text)
        return document
    except json.JSONDecodeError as error:
        raise BadDataFile(f"{file}: {line_and_column(error.lineno, error.colno)}: {error.msg}") from error
    except tomllib.TOMLDecodeError as error:
        raise BadDataFile(f"{file}: {error}") from error
    except RecursionError as error:
        raise BadDataFile(f"{file}: it is nested too deeply") from error


def _read_text(file: FilePath) -> str:
    try:
        with file.open("rb") as opened:
            data = opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise BadDataFile(f"{file} can't be read: {error.strerror}") from error
    if not data.strip():
        raise BadDataFile(f"{file} is empty (write feeds: [] if that is what you mean)")
    if len(data) > MAX_BYTES:
        raise BadDataFile(f"{file} is larger than {MAX_BYTES // 1_000_000} MB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        column = error.start - before.rfind(b"\n")
        raise BadDataFile(f"{file}: {line_and_column(before.count(10) + 1, column)}: this is not UTF-8") from error


def line_and_column(line: int, column: int) -> str:
    return f"line {line}, column {column}"
