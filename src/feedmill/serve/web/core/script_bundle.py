"""Joins script modules into the one file that a page loads.

One file compresses a third better than its modules, and needs one request instead of a chain of them. Each module
becomes a function that returns its exports, in the order in which a browser would run them; names within a module stay
its own. Comments on lines of their own and indentation are not sent. Of the syntax of modules there is what ours use,
one statement to a line:

    import "./rows.js";
    import { all, one } from "./page.js";
    export const | function | async function …
"""

import re
from collections.abc import Callable, Iterator

_IMPORT = re.compile(r'import (?:(\{ \w+(?:, \w+)* \}) from )?"\./(\w+)\.js";')
_EXPORT = re.compile(r"export (?=(?:const|(?:async )?function) (\w+)\b)")


def bundle(name: str, read: Callable[[str], str]) -> str:
    """The module and all that it imports as one script; `read` gives the source of a module by its name."""
    return "".join(_function(each, lines) for each, lines in _in_order(name, read, [], set()))


def _in_order(
    name: str, read: Callable[[str], str], importers: list[str], done: set[str]
) -> Iterator[tuple[str, list[str]]]:
    """Each module once, after those that it imports."""
    if name in importers:
        raise ValueError(f"the script modules {' → '.join([*importers, name])} import each other")
    if name in done:
        return
    done.add(name)
    lines = code_lines(read(name))
    for line in lines:
        if found := _IMPORT.fullmatch(line):
            yield from _in_order(found[2], read, [*importers, name], done)
    yield name, lines


def code_lines(source: str) -> list[str]:
    """The lines of a script that are no comments, without indentation; no text of ours spans several lines."""
    lines = (line.strip() for line in source.splitlines())
    return [line for line in lines if line and not line.startswith("//")]


def _function(name: str, lines: list[str]) -> str:
    exports = [found[1] for line in lines if (found := _EXPORT.match(line))]
    body = [_statement(name, line) for line in lines]
    # The sign keeps the names of modules apart from those within: `rows` is in rows.js, too.
    return "\n".join(
        [f"const ${name} = (() => {{", *filter(None, body), f"return {{ {', '.join(exports)} }};", "})();", ""]
    )


def _statement(name: str, line: str) -> str:
    if found := _IMPORT.fullmatch(line):
        return f"const {found[1]} = ${found[2]};" if found[1] else ""
    plain = _EXPORT.sub("", line, count=1) if line.startswith("export ") else line
    if plain.startswith(("import ", "export ")):
        raise ValueError(f"{name}.js has a kind of import or export that is not joined: {line}")
    return plain
