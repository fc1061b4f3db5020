"""The listing of the source is its first page of documentation: small folders, and names that mean one thing."""

import re
from collections import Counter

from tests.docs.pages import ROOT

SOURCE = ROOT / "src" / "feedmill"
MODULES = [path for path in SOURCE.rglob("*.py") if path.name != "__init__.py"]
MAX_MODULES = 25
CLASS = re.compile(r"^ *class ([a-zA-Z]\w*)", re.MULTILINE)


def test_no_folder_has_too_many_modules() -> None:
    modules = Counter(str(path.parent.relative_to(SOURCE)) for path in MODULES)

    assert {folder: count for folder, count in modules.items() if count > MAX_MODULES} == {}


def test_no_module_is_named_by_a_participle_alone() -> None:
    """`deliver_webhooks` or `delivery`, not `delivering`."""
    assert [
        str(path.relative_to(SOURCE)) for path in MODULES if path.stem.endswith("ing") and "_" not in path.stem
    ] == []


def test_a_class_name_stands_for_one_thing() -> None:
    names = Counter(name for path in SOURCE.rglob("*.py") for name in CLASS.findall(path.read_text()))

    assert [name for name, count in names.items() if count > 1] == []
