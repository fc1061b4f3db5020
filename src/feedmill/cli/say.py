"""Words for a person; many of them are a stranger's."""

import click

from feedmill.model.sizes import size_in_words
from feedmill.model.terminal import STEERING, harmless


def say(text: str = "", bold: bool = False, err: bool = False) -> None:
    told = harmless(text)
    click.echo(click.style(told, bold=True) if bold else told, err=err)


def counted(n: int, one: str, many: str = "") -> str:
    """`1 feed`, `2 feeds`, `2 entries`."""
    return f"{n} {one if n == 1 else many or f'{one}s'}"


def sized(size: float) -> str:
    """`12.3 kB`, with a space that `grep` finds."""
    return size_in_words(size, " ")


def say_json(line: str) -> None:
    """JSON in which what would steer a terminal is written as JSON writes it."""
    click.echo(STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", line))
