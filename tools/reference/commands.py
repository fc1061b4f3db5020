"""Generates docs/reference/commands.md: every command with its `--help`."""

from collections.abc import Iterator

import click

from feedmill.cli import cli
from reference import MADE


def page() -> str:
    context = click.Context(cli, info_name="feedmill", terminal_width=100, **cli.context_settings)
    return "\n".join([f"# Commands\n\n{MADE}\n\n{shown_help(context)}", *sections_below(cli, context)])


def sections_below(group: click.Group, above: click.Context) -> Iterator[str]:
    """A section for each command of a group, each followed by its subcommands."""
    for name in group.list_commands(above):
        command = group.get_command(above, name)
        if command is None:
            raise KeyError(name)
        context = click.Context(command, parent=above, info_name=name)
        yield f"## `{context.command_path}`\n\n{shown_help(context)}"
        if isinstance(command, click.Group):
            yield from sections_below(command, context)


def shown_help(context: click.Context) -> str:
    return f"```\n{context.get_help()}\n```\n"
