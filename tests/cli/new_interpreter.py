"""The real command line in a new interpreter, as a shell starts it, with the functions of `tests.cli.command`.

For tests about the start itself; each pays for all the imports of its command.
"""

import resource
import subprocess
import sys
from functools import partial
from pathlib import Path

from tests.cli import command

COMMAND = [sys.executable, "-m", "feedmill"]


def start_command(
    *args: str, cwd: Path, streams: tuple[int, int, int], env: dict[str, str], open_files: int | None = None
) -> subprocess.Popen[bytes]:
    def limit_open_files() -> None:
        if open_files is not None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (open_files, open_files))

    stdin, stdout, stderr = streams
    return subprocess.Popen(
        [*COMMAND, *args], cwd=cwd, env=env, stdin=stdin, stdout=stdout, stderr=stderr, preexec_fn=limit_open_files
    )


feedmill = partial(command.feedmill, start=start_command)
serving = partial(command.serving, start=start_command)


def cpu_seconds_of_children() -> float:
    """CPU time of all processes that were started here and have ended; other load of the machine hardly changes it."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
