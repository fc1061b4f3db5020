"""A program in a terminal of its own, by tmux: keys go in, the screen is read as a person sees it."""

import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.services.server import find_binary, folder
from tests.waiting import wait_until

COLUMNS, ROWS = 200, 50


# tmux sometimes misses that a program has ended; the shell does not.
AND_EXIT_STATUS = '"$@"; echo $? > "$0"'


class Terminal:
    def __init__(self, place: Path) -> None:
        # Without the configuration of whoever runs the tests.
        self._tmux = [find_binary("tmux"), "-S", str(place / "socket"), "-f", "/dev/null"]
        self._exit_status = place / "exit-status"

    def start(self, command: list[str], environment: Mapping[str, str]) -> None:
        size = ["-x", str(COLUMNS), "-y", str(ROWS)]
        # The screen of a program that ended stays readable.
        keep = ["start-server", ";", "set-option", "-g", "remain-on-exit", "on", ";"]
        shell = ["sh", "-c", AND_EXIT_STATUS, str(self._exit_status), *command]
        run = [*self._tmux, "-u", *keep, "new-session", "-d", *size, *shell]
        subprocess.run(run, env=dict(environment), check=True)

    def press(self, *keys: str) -> None:
        """Presses keys by tmux's names: `A`, `Enter`, `C-e`."""
        self._ask("send-keys", *keys)

    def screen(self) -> str:
        return self._ask("capture-pane", "-p")

    def wait_for(self, text: str) -> None:
        """Waits until the screen shows the text."""
        self.find(re.escape(text))

    def find(self, pattern: str) -> re.Match[str]:
        """Waits until a line of the screen matches the regular expression; the match."""
        found: list[re.Match[str]] = []

        def is_shown() -> bool:
            found.extend(re.finditer(pattern, self.screen(), re.MULTILINE))
            return bool(found)

        self._wait_until(is_shown, f"the screen does not show {pattern!r}")
        return found[0]

    def wait_for_end(self, final_text: str = "") -> None:
        """Waits until the program has ended by itself, with success or after it has shown this text."""
        self._wait_until(self._exit_status.exists, "it did not end")
        self._wait_until(lambda: self._has_ended_well(final_text), "it did not end well")

    def _has_ended_well(self, final_text: str) -> bool:
        return self._exit_status.read_text() == "0\n" or bool(final_text and final_text in self.screen())

    def _wait_until(self, condition: Callable[[], bool], otherwise: str) -> None:
        try:
            wait_until(condition, otherwise=otherwise)
        except AssertionError as error:
            error.add_note(self.screen())
            raise

    def close(self) -> None:
        subprocess.run([*self._tmux, "kill-server"], capture_output=True)

    def _ask(self, *arguments: str) -> str:
        return subprocess.run([*self._tmux, *arguments], capture_output=True, text=True, check=True).stdout


@contextmanager
def terminal(command: list[str], environment: Mapping[str, str]) -> Iterator[Terminal]:
    """Runs the program in a terminal for the block."""
    with folder("terminal") as place:
        opened = Terminal(place)
        try:
            opened.start(command, environment)
            yield opened
        finally:
            opened.close()
