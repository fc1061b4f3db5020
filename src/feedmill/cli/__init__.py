"""The command line: one file per command. Commands print plain text or JSON and return an exit code."""

import gc
import os
import sys
from contextlib import suppress
from typing import NoReturn

import click
from click.shell_completion import CompletionItem

from feedmill import __version__
from feedmill.cli.actions.complete_paths import complete_folder
from feedmill.cli.output.print_text import print_text
from feedmill.cli.startup.context import Context
from feedmill.errors import CallerError, FeedmillError
from feedmill.optional_imports import import_by_name

# One file per command: `add` is the function add in feedmill/cli/add.py. The summaries are here, because
# reading them from there would import everything that any command needs.
COMMANDS = {
    "add": "Add feeds by the URL of a feed or of its site.",
    "api": "Run the web server of a scaled-out installation.",
    "backup": "Write a backup into a folder; a server may be running.",
    "completion": "Print a script that completes commands in bash, zsh or fish.",
    "demo": "Try it with an account and feeds of its own, without a network.",
    "doctor": "Look for everything that is known to go wrong, and say what helps.",
    "export": "Write the feeds as OPML to a file, or to standard output.",
    "feeds": "List the feeds: state, last fetch, next fetch and why, entries.",
    "filter": "Manage the filters of a user: try, create, order, apply, undo, mute.",
    "import": "Add the feeds of an OPML file.",
    "mcp": "Let an assistant on this machine read a user's feeds (MCP on stdio).",
    "migrate": "Bring the schema up to date (serve does this by itself).",
    "output-feed": "Let other programs read a user's lists as feeds, under secret addresses.",
    "parse": "Print the feed in a file as JSON; nothing is fetched or stored.",
    "pause": "Stop fetching feeds; their entries stay.",
    "pool": "Hand entries on to other programs, in groups defined by rules.",
    "purge": "Delete expired data (serve does this every day).",
    "refresh": "Fetch feeds now: some by id or URL, --all, or --due.",
    "remove": "Remove feeds for good: entries, images, raw bodies.",
    "restore": "Replay the stored raw bodies of feeds through the current parser.",
    "resume": "Fetch paused feeds again; they are due at once.",
    "scheduler": "Run the scheduler of a scaled-out installation.",
    "serve": "Run everything in one process: collector, API and web pages.",
    "settings": "Print every setting with its effective value; secrets are hidden.",
    "show": "Show a feed with its latest entries, or an entry.",
    "status": "Show counts of feeds, entries, images, pool items, and storage used.",
    "user": "Create and list accounts, create API keys, set passwords.",
    "views": "Create views of the database for programs of another design.",
    "why": "Explain when a feed is fetched next, and why.",
    "worker": "Run a worker of a scaled-out installation: it fetches feeds.",
}
# Modules of another name than their command: `import` and `output-feed` can't be names of functions.
MODULE_OF_COMMAND = {
    "api": "scaled_out.api",
    "export": "export_opml",
    "import": "import_opml",
    "output-feed": "output_feed",
    "scheduler": "scaled_out.scheduler",
    "worker": "scaled_out.worker",
}

# Files that a command creates are readable by its user only: the database, objects, keys, backups.
PRIVATE_UMASK = 0o077

FAILED = 1
BAD_USAGE = 2
INTERRUPTED = 130

# With this variable the script of a shell asks for completions (feedmill completion).
COMPLETE_VARIABLE = "_FEEDMILL_COMPLETE"

CONTEXT_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
EPILOG = """\b
Exit codes: 0 success, 1 failure, 2 invalid request or usage, 130 interrupted.
Settings come from the command line, FEEDMILL_… variables and feedmill.toml, in that order."""


class LazyGroup(click.Group):
    """Imports the file of a command when that command runs, so that each command imports only what it needs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        name = MODULE_OF_COMMAND.get(cmd_name, cmd_name)
        command: click.Command = import_by_name(f"feedmill.cli.{name}:{name.rpartition('.')[2]}")
        # Imported modules live until the end: the garbage collector need not traverse them.
        gc.freeze()
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands and options that begin so; unlike click's own, it imports no command."""
        fitting = [CompletionItem(name, help=COMMANDS[name]) for name in COMMANDS if name.startswith(incomplete)]
        return fitting + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings=CONTEXT_SETTINGS, epilog=EPILOG)
@click.version_option(__version__, message="feedmill %(version)s")
@click.option("--data", metavar="FOLDER", shell_complete=complete_folder, help="The data folder (setting data).")
@click.option("--set", "given", metavar="NAME=VALUE", multiple=True, help="Any setting, see 'feedmill settings'.")
@click.option("--debug", is_flag=True, help="Show where an error came from.")
@click.pass_context
def cli(ctx: click.Context, data: str | None, given: tuple[str, ...], debug: bool) -> None:
    """Feedmill collects feeds politely, keeps them for good and hands them on."""
    ctx.obj = Context.of_options(data, given, debug)


def main() -> None:
    """Runs the command line; an error becomes one line and an exit code."""
    os.umask(PRIVATE_UMASK)
    try:
        if os.environ.get(COMPLETE_VARIABLE):
            _complete()
        # click returns the exit code of `Exit`, else None.
        color = False if os.environ.get("NO_COLOR") else None
        sys.exit(cli(standalone_mode=False, color=color))
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # The reader of our output has closed the pipe, as `head` does.
        sys.stderr.close()
        sys.exit(FAILED)
    except Exception as error:
        if "--debug" in sys.argv:
            raise
        print_text(_one_line(error), err=True)
        sys.exit(BAD_USAGE if isinstance(error, CallerError) else FAILED)
    finally:
        # The final garbage collections would traverse every object, and the process ends anyway.
        gc.freeze()


def _complete() -> NoReturn:
    """Prints what completes the words of a shell. An error completes nothing: it would be printed into the prompt."""
    with suppress(Exception, KeyboardInterrupt):
        cli(standalone_mode=False, complete_var=COMPLETE_VARIABLE)
    sys.exit()


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, FeedmillError):
        return f"feedmill: {text}"
    return f"feedmill: unexpected {type(error).__name__}: {text} (run with --debug to see where)"
