"""Each database has one module with everything that is specific to its search."""

from pathlib import Path

import pytest

import feedmill.store.search
from feedmill.model.search_query import And, HasState, Not, Or, SearchCondition, TextMatch
from feedmill.store.search.search_dialect import search_dialect

MODULES = {"sqlite.py", "postgresql.py", "mysql.py"}
CAT, OLD_DOG = TextMatch(("cat",)), TextMatch(("old", "dog"), "title", prefix=True)


@pytest.mark.parametrize(
    ("name", "condition", "expected"),
    [
        ("sqlite", CAT, '("cat")'),
        ("sqlite", OLD_DOG, '(title : "old dog" *)'),
        ("sqlite", And((CAT, Not(OLD_DOG))), '((("cat")) NOT (title : "old dog" *))'),
        ("sqlite", Or((CAT, OLD_DOG)), '(("cat") OR (title : "old dog" *))'),
        ("postgresql", CAT, "('cat')"),
        ("postgresql", OLD_DOG, "('old' & 'dog':*)"),
        ("postgresql", And((CAT, Not(OLD_DOG))), "(('cat'))"),
        ("postgresql", And((CAT, Not(CAT))), "(('cat') & !('cat'))"),
        ("postgresql", Or((CAT, OLD_DOG)), "(('cat') | ('old' & 'dog':*))"),
        ("mysql", CAT, "(tzcat azcat xzcat)"),
        ("mysql", OLD_DOG, "((+tzold +tzdog*))"),
        ("mysql", And((CAT, Not(OLD_DOG))), "(+(tzcat azcat xzcat) -((+tzold +tzdog*)))"),
        ("mysql", Or((CAT, OLD_DOG)), "((tzcat azcat xzcat) ((+tzold +tzdog*)))"),
    ],
)
def test_words_are_written_in_the_syntax_of_the_database(name: str, condition: SearchCondition, expected: str) -> None:
    assert search_dialect(name).match_text(condition) == expected


@pytest.mark.parametrize("name", ["sqlite", "postgresql", "mysql"])
def test_a_query_that_no_text_index_can_answer_is_refused(name: str) -> None:
    with pytest.raises(TypeError, match="no text"):
        search_dialect(name).match_text(HasState("starred"))


def test_no_other_module_names_a_database() -> None:
    folder = Path(feedmill.store.search.__file__).parent

    naming = {
        path.name
        for path in folder.glob("*.py")
        if any(f'"{name}"' in path.read_text() for name in ("sqlite", "postgresql", "mysql"))
    }

    assert naming <= MODULES
