"""Tokens that identify the process or program that took an item."""

import os
import socket
from secrets import token_hex

MAX_NAME_LENGTH = 90


def process_name() -> str:
    """The default name of this process."""
    return f"{socket.gethostname()}:{os.getpid()}"


def new_token(who: str) -> str:
    """A unique token that begins with the name of its owner."""
    name = (who or process_name()).encode("ascii", "replace").decode()
    return f"{name[:MAX_NAME_LENGTH]}/{token_hex(8)}"


def token_holder(token: str | None) -> str | None:
    """The owner in a token, without its secret part: whoever knows the whole token can settle its items."""
    return token.rpartition("/")[0] or token if token else None
