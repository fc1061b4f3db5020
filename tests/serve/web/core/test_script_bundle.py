"""Script modules that are joined into one file: run in order, with their own names, and never half understood."""

import pytest

from feedmill.serve.web.core.script_bundle import bundle

PAGE = """\
// Shared by all.
export const one = (selector) => document.querySelector(selector);
export async function send(path) {
  // Nothing is kept.
  await fetch(path);
}
const own = 1;
"""
ROWS = """\
import { one, send } from "./page.js";

export const rows = one(".rows");
send("/seen");
"""
APP = """\
import "./rows.js";
import { one } from "./page.js";
one("main");
"""
JOINED = """\
const $page = (() => {
const one = (selector) => document.querySelector(selector);
async function send(path) {
await fetch(path);
}
const own = 1;
return { one, send };
})();
const $rows = (() => {
const { one, send } = $page;
const rows = one(".rows");
send("/seen");
return { rows };
})();
const $app = (() => {
const { one } = $page;
one("main");
return {  };
})();
"""


def test_each_module_is_a_function_that_runs_once_after_those_that_it_imports() -> None:
    assert bundle("app", {"app": APP, "rows": ROWS, "page": PAGE}.__getitem__) == JOINED


def test_modules_that_import_each_other_are_refused() -> None:
    modules = {"a": 'import "./b.js";', "b": 'import "./c.js";', "c": 'import "./a.js";'}

    with pytest.raises(ValueError, match="a → b → c → a"):
        bundle("a", modules.__getitem__)


@pytest.mark.parametrize(
    "line",
    [
        'import page from "./page.js";',
        'import * as page from "./page.js";',
        'import { one as first } from "./page.js";',
        "export default one;",
        "export let changing = 1;",
        "export { one };",
    ],
)
def test_a_kind_of_import_or_export_that_is_not_joined_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="not joined"):
        bundle("a", {"a": line}.__getitem__)
