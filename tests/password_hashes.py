"""Argon2 with the lowest cost, for the many tests that only need a signed-in user."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from argon2 import PasswordHasher

from feedmill.library.users import passwords

REAL_HASHER, REAL_NOBODYS = passwords.HASHER, passwords.DUMMY_HASH
CHEAP_HASHER = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@contextmanager
def cheap_hashes() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "HASHER", CHEAP_HASHER)
        patch.setattr(passwords, "DUMMY_HASH", CHEAP_HASHER.hash("the password of nobody"))
        yield


@contextmanager
def real_hashes() -> Iterator[None]:
    """Uses the cost of the product."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "HASHER", REAL_HASHER)
        patch.setattr(passwords, "DUMMY_HASH", REAL_NOBODYS)
        yield
