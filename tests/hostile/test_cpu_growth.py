"""No untrusted text takes more than linear time, whatever it repeats.

The functions are in `text_readers.py`, what is repeated in `repeated_texts.py`, how it is measured in `cpu_growth.py`.
`make test` tries every text with every function. `make check` tries half of the characters with each, a quarter of the
pieces, and a sixteenth of the pairs and openings: the next part with the next function.
"""

import inspect
import pkgutil
import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from types import ModuleType

import pytest

import feedmill
from feedmill.html.sanitize import sanitize_html
from tests.hostile.cpu_growth import cpu_seconds, find_excessive, find_suspects, measure_growth
from tests.hostile.repeated_texts import CHARACTERS, ENDINGS, OPENINGS, PIECES, pairs
from tests.hostile.text_readers import NOT_HOSTILE, READERS

# Long enough that a quadratic expression shows: it takes 3 ms for 1,000 characters.
LENGTH = 1_000
LENGTH_OF_PAIRS = 400
LONG = 20_000
READING_STRANGERS = (
    "collect.",
    "html.",
    "absolute_urls",
    "outbound.",
    "library.search",
    "library.subscriptions.opml",
    "store.search.tokenizer",
)


# What is slow with one text is slow with similar ones: each part has some of them.
PARTS = 16
# Pieces, endings and length.
Texts = tuple[Sequence[str], Sequence[str], int]
ALL_TEXTS: list[Texts] = [
    ([*CHARACTERS, *PIECES], ENDINGS, LENGTH),
    (pairs(), [""], LENGTH_OF_PAIRS),
    (OPENINGS, [""], LONG),
]


def part_of_texts(number: int) -> list[Texts]:
    part = slice(number % PARTS, None, PARTS)
    quarter = slice(number % 4, None, 4)
    half = slice(number % 2, None, 2)
    return [
        (CHARACTERS[half], ["x"], LENGTH),
        (PIECES[quarter], ENDINGS, LENGTH),
        (pairs()[part], [""], LENGTH_OF_PAIRS),
        (OPENINGS[part], [""], LONG),
    ]


@pytest.mark.parametrize(("number", "name"), list(enumerate(READERS)), ids=READERS)
def test_doubling_a_text_never_more_than_triples_the_cpu_time(number: int, name: str, is_check: bool) -> None:
    texts = part_of_texts(number) if is_check else ALL_TEXTS

    found = [growth for some in texts for growth in find_excessive(name, READERS[name], *some)]

    assert not found, "\n".join(map(str, found))


@pytest.mark.parametrize("slow", [r"(?:<[^>]*>)+$", r"(?:&#?\w+;?)+$"], ids=["tags", "entities"])
def test_each_quarter_of_the_pieces_finds_a_slow_expression(slow: str) -> None:
    texts = [part_of_texts(number)[1] for number in range(4)]

    assert [quarter for quarter, some in enumerate(texts) if not _finds(slow, some)] == []


def test_each_part_of_the_pairs_finds_a_slow_expression() -> None:
    texts = [part_of_texts(number)[2] for number in range(PARTS)]

    assert [part for part, some in enumerate(texts) if not _finds(r"(?:[,;:]\W)+$", some)] == []


def _finds(slow: str, texts: Texts) -> bool:
    expression = re.compile(slow)
    return any(find_suspects(lambda text: expression.search(f"{text}\0"), *texts))


def test_sixteen_functions_in_a_row_are_tried_with_every_text() -> None:
    met = {piece for number in range(PARTS) for pieces, _, _ in part_of_texts(number) for piece in pieces}

    assert met == {piece for pieces, _, _ in ALL_TEXTS for piece in pieces}


def test_a_quadratic_function_is_distinguished_from_a_linear_one() -> None:
    spaces_before_the_end = re.compile(r"\s+$")

    def quadratic(text: str) -> object:
        return spaces_before_the_end.search(text)

    def linear(text: str) -> object:
        return [character.upper() for character in text for _ in range(20)]

    assert [growth.reader for growth in find_excessive("quadratic", quadratic, [" "], ["x"], LENGTH)] == ["quadratic"]
    assert find_excessive("pairs", lambda text: re.search("(?:,0)+$", text), [",0"], ["x"], LENGTH_OF_PAIRS)
    assert find_excessive("linear", linear, [" ", "a"], ENDINGS, LENGTH) == []
    assert not measure_growth("linear", linear, "a", "", LENGTH).is_excessive


def test_eighty_thousand_commas_in_a_srcset_are_read_fast() -> None:
    seconds = cpu_seconds(lambda text: sanitize_html(f'<img srcset="{text}">'), "," * 80_000)

    assert seconds < 0.5  # 4.8 s when each comma was tried as the beginning of a candidate


def test_enough_functions_and_texts_are_tried() -> None:
    assert len({name.partition(":")[0] for name in READERS}) >= 60
    assert len({*CHARACTERS, *PIECES}) >= 40


def test_every_function_that_reads_text_is_measured_or_listed_as_not_hostile() -> None:
    measured = {name.partition(":")[0] for name in READERS}

    missing = set(_text_functions()) - measured - NOT_HOSTILE

    assert not missing, f"add to READERS or to NOT_HOSTILE in text_readers.py: {sorted(missing)}"


def test_every_module_with_a_regular_expression_is_measured_or_listed() -> None:
    measured = {name.partition(":")[0] for name in READERS}

    missing = [
        module
        for module in _modules_with_expressions()
        if module not in NOT_HOSTILE and not any(name.startswith(f"{module}.") for name in measured)
    ]

    assert not missing, f"add a function of theirs to READERS, or name them in NOT_HOSTILE: {missing}"


def _modules() -> Iterator[tuple[str, ModuleType]]:
    for found in pkgutil.walk_packages(feedmill.__path__, "feedmill."):
        if not found.name.endswith(".__main__"):
            yield found.name.removeprefix("feedmill."), import_module(found.name)


def _modules_with_expressions() -> list[str]:
    return [
        name for name, module in _modules() if any(isinstance(value, re.Pattern) for value in vars(module).values())
    ]


def _text_functions() -> Iterator[str]:
    """The public functions, in the folders that read untrusted text, that take a text as their first argument."""
    for name, module in _modules():
        if name.startswith(READING_STRANGERS):
            for key, value in vars(module).items():
                if _is_public(key, value, module) and _takes_text(value):
                    yield f"{name}.{key}"


def _is_public(key: str, value: object, module: ModuleType) -> bool:
    return inspect.isfunction(value) and value.__module__ == module.__name__ and not key.startswith("_")


def _takes_text(function: object) -> bool:
    first = next(iter(inspect.signature(function).parameters.values()), None)  # type: ignore[arg-type]
    return first is not None and first.annotation in (str, bytes, str | None)
