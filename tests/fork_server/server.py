"""The server's process: it imports the product, then forks one child for each request."""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import resource
import select
import signal
import socket
import struct
import sys
import threading
import traceback
from collections.abc import Callable
from pkgutil import resolve_name
from typing import Any, NoReturn

import feedmill

# A request is a length, the streams 0 to 2 of the new process and a pipe for its id and exit code, then so much JSON.
LENGTH = struct.Struct("!I")
STREAMS = 3
# Above the standard streams; no process of the tests opens more before it asks for more.
LAST_DESCRIPTOR = 4096


def main(control: socket.socket) -> None:
    import_product()
    reports: dict[int, int] = {}
    awake = wake_on_child_exit()
    while True:
        ready, _, _ = select.select([control, awake], [], [])
        if awake in ready:
            os.read(awake, 4096)
            report_exits(reports)
        if control in ready and not serve_request(control, reports):
            return


def import_product() -> None:
    for module in pkgutil.walk_packages(feedmill.__path__, "feedmill."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    assert threading.active_count() == 1, "a process with threads can't be forked safely"
    # So that a collection in a child does not copy every page that it shares with us.
    gc.collect()
    gc.freeze()


def wake_on_child_exit() -> int:
    awake, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    return awake


def report_exits(reports: dict[int, int]) -> None:
    for pid in list(reports):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            report(reports.pop(pid), os.waitstatus_to_exitcode(status))


def report(pipe: int, code: int) -> None:
    try:
        os.write(pipe, b"%d\n" % code)
    except BrokenPipeError:
        # Whoever started it does not care for its end.
        pass
    os.close(pipe)


def serve_request(control: socket.socket, reports: dict[int, int]) -> bool:
    """Forks one process; false when there is nobody left who could ask for one."""
    head, descriptors, _, _ = socket.recv_fds(control, LENGTH.size, STREAMS + 1)
    if not head:
        return False
    *streams, pipe = descriptors
    asked = json.loads(control.recv(LENGTH.unpack(head)[0], socket.MSG_WAITALL))
    # Imported here, so that the next process of its kind finds it.
    function = resolve_name(asked["function"])
    pid = os.fork()
    if pid == 0:
        run(function, asked, streams)
    os.write(pipe, b"%d\n" % pid)
    reports[pid] = pipe
    for stream in streams:
        os.close(stream)
    return True


def run(function: Callable[[Any], object], asked: dict[str, Any], streams: list[int]) -> NoReturn:
    code = 1
    try:
        become(asked, streams)
        code = exit_code(function, asked["argument"])
        # What the end of an interpreter does, without the time it takes to free all its memory.
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def become(asked: dict[str, Any], streams: list[int]) -> None:
    """Gives the child what a new process has: streams, signal handlers, a session, a folder, an environment."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(STREAMS, LAST_DESCRIPTOR)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["folder"])
    os.umask(asked["umask"])
    if (most := asked["open_files"]) is not None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def exit_code(function: Callable[[Any], object], argument: Any) -> int:
    """Calls it, and exits as the interpreter does: by its number, else with a word or a traceback and 1."""
    try:
        function(argument)
    except SystemExit as ending:
        if ending.code is None or isinstance(ending.code, int):
            return ending.code or 0
        print(ending.code, file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    main(socket.socket(fileno=0))
