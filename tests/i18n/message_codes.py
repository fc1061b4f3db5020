"""Finds every message that the source makes: its code and the names of its parameters."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from tests.source_trees import trees_with

# Where messages are read back.
NO_SOURCE_OF_MESSAGES = "i18n/messages.py"


@dataclass(frozen=True, slots=True)
class MadeMessage:
    """`code` is the beginning of one where `is_prefix`: the rest is put together when it is made."""

    place: str
    code: str
    parameters: frozenset[str]
    is_prefix: bool = False

    def makes(self, code: str) -> bool:
        return code.startswith(self.code) if self.is_prefix else code == self.code


@cache
def made_messages() -> tuple[MadeMessage, ...]:
    return tuple(
        made
        for name, tree in trees_with("Message")
        if name != NO_SOURCE_OF_MESSAGES
        for node in ast.walk(tree)
        for made in _made(node, name)
    )


def _made(node: ast.AST, path: str) -> Iterator[MadeMessage]:
    match node:
        case ast.Call(func=ast.Name(id="Message"), args=[code, *_], keywords=keywords):
            names = frozenset(word.arg or "**" for word in keywords)
            text, is_prefix = _code(code)
            yield MadeMessage(f"{path}:{node.lineno}", text, names, is_prefix)


def _code(node: ast.expr) -> tuple[str, bool]:
    match node:
        case ast.Constant(value=str(text)):
            return text, False
        case ast.JoinedStr(values=[ast.Constant(value=str(text)), *_]):
            return text, True
    return ast.unparse(node), False
