"""No redirect leaves this server."""

import pytest

from feedmill.serve.web.core.redirects import local_path


@pytest.mark.parametrize("path", ["/unread", "/folder/3?show=all&order=oldest", "/item/5?in=/unread", "/label/中文"])
def test_our_own_pages_may_be_gone_to(path: str) -> None:
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
def test_anything_else_leads_home(path: object) -> None:
    assert local_path(path) == "/"
    assert local_path(path, "/look") == "/look"
