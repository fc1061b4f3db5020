"""Allows only local paths as redirect targets."""

import re

_LOCAL = re.compile(r"/(?![/\\])[^\x00-\x20\x7f\\]*")
HOME = "/"


def local_path(path: object, otherwise: str = HOME) -> str:
    """`path` if it leads to a page of ours, else the other: no redirect leaves this server."""
    return path if isinstance(path, str) and len(path) < 2000 and _LOCAL.fullmatch(path) else otherwise
