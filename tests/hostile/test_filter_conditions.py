"""The regular expressions and conditions of filters are hostile too: what is not refused takes linear time."""

import pytest

from feedmill.library.filters.conditions import BadCondition, constant_condition
from feedmill.library.filters.regular_expressions import compile_regex
from tests.hostile.cpu_growth import measure_growth

# Each takes an engine that tries one way after the other exponential or cubic time.
HOSTILE_EXPRESSIONS = {
    r"(a*)*b": "a",
    r"(a|aa)+$": "a",
    r"(?:a?){20}a{20}": "a",
    r"(.*)(.*)(.*)(.*)x": "a",
    r"(x+x+)+y": "x",
    r"(?:\w+\s?)+$": "word ",
    r"(?:[^,]*,){10}z": "a,",
}


@pytest.mark.parametrize(("pattern", "piece"), HOSTILE_EXPRESSIONS.items())
def test_the_time_of_an_expression_grows_with_the_length_of_the_text(pattern: str, piece: str) -> None:
    compiled = compile_regex(pattern)

    growth = measure_growth(pattern, lambda text: compiled.search(text.encode()), piece, "!", 20_000)

    assert not growth.is_excessive, str(growth)


@pytest.mark.parametrize(
    "condition",
    [
        " OR ".join(f"w{number}" for number in range(10_000)),
        "(" * 10_000,
        "(" * 400 + "a" + ")" * 400,
        "-" * 10_000 + "a",
        "/" + "(" * 10_000 + "/",
        "/" + "(a{1000}){1000}" + "/",
        "/" + "(?:" * 60 + "a" + "){0,9}" * 60 + "/",
    ],
    ids=["terms", "open", "nested", "negations", "long regex", "large regex", "nested regex"],
)
def test_a_condition_that_is_too_large_is_refused(condition: str) -> None:
    with pytest.raises(BadCondition):
        constant_condition(condition)
