"""The system calls that a unit of systemd allows, for a process that is started without systemd.

systemd says itself which calls its groups contain; libseccomp, with which it builds its filter, builds this one.
"""

import ctypes
import errno
import subprocess
from collections.abc import Callable, Iterable

from tests.services.server import ServiceMissing, find_binary

# From seccomp.h.
ALLOW = 0x7FFF0000
REFUSE = 0x00050000 | errno.EPERM


def system_call_filter(unit: str) -> Callable[[], None]:
    """Refuses the calling process, and all that it starts, what the text of the unit does not allow."""
    assert "\nSystemCallErrorNumber=EPERM\n" in unit
    library, calls = _seccomp(), allowed_calls(unit)

    def load() -> None:
        context = ctypes.c_void_p(library.seccomp_init(REFUSE))
        for call in calls:
            number = library.seccomp_syscall_resolve_name(call.encode())
            # Negative for calls that this processor does not have.
            if number >= 0:
                _check(library.seccomp_rule_add_array(context, ALLOW, number, 0, None))
        _check(library.seccomp_load(context))

    return load


def allowed_calls(unit: str) -> set[str]:
    """What the lines of the unit leave, as systemd reads them: the first one allows, and one with `~` takes away."""
    allowed = _members(["@default"])
    for line in unit.splitlines():
        name, _, value = line.partition("=")
        if name == "SystemCallFilter":
            calls = _members(value.removeprefix("~").split())
            allowed = allowed - calls if value.startswith("~") else allowed | calls
    return allowed


def _members(names: Iterable[str]) -> set[str]:
    """The system calls among these names, and those of the groups."""
    groups = {name for name in names if name.startswith("@")}
    return set(names) - groups | {call for group in groups for call in _members(_members_of_group(group))}


def _members_of_group(group: str) -> list[str]:
    command = [find_binary("systemd-analyze"), "syscall-filter", group]
    _name, *lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")
    return [line.strip() for line in lines if line.strip() and "#" not in line]


def _seccomp() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError as error:
        raise ServiceMissing(str(error)) from error
    library.seccomp_init.restype = ctypes.c_void_p
    return library


def _check(result: int) -> None:
    if result:
        raise OSError(-result, "libseccomp")
