"""`feedmill scheduler`: the scheduler process of a scaled-out installation."""

import click

from feedmill.cli.startup.context import Context, pass_context
from feedmill.cli.startup.run_until_stopped import run_until_stopped
from feedmill.run.distributed import require_scalable_settings
from feedmill.run.scheduler_process import run_scheduler_process


@click.command()
@pass_context
def scheduler(context: Context) -> None:
    """Have due feeds refreshed, pools filled and chores done, by the workers.

    One is enough; a second one does no harm. Needs Redis, and a database that is no SQLite file.
    """
    settings = context.settings
    require_scalable_settings(settings, "scheduler")
    run_until_stopped(settings, "scheduler", run_scheduler_process)
