"""Tokens that say which process or program took an item."""

import os
import socket
from secrets import token_hex

MAX_NAME_LENGTH = 90


def process_name() -> str:
    """Who we are when nobody said it."""
    return f"{socket.gethostname()}:{os.getpid()}"


def new_token(who: str) -> str:
    """A token that says who took something and that nobody else has."""
    plain = (who or process_name()).encode("ascii", "replace").decode()
    return f"{plain[:MAX_NAME_LENGTH]}/{token_hex(8)}"


def token_holder(token: str | None) -> str | None:
    """Who took something, without what makes the token a secret: who knows all of it can settle what was leased."""
    return token.rpartition("/")[0] or token if token else None
