"""The proxy of reader programs relays to this machine, and to nobody else."""

import httpx
import pytest

from tests.reader_programs.conftest import ReadingServer
from tests.services.loopback_proxy import running_loopback_proxy


def test_requests_to_this_machine_are_relayed_with_their_bodies_and_answers(reading_server: ReadingServer) -> None:
    sign_in = {"Email": reading_server.name, "Passwd": reading_server.password}

    with running_loopback_proxy() as proxy, httpx.Client(proxy=proxy.url) as client:
        response = client.post(f"{reading_server.url}/accounts/ClientLogin", data=sign_in)

    assert (response.status_code, response.text[:4], proxy.refused) == (200, "SID=", [])


def test_requests_to_strangers_are_refused_and_recorded() -> None:
    with running_loopback_proxy() as proxy, httpx.Client(proxy=proxy.url) as client:
        assert client.get("http://example.org/feed.xml").status_code == 403
        with pytest.raises(httpx.ProxyError):
            client.get("https://example.net/icon.png")

    assert proxy.refused == ["example.org", "example.net"]
