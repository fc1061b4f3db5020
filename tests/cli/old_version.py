"""A command of "the old version": this one, beside a database that the synthetic next version migrates."""

from feedmill.run import schema_watch
from tests.cli.command import run_command


def run_and_look_often(args: list[str]) -> None:
    """The main function of the forked process: a command that asks for the version of the schema more often."""
    schema_watch.CHECK_EVERY /= 100
    run_command(args)
