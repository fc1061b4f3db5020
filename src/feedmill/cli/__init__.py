"""The command line: one file per command. In: what a person typed. Out: plain text, an exit code."""

import gc
import os
import sys

import click

from feedmill.cli.output.text import print_text
from feedmill.cli.startup.context import Context
from feedmill.errors import CallerError, FeedmillError
from feedmill.lazy_imports import lazy_import

# One file per command: `check` is the function check in feedmill/cli/check.py. The sentences are here, because to
# take them from there would import everything that any command needs.
COMMANDS = {
    "add": "Add feeds: URLs of feeds, or of pages that have one.",
    "api": "Show feeds and take orders, while worker processes collect.",
    "backup": "Write a backup of the whole into a folder, while a server runs.",
    "check": "Try the database, the object store, Redis, the disk, the clock.",
    "export": "Write the feeds as OPML to a file, or to standard output.",
    "feeds": "List the feeds: state, last fetch, next fetch and why, entries.",
    "import": "Add the feeds of an OPML file.",
    "migrate": "Bring the schema up to date (serve does this by itself).",
    "parse": "Print the feed in a file as JSON; nothing is fetched or stored.",
    "pause": "Stop fetching feeds; what they have brought stays.",
    "pool": "Hand entries on to other programs, in groups by rule.",
    "purge": "Drop what has been kept long enough (serve does this each day).",
    "refresh": "Fetch feeds now: some by id or URL, --all, or --due.",
    "remove": "Remove feeds for good: entries, images, raw bodies.",
    "restore": "Replay the kept bodies of feeds through today's parser.",
    "resume": "Fetch feeds again; they are due at once.",
    "scheduler": "Have feeds refreshed, pools filled, chores done, by workers.",
    "serve": "Collect, keep and show feeds, all in this process.",
    "settings": "Print every setting with its effective value, secrets hidden.",
    "show": "Show a feed with its latest entries, or an entry.",
    "status": "Count feeds, entries, images, pool items, and the room they take.",
    "user": "Make accounts and API keys, list them, give new passwords.",
    "why": "Explain when a feed is fetched next, and why then.",
    "worker": "Fetch what 'feedmill scheduler' and 'feedmill api' ask for.",
}
# `import` can't be a function's name.
MODULE_OF_COMMAND = {"import": "import_opml", "export": "export_opml"}

# Files that any command makes are for its user alone: the database, objects, keys, backups.
PRIVATE_UMASK = 0o077

FAILED = 1
BAD_USAGE = 2
INTERRUPTED = 130

CONTEXT_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
EPILOG = """\b
Exit codes: 0 done, 1 it failed, 2 what was asked can't be done as it was asked, 130 interrupted.
Settings come from the command line, FEEDMILL_… variables, feedmill.toml, in that order."""


class LazyGroup(click.Group):
    """Imports a command's file when that command is asked for, so that each starts with only what it needs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        name = MODULE_OF_COMMAND.get(cmd_name, cmd_name)
        command: click.Command = lazy_import(f"feedmill.cli.{name}:{name}")
        # What was imported stays until the end, so that no later collection has to go through it.
        gc.freeze()
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings=CONTEXT_SETTINGS, epilog=EPILOG)
@click.version_option(package_name="feedmill", message="feedmill %(version)s")
@click.option("--data", metavar="FOLDER", help="The data folder (setting data).")
@click.option("--set", "given", metavar="NAME=VALUE", multiple=True, help="Any setting, see 'feedmill settings'.")
@click.option("--debug", is_flag=True, help="Show where an error came from.")
@click.pass_context
def cli(ctx: click.Context, data: str | None, given: tuple[str, ...], debug: bool) -> None:
    """Feedmill collects feeds politely, keeps them for good and hands them on."""
    ctx.obj = Context(given=(*given, *([f"data={data}"] if data else [])), debug=debug)


def main() -> None:
    """Runs the command line; whatever goes wrong becomes one line and an exit code."""
    os.umask(PRIVATE_UMASK)
    try:
        # What click gives back is the code of whoever asked it to exit, else None.
        sys.exit(cli(standalone_mode=False, color=False if os.environ.get("NO_COLOR") else None))
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output went away, as `head` does.
        sys.stderr.close()
        sys.exit(FAILED)
    except Exception as error:
        if "--debug" in sys.argv:
            raise
        print_text(_one_line(error), err=True)
        sys.exit(BAD_USAGE if isinstance(error, CallerError) else FAILED)
    finally:
        # Python's last collections go through every object that is left, and the process ends anyway.
        gc.freeze()


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, FeedmillError):
        return f"feedmill: {text}"
    return f"feedmill: unexpected {type(error).__name__}: {text} (run with --debug to see where)"
