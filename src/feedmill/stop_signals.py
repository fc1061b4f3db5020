"""The signals that stop a process: SIGTERM, Ctrl-C, and the end of its terminal."""

import signal
from collections.abc import Sequence


def stop_signals() -> Sequence[signal.Signals]:
    """SIGHUP is among them unless it is ignored, as `nohup` does."""
    stops = (signal.SIGTERM, signal.SIGINT)
    return stops if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN else (*stops, signal.SIGHUP)
