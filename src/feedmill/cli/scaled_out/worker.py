"""`feedmill worker`: a worker process of a scaled-out installation."""

import click

from feedmill.cli.startup.context import Context, pass_context
from feedmill.cli.startup.run_until_stopped import run_until_stopped
from feedmill.engine.task_names import QUEUES
from feedmill.run.distributed import require_scalable_settings
from feedmill.run.worker_process import THREADS, run_worker_process


@click.command()
@click.option("--concurrency", type=int, metavar="N", help="How many feeds to fetch at once (setting fetches_at_once).")
@click.option("--queue", "queues", type=click.Choice(QUEUES), multiple=True, help="Only this queue; both by default.")
@pass_context
def worker(context: Context, concurrency: int | None, queues: tuple[str, ...]) -> None:
    """Run a worker: it fetches feeds for 'feedmill scheduler' and 'feedmill api'.

    Start as many as you need, on any number of machines. A worker that gets SIGTERM stops within 30 s and leaves its
    unfinished jobs to the others. Needs Redis and a database other than SQLite.
    """
    settings = context.settings_with(fetches_at_once=concurrency)
    require_scalable_settings(settings, "worker")
    run_until_stopped(settings, "worker", lambda app, stop: run_worker_process(app, stop, THREADS, queues or QUEUES))
