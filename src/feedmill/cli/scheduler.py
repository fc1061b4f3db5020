"""`feedmill scheduler`: says when it is time, in a scaled-out installation."""

import click

from feedmill.cli.context import Context, pass_context
from feedmill.cli.until_stopped import until_stopped
from feedmill.run.distributed import refuse_what_cannot_scale
from feedmill.run.timekeeper import keep_time


@click.command()
@pass_context
def scheduler(context: Context) -> None:
    """Have due feeds refreshed, pools filled and chores done, by the workers.

    One is enough; a second one does no harm. Needs Redis, and a database that is no SQLite file.
    """
    settings = context.settings
    refuse_what_cannot_scale(settings, "scheduler")
    until_stopped(settings, "scheduler", keep_time)
