"""What belongs to a user is read through `library`, where rights are checked once; `serve` does not read past it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import feedmill.serve

SERVE = Path(feedmill.serve.__file__).parent
STORE = "feedmill.store"
# The type of what is passed on to `library`.
PORT = "feedmill.store.database"

# Modules and folders of `serve` that may read the store, each with its reason.
MAY_READ_STORE = {
    "http/metrics.py": "figures of the whole instance; they belong to nobody",
    "rest/admin": "admins see the feeds, users and queues of everybody; the routes let nobody else in",
    "web/admin": "as rest/admin",
}


def store_imports(source: str) -> Iterator[str]:
    """The modules of the store that a module imports, but the port."""
    for node in ast.walk(ast.parse(source)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        yield from (name for name in names if f"{name}.".startswith(f"{STORE}.") and not name.startswith(f"{PORT}."))


def _reader(path: Path) -> str:
    """The module, or the folder that stands for it in the list."""
    name = str(path.relative_to(SERVE))
    return next((allowed for allowed in MAY_READ_STORE if name.startswith(f"{allowed}/")), name)


def test_serve_reads_what_belongs_to_a_user_through_library() -> None:
    readers = {_reader(path) for path in SERVE.rglob("*.py") if list(store_imports(path.read_text()))}

    assert readers == set(MAY_READ_STORE)


def test_an_import_of_the_store_is_found_and_the_port_is_none() -> None:
    source = """
import feedmill.store.users.sessions
from feedmill.store import entries
from feedmill.store.feeds.read_feeds import feeds_of_ids
from feedmill.store.database import Database
from feedmill.library.feeds.health import last_fetch
"""

    assert list(store_imports(source)) == [
        "feedmill.store.users.sessions",
        "feedmill.store.entries",
        "feedmill.store.feeds.read_feeds.feeds_of_ids",
    ]
