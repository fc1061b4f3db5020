"""A process that has everything imported and forks mills from itself, so that a mill starts in milliseconds.

It reads plans as lines of JSON, and says which process each became and how each process ended. When its own
input ends, it kills those that are left.
"""

import json
import os
import select
import signal
import sys
import traceback
from dataclasses import asdict
from pathlib import Path
from typing import NoReturn

from tests.faults.mill import Plan, run


def encode(plan: Plan, log: Path) -> bytes:
    return json.dumps({"plan": asdict(plan), "log": str(log)}).encode() + b"\n"


def main() -> None:
    awake, wake = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(awake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    alive: set[int] = set()
    asked = b""
    while True:
        ready, _, _ = select.select([0, awake], [], [])
        if awake in ready:
            os.read(awake, 4096)
            _reap(alive)
        if 0 in ready:
            more = os.read(0, 65536)
            if not more:
                break
            *lines, asked = (asked + more).split(b"\n")
            for line in lines:
                pid = _fork(json.loads(line))
                alive.add(pid)
                _say("born", pid)
    for pid in alive:
        os.kill(pid, signal.SIGKILL)


def _reap(alive: set[int]) -> None:
    for pid in list(alive):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            alive.discard(pid)
            _say("ended", pid, os.waitstatus_to_exitcode(status))


def _fork(asked: dict[str, object]) -> int:
    sys.stdout.flush()
    pid = os.fork()
    return pid or _live(asked)


def _live(asked: dict[str, object]) -> NoReturn:
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        log = os.open(str(asked["log"]), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        for stream in (1, 2):
            os.dup2(log, stream)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        run(Plan(**asked["plan"]))  # type: ignore[arg-type]
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _say(*words: object) -> None:
    print(*words, flush=True)


if __name__ == "__main__":
    main()
