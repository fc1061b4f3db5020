"""Generates man/feedmill.1: every command with its options, every setting, in the language of man pages (man(7))."""

from collections.abc import Iterator
from inspect import cleandoc

import click

from feedmill import __version__
from feedmill.cli import cli
from feedmill.settings import FILE_NAME, PREFIX, Settings

# click's mark of a paragraph whose lines are kept as they are.
KEPT_LINES = "\b\n"
ESCAPES = str.maketrans({"\\": "\\e", "-": "\\-", "…": "...", "’": "\\(cq", "'": "\\(aq", "`": "\\(ga"})
EXIT_CODES = {"0": "success", "1": "failure", "2": "invalid request or usage", "130": "interrupted"}
FILES = {
    FILE_NAME: f"settings, in the current folder or in ~/.config/feedmill; the variable {PREFIX}CONFIG names another file",
    "~/.local/share/feedmill": "the data folder of an installed package, unless --data or the setting data names another",
    "data": "the data folder in a copy of the project",
}


def page() -> str:
    context = click.Context(cli, info_name="feedmill", **cli.context_settings)
    return "\n".join(
        [
            '.\\" Made from the commands by `make docs`; a test fails when it is out of date.',
            f'.TH FEEDMILL 1 "" "Feedmill {__version__}" "User Commands"',
            ".SH NAME",
            f"feedmill \\- {text('collects feeds, keeps them and hands them on')}",
            ".SH SYNOPSIS",
            ".B feedmill",
            text("[OPTIONS] COMMAND [ARGUMENTS]..."),
            ".SH DESCRIPTION",
            *paragraphs(cli.help or ""),
            text(
                "'feedmill serve' runs all of it in one process. Other commands work with or without a running server."
            ),
            ".SH OPTIONS",
            *options(cli, context),
            ".SH COMMANDS",
            *commands_below(cli, context),
            ".SH EXIT STATUS",
            *definitions(EXIT_CODES),
            ".SH ENVIRONMENT",
            text(f"Every setting can be given as a variable: {PREFIX}PORT for the setting port, and so on."),
            ".SH SETTINGS",
            text(f"On the command line with --set NAME=VALUE, in the environment, or in {FILE_NAME}, in that order."),
            *definitions({name: field.description for name, field in Settings.fields.items()}),
            ".SH FILES",
            *definitions(FILES),
            "",
        ]
    )


def commands_below(group: click.Group, above: click.Context) -> Iterator[str]:
    """Each command of a group with its usage, its text and its options, followed by its subcommands."""
    for name in group.list_commands(above):
        command = group.get_command(above, name)
        if command is None:
            raise KeyError(name)
        context = click.Context(command, parent=above, info_name=name)
        yield f".SS {text(' '.join([context.command_path, *command.collect_usage_pieces(context)]))}"
        yield from paragraphs(command.help or "")
        yield from options(command, context)
        if isinstance(command, click.Group):
            yield from commands_below(command, context)


def options(command: click.Command, context: click.Context) -> Iterator[str]:
    """The options; that of the help is explained once, before the commands, and arguments are in the usage."""
    params = [param for param in command.get_params(context) if isinstance(param, click.Option)]
    records = [param.get_help_record(context) for param in params if command is cli or param.name != "help"]
    return definitions(dict(record for record in records if record))


def definitions(meanings: dict[str, str]) -> Iterator[str]:
    for name, meaning in meanings.items():
        yield from (".TP", f".B {text(name)}", text(meaning))


def paragraphs(help_text: str) -> Iterator[str]:
    for paragraph in cleandoc(help_text).split("\n\n"):
        if paragraph.startswith(KEPT_LINES):
            yield from (".PP", ".nf", *map(text, paragraph.removeprefix(KEPT_LINES).splitlines()), ".fi")
        else:
            yield from (".PP", text(" ".join(paragraph.split())))


def text(plain: str) -> str:
    """A line of text: nothing in it is an escape or, at its start, a request."""
    escaped = plain.translate(ESCAPES)
    ascii_only = "".join(char if char.isascii() else f"\\[u{ord(char):04X}]" for char in escaped)
    return f"\\&{ascii_only}" if ascii_only.startswith((".", "\\(aq")) else ascii_only
