"""Hypothesis profiles: all examples in `make test`, a quarter in `make check`, without deadlines."""

from hypothesis import HealthCheck, settings

TEST_PROFILE = "test"
CHECK_PROFILE = "check"
LEAST = 5
# On a busy machine an example may take any time, so there is no deadline; pytest-timeout ends a hang.
ALL_EXAMPLES = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def use_profile(is_check: bool) -> None:
    """Sets the profile for tests without a number of examples, and for those that use `examples`."""
    settings.register_profile(TEST_PROFILE, ALL_EXAMPLES)
    settings.register_profile(CHECK_PROFILE, ALL_EXAMPLES, max_examples=_quarter(ALL_EXAMPLES.max_examples))
    settings.load_profile(CHECK_PROFILE if is_check else TEST_PROFILE)


def examples(number: int) -> int:
    """The value for `max_examples`."""
    return _quarter(number) if settings.get_current_profile_name() == CHECK_PROFILE else number


def _quarter(number: int) -> int:
    return max(number // 4, LEAST)
