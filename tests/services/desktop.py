"""A screen that nobody sees and a D-Bus session of its own, for programs with windows."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.services.loopback_proxy import LoopbackProxy, running_loopback_proxy
from tests.services.server import end, find_binary, folder, launch
from tests.waiting import wait_until

# Without directories of services: the bus starts no program by itself.
BUS_CONFIGURATION = """\
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path={socket}</listen>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
  </policy>
</busconfig>
"""


@dataclass(frozen=True)
class Desktop:
    """`home` is the home directory of the programs, `proxy` the one that their settings must name."""

    home: Path
    proxy: LoopbackProxy
    environment: dict[str, str]

    @contextmanager
    def running(self, *command: str) -> Iterator[None]:
        """Runs a program for the block."""
        process = launch([*command], self.home / "log", env=self.environment)
        try:
            yield
        except AssertionError as error:
            error.add_note(self.log()[-3000:])
            raise
        finally:
            end(process)

    def log(self) -> str:
        """What the programs have printed so far."""
        return (self.home / "log").read_text("utf-8", "replace")

    def run(self, *command: str) -> str:
        """Runs a program to its end; returns what it prints."""
        done = self._try(*command)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def focus(self, title: str) -> None:
        """Waits for the window with this title, a regular expression, and gives it the keyboard."""

        def has_focus() -> bool:
            # Each fails if a window goes or is not yet drawn meanwhile.
            for window in self._try("xdotool", "search", "--onlyvisible", "--name", title).stdout.split():
                self._try("xdotool", "windowfocus", window)
                if self._try("xdotool", "getwindowfocus", "-f").stdout.strip() == window:
                    return True
            return False

        wait_until(has_focus, otherwise=f"no window {title!r} has the focus")

    def press(self, *keys: str) -> None:
        """Presses keys by their X11 names: `F5`, `alt+a`, `Return`."""
        self.run("xdotool", "key", *keys)

    def _try(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=120)


@contextmanager
def desktop() -> Iterator[Desktop]:
    with ExitStack() as stack:
        place = stack.enter_context(folder("desktop"))
        home, runtime = place / "home", place / "runtime"
        home.mkdir()
        runtime.mkdir(mode=0o700)
        proxy = stack.enter_context(running_loopback_proxy())
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "XDG_RUNTIME_DIR": str(runtime),
            "LC_ALL": "C.UTF-8",
            "DISPLAY": stack.enter_context(_screen(place)),
            "DBUS_SESSION_BUS_ADDRESS": stack.enter_context(_bus(place)),
        }
        yield Desktop(home, proxy, environment)


@contextmanager
def _screen(place: Path) -> Iterator[str]:
    """A new X server on a display that is free; the name of the display."""
    number = place / "display"
    with number.open("wb") as report:
        # It would refuse connections for a moment whenever its last program has ended.
        options = ["-noreset", "-nolisten", "tcp", "-screen", "0", "1280x960x24"]
        run = [find_binary("Xvfb"), "-displayfd", str(report.fileno()), *options]
        process = launch(run, place / "xvfb.log", pass_fds=(report.fileno(),))
    try:
        wait_until(lambda: number.read_text().endswith("\n"), otherwise="Xvfb did not start")
        yield f":{number.read_text().strip()}"
    finally:
        end(process)


@contextmanager
def _bus(place: Path) -> Iterator[str]:
    """A new message bus; its address."""
    socket, configuration = place / "bus", place / "bus.conf"
    configuration.write_text(BUS_CONFIGURATION.format(socket=socket))
    run = [find_binary("dbus-daemon"), "--nofork", "--nopidfile", f"--config-file={configuration}"]
    process = launch(run, place / "bus.log")
    try:
        wait_until(socket.exists, otherwise="dbus-daemon did not start")
        yield f"unix:path={socket}"
    finally:
        end(process)
