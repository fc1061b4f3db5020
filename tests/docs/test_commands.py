"""The commands and settings that the pages show are there, under those names."""

import re
import shlex
import tomllib
from collections.abc import Iterator

import click
import pytest

from feedmill.cli import cli
from feedmill.settings import PREFIX, Settings
from tests.docs.pages import NAMES, ROOT, Block, blocks, inline_code, prose

SHELL = {"", "sh", "console", "bash"}
# Variables that are no settings: the file of settings, and those of the tests.
OTHER_VARIABLES = re.compile(f"{PREFIX}(CONFIG|TEST_[A-Z0-9_]+)")
HAND_WRITTEN = [name for name in NAMES if name != "docs/reference/commands.md"]

# Where a command may stand: at the beginning, after a prompt, a variable, a path, or another command.
_COMMAND = re.compile(r"(?:^ *|\$ |\$\(|&& |\| |; |/bin/|[A-Z_]+=\S+ )feedmill +(?=[a-z-])(.*)")
# What the shell puts in, such as `$(date +%F)`.
_INSERTED = re.compile(r"\$\([^()]*\)")
_ENDS = re.compile(r"\s(?:\||&&|>>?|;|&$)|[;)]")


def test_every_command_in_a_block_can_be_given_as_it_stands() -> None:
    lines = [(name, line) for name in HAND_WRITTEN for line in _command_lines((ROOT / name).read_text())]

    assert len(lines) > 50
    assert [(name, line, error) for name, line in lines if (error := _refusal(line))] == []


def test_every_command_in_a_sentence_exists_with_its_options() -> None:
    codes = [(name, code) for name in HAND_WRITTEN for code in inline_code((ROOT / name).read_text())]
    lines = [(name, line) for name, code in codes for line in _COMMAND.findall(code)]

    assert len(lines) > 50
    assert [(name, line, unknown) for name, line in lines if (unknown := _unknown_options(line))] == []


def test_every_setting_that_is_named_exists() -> None:
    named = {name: _named_settings((ROOT / name).read_text()) for name in NAMES}

    unknown = {name: settings - set(Settings.fields) for name, settings in named.items()}

    assert any(named.values())
    assert {name: settings for name, settings in unknown.items() if settings} == {}


def _refusal(line: str) -> str | None:
    """Why click refuses a command, if it does."""
    try:
        _parse(cli, click.Context(cli, info_name="feedmill"), _words(line))
    except click.UsageError as error:
        return error.message
    return None


def _unknown_options(line: str) -> set[str]:
    named = [param for command in (cli, _find(cli, line.split())) for param in command.params]
    options = {option for param in named for option in (*param.opts, *param.secondary_opts)}
    return {word.partition("=")[0] for word in line.split() if word.startswith("--")} - options - {"--help"}


def _named_settings(page: str) -> set[str]:
    variables = [found for found in re.findall(rf"\b{PREFIX}[A-Z0-9_]+", page) if not OTHER_VARIABLES.fullmatch(found)]
    named = {variable.removeprefix(PREFIX).lower() for variable in variables if not variable.endswith("_NAME")}
    named |= set(re.findall(r"\bsettings? `([a-z0-9_]+)`", prose(page)))
    named |= set(re.findall(r"--set ([a-z0-9_]+)=", page))
    return named | {key for block in blocks(page) if _is_settings(block) for key in tomllib.loads(block.text)}


def test_what_is_misspelt_is_found() -> None:
    with pytest.raises(click.UsageError):
        _parse(cli, click.Context(cli), ["refresh", "--alll"])
    with pytest.raises(click.UsageError):
        _parse(cli, click.Context(cli), ["refrsh"])
    with pytest.raises(click.UsageError):
        _parse(cli, click.Context(cli), ["why"])


def _command_lines(page: str) -> Iterator[str]:
    for block in blocks(page):
        if block.language in SHELL:
            for line in block.text.replace("\\\n", " ").splitlines():
                yield from _COMMAND.findall(line)


def _words(line: str) -> list[str]:
    """The words of a command, up to a comment or whatever the shell does next."""
    return shlex.split(_ENDS.split(_INSERTED.sub("…", line))[0], comments=True)


def _parse(command: click.Command, context: click.Context, words: list[str]) -> None:
    """Has click read the words as it would, and run nothing."""
    values, rest, _ = command.make_parser(context).parse_args(list(words))
    missing = [param for param in command.params if _is_missing(param, values)]
    if missing:
        raise click.MissingParameter(ctx=context, param=missing[0])
    if values.get("version"):
        return
    if isinstance(command, click.Group):
        name, below, rest = command.resolve_command(context, rest)
        assert below is not None
        _parse(below, click.Context(below, parent=context, info_name=name), rest)
    elif rest:
        raise click.UsageError(f"too much: {rest}", context)


def _is_missing(param: click.Parameter, values: dict[str, object]) -> bool:
    value = values.get(param.name or "")
    return (
        isinstance(param, click.Argument) and param.required and not (isinstance(value, str | list | tuple) and value)
    )


def _find(command: click.Command, words: list[str]) -> click.Command:
    """The command that the words begin with the name of, in whichever group it is."""
    if not isinstance(command, click.Group):
        return command
    _, rest, _ = command.make_parser(click.Context(command)).parse_args(list(words))
    below = command.resolve_command(click.Context(command), rest)[1] if rest else None
    return _find(below, rest[1:]) if below else command


def _is_settings(block: Block) -> bool:
    return block.language == "toml" and "[[feeds]]" not in block.text
