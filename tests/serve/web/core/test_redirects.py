"""No redirect leaves this server."""

import pytest

from feedmill.serve.web.core.redirects import local_path


@pytest.mark.parametrize("path", ["/unread", "/folder/3?show=all&order=oldest", "/item/5?in=/unread", "/label/中文"])
def test_redirects_to_our_own_pages_are_allowed(path: str) -> None:
    assert local_path(path) == path


@pytest.mark.parametrize(
    "path",
    [
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "javascript:alert(1)",
        "evil",
        "",
        "/\t/evil.example",
        "/ok\r\nSet-Cookie: a=b",
        " /unread",
        "/a\\b",
        None,
        5,
        "/" + "a" * 3000,
    ],
)
def test_any_other_target_becomes_the_start_page(path: object) -> None:
    assert local_path(path) == "/"
    assert local_path(path, "/appearance") == "/appearance"
