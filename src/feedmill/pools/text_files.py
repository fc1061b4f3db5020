"""Reads files of texts for pools: lines, JSON lines or CSV. A bad line is told with its number and loses nothing else.

Lines are one text each. JSON lines and CSV have the fields `text`, or `title` and `content`, and maybe `id` and
`batch_id`; other fields are ignored.
"""

import csv
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, BinaryIO

import msgspec

from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.model.pool import PoolKind, PoolText
from feedmill.pools.program_texts import checked_text

# The longest text, with what JSON or CSV needs to escape it.
MAX_LINE_BYTES = 4_000_000
MAX_ID_DIGITS = 16
FIELD_KINDS = {"title": PoolKind.TITLES, "content": PoolKind.CONTENTS}


class TextFileFormat(StrEnum):
    LINES = "lines"
    JSONL = "jsonl"
    CSV = "csv"


@dataclass(frozen=True, slots=True)
class TextFileLine:
    """A line of the file without its end; `problem` says why it can't be read."""

    number: int
    text: str
    problem: Message | None = None


@dataclass(frozen=True, slots=True)
class BadLine:
    number: int
    reason: Message


@dataclass(frozen=True, slots=True)
class TextFileOptions:
    """`kind` is the pool of lines and of the field `text`; `batch_id` that of texts without their own."""

    kind: PoolKind
    batch_id: int


FileText = tuple[PoolKind, PoolText]
Fields = tuple[int, Mapping[str, Any]]


def read_text_file(file: BinaryIO, format: TextFileFormat, options: TextFileOptions) -> Iterator[FileText | BadLine]:
    """The texts of the file with their pools, and the lines that have none; empty lines are skipped.

    Raises `BadInput` if a CSV file has no header with a known column.
    """
    lines = _lines(file)
    if format is TextFileFormat.CSV:
        records = _csv_records(lines)
    else:
        records = (_record(line, format) for line in lines if line.problem or line.text.strip())
    for record in records:
        yield from [record] if isinstance(record, BadLine) else _texts(*record, options)


def _lines(file: BinaryIO) -> Iterator[TextFileLine]:
    number = 0
    while line := file.readline(MAX_LINE_BYTES + 1):
        number += 1
        if len(line) > MAX_LINE_BYTES:
            while line and not line.endswith(b"\n"):
                line = file.readline(MAX_LINE_BYTES)
            yield TextFileLine(number, "", Message("error.line_too_long", most=MAX_LINE_BYTES))
            continue
        try:
            yield TextFileLine(number, line.removesuffix(b"\n").decode("utf-8-sig" if number == 1 else "utf-8"))
        except UnicodeDecodeError:
            yield TextFileLine(number, "", Message("error.line_not_utf8"))


def _record(line: TextFileLine, format: TextFileFormat) -> Fields | BadLine:
    if line.problem:
        return BadLine(line.number, line.problem)
    if format is TextFileFormat.LINES:
        return line.number, {"text": line.text.removesuffix("\r")}
    try:
        found = msgspec.json.decode(line.text)
    except (msgspec.DecodeError, RecursionError) as error:
        return BadLine(line.number, Message("error.line_no_json", detail=str(error)))
    if isinstance(found, str):
        return line.number, {"text": found}
    if not isinstance(found, dict):
        return BadLine(line.number, Message("error.line_no_object"))
    return line.number, found


def _csv_records(lines: Iterable[TextFileLine]) -> Iterator[Fields | BadLine]:
    csv.field_size_limit(MAX_LINE_BYTES)
    header: list[str] | None = None
    for record in _csv_rows(lines):
        if isinstance(record, BadLine):
            yield record
            continue
        number, row = record
        if not any(row):
            continue
        if header is None:
            header = [name.strip().lower() for name in row]
            if not {"text", *FIELD_KINDS} & set(header):
                raise BadInput(Message("error.csv_header"))
        elif len(row) > len(header):
            yield BadLine(number, Message("error.csv_columns", given=len(row), most=len(header)))
        else:
            yield number, {name: value for name, value in zip(header, row, strict=False) if value}


def _csv_rows(lines: Iterable[TextFileLine]) -> Iterator[tuple[int, list[str]] | BadLine]:
    """The rows with the number of their first line. After a quote that is never closed, the next line is a row."""
    source, waiting = iter(lines), deque[TextFileLine]()
    pulled: list[TextFileLine] = []

    def pull() -> Iterator[str]:
        size = 0
        while (line := waiting.popleft() if waiting else next(source, None)) is not None:
            pulled.append(line)
            size += len(line.text)
            if line.problem and len(pulled) == 1:
                raise csv.Error(str(line.problem))
            if line.problem or size > MAX_LINE_BYTES:
                raise csv.Error("a quote is not closed")
            yield line.text + "\n"

    while True:
        pulled.clear()
        try:
            row = next(csv.reader(pull(), strict=True))
        except StopIteration:
            return
        except csv.Error as error:
            yield BadLine(pulled[0].number, pulled[0].problem or Message("error.line_no_csv", detail=str(error)))
            waiting.extendleft(reversed(pulled[1:]))
            continue
        yield pulled[0].number, row


def _texts(number: int, fields: Mapping[str, Any], options: TextFileOptions) -> Iterator[FileText | BadLine]:
    """The texts of one record: one, or a title and a content."""
    given = {FIELD_KINDS.get(name, options.kind): fields[name] for name in ("text", *FIELD_KINDS) if fields.get(name)}
    if not given:
        yield BadLine(number, Message("error.pool_text_empty"))
    for kind, text in given.items():
        try:
            yield kind, _checked(kind, text, fields, options)
        except BadInput as error:
            yield BadLine(number, error.message)


def _checked(kind: PoolKind, text: object, fields: Mapping[str, Any], options: TextFileOptions) -> PoolText:
    if not isinstance(text, str):
        raise BadInput(Message("error.pool_text_no_text"), field="text")
    batch = fields.get("batch_id")
    return checked_text(
        kind, text, _external_id(fields.get("id")), options.batch_id if batch is None else _batch(batch)
    )


def _external_id(given: object) -> str | None:
    if given is None or isinstance(given, str):
        return given
    if isinstance(given, int) and not isinstance(given, bool):
        return str(given) if abs(given) < 10**MAX_ID_DIGITS else ""
    return ""


def _batch(given: object) -> int:
    """The number of a batch, also as text, as CSV has it; -1, which is refused, for anything else."""
    if isinstance(given, str):
        given = given.strip()
        return int(given) if given.isascii() and given.isdecimal() and len(given) <= MAX_ID_DIGITS else -1
    return given if isinstance(given, int) and not isinstance(given, bool) else -1
