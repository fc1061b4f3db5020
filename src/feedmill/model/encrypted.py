"""An encrypted secret as a row keeps it."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Encrypted:
    """Text that only `feedmill.encryption` can read. Two of the same text differ, so they are never compared."""

    value: str = field(repr=False)

    def __str__(self) -> str:
        return "***"
