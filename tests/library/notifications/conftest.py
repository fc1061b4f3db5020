"""The SMTP server of the tests of notifications."""

from collections.abc import AsyncIterator

import pytest

from tests.library.notifications.mail_server import Mailbox, open_mail_server


@pytest.fixture
async def mail_server() -> AsyncIterator[tuple[Mailbox, int]]:
    async with open_mail_server() as opened:
        yield opened
