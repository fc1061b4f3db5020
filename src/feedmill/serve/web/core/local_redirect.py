"""Allows only local paths as redirect targets."""

import re

_LOCAL = re.compile(r"/(?![/\\])[^\x00-\x20\x7f\\]*")
HOME = "/"


def local_path(path: object, otherwise: str = HOME) -> str:
    """`path` if it is a local path, else `otherwise`: no redirect leads to another server."""
    return path if isinstance(path, str) and len(path) < 2000 and _LOCAL.fullmatch(path) else otherwise
