"""`feedmill parse`: print what the parser reads in a file, as JSON."""

import sys
from pathlib import Path

import click
import msgspec

from feedmill.cli.actions.complete_paths import complete_file
from feedmill.cli.output.print_text import print_json_line
from feedmill.collect.parsing.parse_feed import parse_feed
from feedmill.errors import CallerError, FeedError, NotAFeed

MAX_BYTES = 100_000_000


@click.command()
@click.argument("file", metavar="FILE|-", shell_complete=complete_file)
@click.option("--url", metavar="URL", help="Where the document came from: makes its links absolute.")
@click.option("--content-type", metavar="TYPE", help="The HTTP header Content-Type that it came with.")
def parse(file: str, url: str | None, content_type: str | None) -> None:
    """Print the feed in a FILE (- for standard input) as one JSON object.

    Nothing is fetched or stored. Texts are as the feed gives them, not sanitized.
    """
    data = _read(file)
    try:
        feed = parse_feed(data, content_type=content_type, url=url)
    except NotAFeed as error:
        raise FeedError(f"{_name(file)}: {error}") from error
    print_json_line(msgspec.json.encode(feed).decode())


def _read(file: str) -> bytes:
    try:
        data = _read_bytes(file)
    except OSError as error:
        raise CallerError(f"{_name(file)} can't be read: {error.strerror}") from error
    if len(data) > MAX_BYTES:
        raise CallerError(f"{_name(file)} is larger than {MAX_BYTES // 1_000_000} MB")
    return data


def _read_bytes(file: str) -> bytes:
    """Reads one byte more than is allowed, which shows that there is more."""
    if file == "-":
        if sys.stdin is None:
            raise CallerError("standard input is closed: give the name of a file, or pipe a feed into the command")
        return sys.stdin.buffer.read(MAX_BYTES + 1)
    with Path(file).open("rb") as opened:
        return opened.read(MAX_BYTES + 1)


def _name(file: str) -> str:
    return "standard input" if file == "-" else file
