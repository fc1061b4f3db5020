"""Prints text without control characters; formats counts and sizes."""

import click

from feedmill.model.control_characters import CONTROL_CHARACTERS, replace_control_characters


def print_text(text: str = "", bold: bool = False, err: bool = False) -> None:
    clean = replace_control_characters(text)
    click.echo(click.style(clean, bold=True) if bold else clean, err=err)


def print_json_line(line: str) -> None:
    """Prints JSON with control characters escaped, so that they can't control a terminal."""
    click.echo(CONTROL_CHARACTERS.sub(lambda found: f"\\u{ord(found[0]):04x}", line))
