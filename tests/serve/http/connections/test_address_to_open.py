"""The address that the start of a server prints can be opened in a browser."""

import pytest

from feedmill.serve.http.connections.server import address_to_open
from feedmill.settings import load_settings

ELSEWHERE = " (from another machine with the name or address of this one)"


@pytest.mark.parametrize(
    ("given", "printed"),
    [
        ({}, "http://127.0.0.1:8000"),
        ({"listen": "192.0.2.7", "port": 80}, "http://192.0.2.7:80"),
        ({"listen": "2001:db8::7"}, "http://[2001:db8::7]:8000"),
        ({"listen": "0.0.0.0"}, "http://127.0.0.1:8000" + ELSEWHERE),
        ({"listen": "::"}, "http://[::1]:8000" + ELSEWHERE),
        ({"listen": "0.0.0.0", "public_url": "https://feeds.example"}, "https://feeds.example"),
    ],
)
def test_the_address_leads_to_the_server(given: dict[str, str | int], printed: str) -> None:
    assert address_to_open(load_settings(**given)) == printed
