"""How many examples a property is tried with: all of them in `make test`, a quarter in `make check`."""

from hypothesis import settings

CHECK_PROFILE = "check"
LEAST = 5


def use_fewer_examples() -> None:
    """For properties that name no number, and for those that name one by `examples`."""
    settings.register_profile(CHECK_PROFILE, settings(), max_examples=_quarter(settings().max_examples))
    settings.load_profile(CHECK_PROFILE)


def examples(number: int) -> int:
    """To be given to `max_examples`."""
    return _quarter(number) if settings.get_current_profile_name() == CHECK_PROFILE else number


def _quarter(number: int) -> int:
    return max(number // 4, LEAST)
