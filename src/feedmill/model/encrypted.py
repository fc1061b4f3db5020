"""An encrypted secret, as stored in the database."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Encrypted:
    """A ciphertext of `feedmill.encryption`. Never compare two: encrypting a text twice gives different values."""

    value: str = field(repr=False)

    def __str__(self) -> str:
        return "***"
