"""Words for a person. Many are a stranger's: titles, texts and addresses that a feed chose."""

import re

import click

# ESC and its kin move the cursor, rename the window and worse; directional marks make one text pass for another.
# Tab and line feed may stay.
STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def harmless(text: str) -> str:
    """The text without the characters that would steer a terminal."""
    return STEERING.sub("�", text)


def say(text: str = "", bold: bool = False, err: bool = False) -> None:
    told = harmless(text)
    click.echo(click.style(told, bold=True) if bold else told, err=err)


def say_json(line: str) -> None:
    """JSON in which what would steer a terminal is written as JSON writes it."""
    click.echo(STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", line))
