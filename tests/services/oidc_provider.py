"""A certified OpenID Connect provider (the npm package oidc-provider), and a person who signs in there."""

import json
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from lxml import html

from tests.services.node import Node, install_package, locked_version
from tests.services.server import Restartable, Service, ServiceMissing, folder, free_port

HERE = Path(__file__).parent / "oidc-provider"
PACKAGE = "oidc-provider"
CLIENT_ID, CLIENT_SECRET = "feedmill", "a secret: with+special/characters"
Accounts = Mapping[str, Mapping[str, Any]]


@contextmanager
def running_oidc_provider(
    accounts: Accounts, redirect_uris: list[str], *, sign_out_uris: tuple[str, ...] = (), **options: Any
) -> Iterator[Restartable]:
    """A provider with these accounts, by subject, and the client `CLIENT_ID`."""
    node, port = install(), free_port()
    client = {
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,
        "redirect_uris": redirect_uris,
        "post_logout_redirect_uris": list(sign_out_uris),
    }
    configuration = json.dumps({"clients": [client], "accounts": accounts, **options})
    with folder("oidc-provider") as place:
        service = Service(PACKAGE, locked_version(HERE, PACKAGE), f"http://127.0.0.1:{port}")
        command = [*node.node, str(HERE / "serve.mjs"), str(port), configuration]
        running = Restartable(service, command, port, place / "log", signal.SIGTERM)
        running.start()
        try:
            yield running
        finally:
            running.stop()


async def sign_in_at_provider(browser: httpx.AsyncClient, authorization_url: str, subject: str) -> str:
    """Signs in at the provider, and returns where it redirects the browser to."""
    answer = await browser.get(authorization_url)
    while True:
        if answer.is_redirect:
            location = str(answer.url.join(answer.headers["location"]))
            if "/callback?" in location:
                return location
            answer = await browser.get(location)
        else:
            [form] = html.fromstring(answer.text).forms
            fields = {"prompt": form.fields["prompt"], "login": subject, "password": "any"}
            answer = await browser.post(str(answer.url.join(form.action)), data=fields)


def install() -> Node:
    """Installs the provider in the version of its lock file, unless it is installed."""
    return install_package(HERE, PACKAGE)


if __name__ == "__main__":
    try:
        install()
    except ServiceMissing as missing:
        sys.exit(str(missing))
