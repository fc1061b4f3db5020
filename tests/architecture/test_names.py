"""The listing of the source is its first page of documentation: small folders, and names that mean one thing."""

import ast
from collections import Counter

from tests.docs.pages import ROOT
from tests.source_trees import trees_with

SOURCE = ROOT / "src" / "feedmill"
MODULES = [path for path in SOURCE.rglob("*.py") if path.name != "__init__.py"]
MAX_MODULES = 25


def test_no_folder_has_too_many_modules() -> None:
    modules = Counter(str(path.parent.relative_to(SOURCE)) for path in MODULES)

    assert {folder: count for folder, count in modules.items() if count > MAX_MODULES} == {}


def test_no_module_is_named_by_a_participle_alone() -> None:
    """`deliver_webhooks` or `delivery`, not `delivering`."""
    assert [
        str(path.relative_to(SOURCE)) for path in MODULES if path.stem.endswith("ing") and "_" not in path.stem
    ] == []


def test_a_class_name_stands_for_one_thing() -> None:
    names = Counter(
        node.name
        for _, tree in trees_with("class ")
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )

    assert [name for name, count in names.items() if count > 1] == []
