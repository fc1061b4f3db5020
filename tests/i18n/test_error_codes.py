"""An error that may reach a page or the API carries a message with a code, never a sentence."""

import ast
import re
from collections.abc import Iterator

from tests.source_trees import SOURCE, trees_with

# These speak to whoever installs and runs Feedmill, on the command line and in English; and to its log.
FOR_OPERATORS = (
    "adapters",
    "archive",
    "cli",
    "client",
    "collect/declared",
    "coordination/connect_redis.py",
    "data_folder.py",
    "engine",
    "optional_imports.py",
    "outbound/address_policy.py",
    "run",
    "secret_key.py",
    "serve/data_lock.py",
    "serve/http/connections/server.py",
    "settings.py",
    "store/archive/database_load.py",
    "store/drivers",
)
# Their sentences come from the catalogue by `mistake` and `values`; English is for programs.
OWN_CODES = {"library/search/errors.py", "library/filters/rules.py"}
OUR_ROOTS = {"CallerError", "FeedError"}
CLASS = re.compile(r"^ *class (\w+)\(([^)]*)\)", re.MULTILINE)
LAST_NAME = re.compile(r"\w+(?= *(?:,|$))")


def test_errors_carry_codes() -> None:
    assert [place for place, text in _sentences() if " " in text] == []


def _sentences() -> Iterator[tuple[str, str]]:
    parents = dict(_classes())
    ours = {name for name in parents if _is_ours(name, parents)} | {"__init__"}
    for path, tree in trees_with(*ours):
        if path.startswith(FOR_OPERATORS) or path in OWN_CODES:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and _name(node.func) in ours:
                yield from ((f"{path}:{node.lineno}", ast.unparse(text)) for text in node.args if _is_text(text))


def _classes() -> Iterator[tuple[str, list[str]]]:
    for file in SOURCE.rglob("*.py"):
        for name, bases in CLASS.findall(file.read_text()):
            yield name, LAST_NAME.findall(bases)


def _is_ours(name: str, parents: dict[str, list[str]]) -> bool:
    return name in OUR_ROOTS or any(
        _is_ours(base, parents) for base in parents.get(name, []) if base != name and base in parents
    )


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
