"""Benchmarks the start: CPU time of commands, and memory of an idle server: `python bench/start.py [--rounds 9]`.

CPU time (user and system) rather than elapsed time, and the least of several alternating rounds, because other load
affects both less that way. Every command runs on an existing empty database, as a cron job would, and with the
compiled modules (`.pyc`) of the previous run, even if `PYTHONDONTWRITEBYTECODE` is set.
"""

import argparse
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from pathlib import Path

from report import Table, report_table

COMMANDS = {
    "python, nothing imported": ["-c", "pass"],
    "python, libraries of feedmill status": ["-c", "import asyncio, click, msgspec, sqlalchemy.dialects.sqlite"],
    "feedmill --help": ["-m", "feedmill", "--help"],
    "feedmill status": ["-m", "feedmill", "status"],
    "feedmill feeds": ["-m", "feedmill", "feeds"],
    "feedmill refresh --due, nothing due": ["-m", "feedmill", "refresh", "--due"],
    "feedmill refresh --all, no feeds": ["-m", "feedmill", "refresh", "--all"],
    "feedmill pool list": ["-m", "feedmill", "pool", "list"],
}
# In the order of import, so that a shared import counts for the first.
SHARES = {
    "asyncio": "asyncio",
    "SQLAlchemy": "sqlalchemy.dialects.sqlite",
    "our tables and drivers": "feedmill.adapters.database",
    "lxml": "lxml.etree",
    "structlog": "feedmill.logs",
    "collecting, archive, pools": "feedmill.run.embedded",
    "uvicorn and uvloop": "uvicorn,uvloop",
    "our server": "feedmill.cli.serve",
    "with the first page: Jinja": "jinja2",
    "and our pages": "feedmill.serve.web.create_pages",
    "with the first fetch: aiohttp": "feedmill.outbound.http_session",
    "with the first request to the API: FastAPI, PyJWT": "fastapi,jwt",
    "and our routes of it": "feedmill.serve.rest",
}
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
MEASURE_SHARES = """
import importlib, json, re, sys
from pathlib import Path
def rss():
    return int(re.search(r"^VmRSS:\\s+(\\d+)", Path("/proc/self/status").read_text(), re.M).group(1)) / 1024
sizes = [rss()]
for names in sys.argv[1:]:
    for name in names.split(","):
        importlib.import_module(name)
    sizes.append(rss())
print(json.dumps(sizes))
"""


def cpu_ms(arguments: list[str], folder: Path) -> float:
    process = subprocess.Popen([sys.executable, *arguments], cwd=folder, env=ENVIRONMENT, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{arguments} failed")
    return (usage.ru_utime + usage.ru_stime) * 1000


def imports_of(arguments: list[str], folder: Path) -> dict[str, float]:
    """The own import time of each module in ms, from `-X importtime`."""
    script = [sys.executable, "-X", "importtime", *arguments]
    told = subprocess.run(script, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=True).stderr
    return {name: int(own) / 1000 for own, name in re.findall(r"^import time: +(\d+) \| +\d+ \| +(\S+)$", told, re.M)}


def report_commands(folder: Path, rounds: int) -> None:
    found = {name: float("inf") for name in COMMANDS}
    for _ in range(rounds):
        for name, arguments in COMMANDS.items():
            found[name] = min(found[name], cpu_ms(arguments, folder))
    bare = found["python, nothing imported"]
    rows = [
        [name, found[name], found[name] / bare, len(imports_of(arguments, folder))]
        for name, arguments in COMMANDS.items()
    ]
    report_table(
        Table(
            "CPU time of a start",
            ["", "CPU ms", "times bare Python", "modules"],
            rows,
            f"The whole run, on an empty database; the minimum of {rounds} rounds. The goal for status, feeds and "
            "refresh is 300 ms on a quiet machine.",
            bars="CPU ms",
        )
    )


def report_imports(folder: Path, rounds: int) -> None:
    runs = [imports_of(COMMANDS["feedmill status"], folder) for _ in range(rounds)]
    packages: Counter[str] = Counter()
    modules: Counter[str] = Counter()
    for name in runs[0]:
        packages[name.partition(".")[0]] += min(run.get(name, 0.0) for run in runs)  # type: ignore[assignment]
        modules[name.partition(".")[0]] += 1
    rows = [[name, ms, modules[name]] for name, ms in packages.most_common(8)]
    about = f"`python -X importtime -m feedmill status`, the least of {rounds} runs for each module."
    report_table(
        Table("What `feedmill status` imports, the most expensive first", ["package", "ms", "modules"], rows, about)
    )


def report_memory(folder: Path) -> None:
    idle_server(folder)  # for what Python compiles
    started, viewed = idle_server(folder)
    script = [sys.executable, "-c", MEASURE_SHARES, *SHARES.values()]
    told = subprocess.run(script, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=True).stdout
    sizes = [float(size) for size in told.strip("[]\n").split(",")]
    shares = [[name, after - before] for name, before, after in zip(SHARES, sizes, sizes[1:], strict=False)]
    rows = [["idle feedmill serve", started], ["after some page views", viewed], ["bare Python", sizes[0]], *shares]
    report_table(
        Table(
            "Memory of an idle server",
            ["", "MB"],
            rows,
            "Resident memory of `feedmill serve` on an empty database. Below: what it grows by at each import, in this "
            "order. The goal is 85 MB.",
            bars="MB",
        )
    )


def idle_server(folder: Path) -> tuple[float, float]:
    """The memory in MB of a server after its start, and after some pages."""
    port = free_port()
    serve = [sys.executable, "-m", "feedmill", "serve", "--port", str(port)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(serve, cwd=folder, env=ENVIRONMENT, **quiet) as server:
        try:
            wait_for(f"http://127.0.0.1:{port}/health/live", server)
            started = rss_mb(server.pid)
            for path in ("/", "/health/live", "/") * 5:
                urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30).read()
            return started, rss_mb(server.pid)
        finally:
            server.send_signal(signal.SIGTERM)


def wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while server.poll() is None and time.monotonic() < deadline:
        try:
            urllib.request.urlopen(url, timeout=5).read()
            return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the server did not start")


def rss_mb(pid: int) -> float:
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        for arguments in COMMANDS.values():  # makes the database, and what Python compiles
            cpu_ms(arguments, Path(folder))
        report_commands(Path(folder), rounds)
        report_imports(Path(folder), rounds)
        report_memory(Path(folder))


if __name__ == "__main__":
    main()
