"""`feedmill pool import`: put the texts of a file into the pools of a group."""

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

import click

from feedmill.cli.actions.complete_names import complete_pool_group
from feedmill.cli.actions.complete_paths import complete_file
from feedmill.cli.output.format_text import pluralize
from feedmill.cli.output.json_records import print_record
from feedmill.cli.output.print_text import print_text
from feedmill.cli.startup.context import Context, pass_context
from feedmill.cli.startup.run_with_pools import OpenedPools, run_with_pools
from feedmill.errors import CallerError
from feedmill.model.pool import PoolKind, PoolText
from feedmill.pools.program_texts import MAX_BATCH_ID, batch_of
from feedmill.pools.text_files import BadLine, TextFileFormat, TextFileOptions, read_text_file
from feedmill.store.pools.texts import CHUNK_CHARACTERS, CHUNK_ROWS

FORMATS = {".jsonl": TextFileFormat.JSONL, ".ndjson": TextFileFormat.JSONL, ".csv": TextFileFormat.CSV}
SENDER = "import"


@dataclass(slots=True)
class TextImport:
    """Stores texts in chunks, and counts them."""

    opened: OpenedPools
    group_id: int
    added: int = 0
    known: int = 0
    bad: int = 0
    _waiting: dict[PoolKind, list[PoolText]] = field(default_factory=lambda: {kind: [] for kind in PoolKind})
    _characters: Counter[PoolKind] = field(default_factory=Counter)

    async def add(self, kind: PoolKind, text: PoolText) -> None:
        self._waiting[kind].append(text)
        self._characters[kind] += len(text.text)
        if len(self._waiting[kind]) == CHUNK_ROWS or self._characters[kind] > CHUNK_CHARACTERS:
            await self.store(kind)

    async def store(self, kind: PoolKind) -> None:
        """Stores the waiting texts; what was stored before a crash is known when the file is imported again."""
        if texts := self._waiting[kind]:
            stored = await self.opened.pools.add_texts(self.group_id, kind, texts, SENDER)
            self.added, self.known = self.added + stored.added, self.known + stored.known
            texts.clear()
            self._characters[kind] = 0


@click.command(name="import", short_help="Put the texts of FILE into the pools of the group NAME.")
@click.argument("name", shell_complete=complete_pool_group)
@click.argument("file", shell_complete=complete_file)
@click.option(
    "--kind",
    type=click.Choice([*map(str, PoolKind)]),
    default="titles",
    help="The pool of lines and of the field text; titles by default.",
)
@click.option(
    "--format",
    "wanted",
    type=click.Choice([*map(str, TextFileFormat)]),
    help="By default by the ending of the name: .jsonl, .csv, others lines.",
)
@click.option(
    "--batch-id",
    type=click.IntRange(0, MAX_BATCH_ID),
    help="The batch of texts without their own; by default the time.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_context
def import_texts(
    context: Context, name: str, file: str, kind: str, wanted: str | None, batch_id: int | None, as_json: bool
) -> None:
    """Put the texts of FILE (- for standard input) into the pools of the group NAME.

    Lines are one text each. JSON lines and CSV, with a header, have the fields text, or title and content, and maybe id
    and batch_id. The same id, or without ids the same text, is stored once: import again after a crash. Lines that
    can't be imported are reported with their number, and the exit code is 1.
    """
    format = TextFileFormat(wanted) if wanted else FORMATS.get(Path(file).suffix.lower(), TextFileFormat.LINES)
    batch = batch_of(datetime.now(UTC)) if batch_id is None else batch_id
    options = TextFileOptions(PoolKind(kind), batch)
    with _opened(file) as source:
        done = run_with_pools(context.quiet_settings, lambda opened: _import(opened, name, source, format, options))
    _report(done, as_json)
    if done.bad:
        click.get_current_context().exit(1)


async def _import(
    opened: OpenedPools, name: str, source: BinaryIO, format: TextFileFormat, options: TextFileOptions
) -> TextImport:
    done = TextImport(opened, (await opened.pools.group(name)).id)
    for found in read_text_file(source, format, options):
        if isinstance(found, BadLine):
            done.bad += 1
            print_text(f"line {found.number}: {found.reason}", err=True)
        else:
            await done.add(*found)
    for kind in PoolKind:
        await done.store(kind)
    return done


def _report(done: TextImport, as_json: bool) -> None:
    if as_json:
        print_record({"added": done.added, "known": done.known, "bad": done.bad})
        return
    known = f", {done.known} there already" if done.known else ""
    bad = f", {pluralize(done.bad, 'line')} could not be taken over" if done.bad else ""
    print_text(f"{pluralize(done.added, 'text')} added{known}{bad}")


@contextmanager
def _opened(file: str) -> Iterator[BinaryIO]:
    try:
        if file == "-":
            yield sys.stdin.buffer
        else:
            with Path(file).open("rb") as opened:
                yield opened
    except OSError as error:
        raise CallerError(f"{file} can't be read: {error.strerror}") from error
