"""`feedmill views`: create or drop views of the database for programs that were written for another design."""

from collections.abc import Collection

import click

from feedmill.cli.output.print_text import print_text
from feedmill.cli.startup.context import Context, pass_context
from feedmill.cli.startup.run_with_database import run_with_database
from feedmill.store.views import VIEWS, create_views, drop_views


@click.group()
def views() -> None:
    """Views of the database for programs of another design: items, titles, contents.

    items are entries; titles and contents are the items of pools, where UPDATE … SET status = 0 marks one as used.
    """


@views.command()
@click.argument("names", nargs=-1, type=click.Choice([*VIEWS]), metavar="[items] [titles] [contents]")
@pass_context
def create(context: Context, names: Collection[str]) -> None:
    """Create all views, or those that are named; existing ones are replaced."""
    chosen = names or tuple(VIEWS)
    run_with_database(context.quiet_settings, lambda db: create_views(db, chosen))
    print_text(f"created {', '.join(chosen)}")


@views.command()
@pass_context
def drop(context: Context) -> None:
    """Drop the views that were created."""
    dropped = run_with_database(context.quiet_settings, drop_views)
    print_text(f"dropped {', '.join(dropped)}" if dropped else "nothing to do: there are no views")
