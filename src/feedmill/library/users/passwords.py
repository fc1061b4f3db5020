"""Hashes and verifies passwords with argon2id in threads of their own."""

import asyncio
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from feedmill.errors import BadInput
from feedmill.i18n.messages import Message

MIN_LENGTH, MAX_LENGTH = 8, 1000
# 19 MiB each, so that a small machine can verify several at once.
HASHER = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
# The hash of no password. It is verified for unknown users, so that the time does not tell them apart.
DUMMY_HASH = "$argon2id$v=19$m=19456,t=2,p=1$45FtKJMrj52e/jiqN0vpqg$apiCNlAJueAs0uhILym9z0FFyXfZRn0eVYGZLCZFwT4"
_THREADS = ThreadPoolExecutor(2, thread_name_prefix="passwords")

Result = TypeVar("Result")


def check_password_length(password: str) -> None:
    """Raises `BadInput` for a password that is too short or too long."""
    if not MIN_LENGTH <= len(password) <= MAX_LENGTH:
        raise BadInput(Message("error.bad_password", least=MIN_LENGTH, most=MAX_LENGTH), field="password")


async def hash_password(password: str) -> str:
    return await _in_thread(lambda: HASHER.hash(_normalized(password)))


async def verify_password(password_hash: str | None, password: str) -> bool:
    """Whether the password is right; takes the same time when there is no hash."""
    found = await _in_thread(lambda: _verify(password_hash or DUMMY_HASH, _normalized(password)))
    return found and password_hash is not None


def is_outdated(password_hash: str) -> bool:
    """Whether the hash was made with parameters other than the current ones."""
    return HASHER.check_needs_rehash(password_hash)


def _verify(password_hash: str, password: str) -> bool:
    try:
        return HASHER.verify(password_hash, password)
    except (VerificationError, InvalidHashError):
        return False


def _normalized(password: str) -> str:
    """The Unicode normal form, because keyboards send some letters in several forms."""
    return unicodedata.normalize("NFKC", password[:MAX_LENGTH])


async def _in_thread(work: Callable[[], Result]) -> Result:
    return await asyncio.get_running_loop().run_in_executor(_THREADS, work)
