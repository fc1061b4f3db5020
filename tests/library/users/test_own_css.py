"""A user's own CSS is stored with the account and loads nothing from elsewhere."""

import pytest

from feedmill.errors import BadInput
from feedmill.library.users.own_css import MAX_BYTES, check_own_css, own_css_of, save_own_css
from feedmill.library.users.preferences import save_preferences
from feedmill.store.database import Database
from feedmill.store.users.users import user_of_id
from tests.library.small_library import SmallLibrary


@pytest.mark.parametrize(
    "css",
    [
        "@import 'https://evil.example/a.css';",
        '@IMPORT "//evil.example/a.css";',
        "@\\69mport url(//evil.example)",
        "@im\\000070\nort 'x'",
        "a { background: url(https://evil.example/a.png) }",
        "a { background: URL( '//evil.example/a.png' ) }",
        "a { background: u\\72 l(https://evil.example/) }",
        "a { background: \\url(https://evil.example/) }",
        "a { background: url(\\68ttps://evil.example/) }",
        "a { background: url('/\t/evil.example/') }",
        "a { background: url('/\\9/evil.example/') }",
        "a { background: url(/\\/evil.example/) }",
        "a { background: url('\\5c\\5c evil.example/') }",
        "a { background: url(a.png) }",
        "a { background: image-set('https://evil.example/a.png' 1x) }",
        "a { background: -webkit-image-set('https://evil.example/a.png' 1x) }",
        "a { background: image('https://evil.example/a.png') }",
        "@font-face { font-family: x; src: src('https://evil.example/f.woff2') }",
        "/* a comment */ b { content: '/*'; background: url(http://evil.example); x: '*/' }",
    ],
)
def test_css_that_could_load_something_from_elsewhere_is_refused(css: str) -> None:
    with pytest.raises(BadInput, match="could load something"):
        check_own_css(css)


@pytest.mark.parametrize(
    "css",
    [
        ":root { --accent: rebeccapurple } /* mine */",
        "a::after { content: '\\2192' }",
        ".row { background: url(data:image/png;base64,AAAA) }",
        '.row { mask: url("#shape"); background: url("/static/1/icon.svg") }',
        "@media (width > 100px) { .images { aspect-ratio: 1 } }",
        "\\",
    ],
)
def test_css_that_stays_here_is_accepted(css: str) -> None:
    check_own_css(css)


async def test_own_css_is_replaced_deleted_and_kept_apart_from_other_preferences(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice, bob = await library.person("alice"), await library.person("bob")
    alice = await save_preferences(any_db, alice, {"theme": "black"})

    alice = await save_own_css(any_db, alice, "a { color: red }")
    first = alice.settings
    alice = await save_own_css(any_db, alice, "a { content: '水' }")

    assert alice.settings != first
    stored = await user_of_id(any_db, alice.id)
    assert stored is not None
    assert (stored.settings, await own_css_of(any_db, stored)) == (alice.settings, "a { content: '水' }")
    assert await own_css_of(any_db, bob) == ""
    with pytest.raises(BadInput, match="longer than"):
        await save_own_css(any_db, alice, "/*" + "水" * (MAX_BYTES // 3) + "*/")
    alice = await save_own_css(any_db, alice, "")
    assert await own_css_of(any_db, alice) == ""
