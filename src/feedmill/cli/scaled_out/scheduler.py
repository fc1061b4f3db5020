"""`feedmill scheduler`: the scheduler process of a scaled-out installation."""

import click

from feedmill.cli.startup.context import Context, pass_context
from feedmill.cli.startup.run_until_stopped import run_until_stopped
from feedmill.run.distributed import require_scalable_settings
from feedmill.run.scheduler_process import run_scheduler_process


@click.command()
@pass_context
def scheduler(context: Context) -> None:
    """Run the scheduler: it has workers refresh due feeds, fill pools and do maintenance.

    One is enough; a second one is harmless. Needs Redis and a database other than SQLite.
    """
    settings = context.settings
    require_scalable_settings(settings, "scheduler")
    run_until_stopped(settings, "scheduler", run_scheduler_process)
