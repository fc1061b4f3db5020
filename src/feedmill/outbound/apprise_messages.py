"""Sends messages with Apprise, each in a process of its own (`apprise_process.py`) with a time limit."""

import asyncio
import os
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import msgspec

from feedmill.i18n.messages import Message
from feedmill.model.notifications.notification_message import NotificationMessage
from feedmill.outbound.apprise_schemes import MAIL_SCHEMES, scheme_of

PROCESS = ("-I", "-B", "-m", "feedmill.outbound.apprise_process")
# Nothing of the settings, which have secrets.
PASSED_ON = ("PATH", "LANG", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")
MAX_ANSWER = 10_000
TIME_LIMIT = timedelta(seconds=40)
# As `compose_digest` writes it.
INLINE_PICTURE = re.compile(r'<img src="cid:[^>]*>')
REFUSALS = {
    "address": Message("notification.address"),
    "file": Message("notification.file"),
    "local": Message("notification.local"),
    "not_understood": Message("notification.not_understood"),
}


class AppriseAnswer(msgspec.Struct):
    reason: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class AppriseSender:
    """Sends to addresses that the operator allows: public ones, and those of `allow_private`."""

    allow_private: tuple[str, ...] = ()
    time_limit: timedelta = TIME_LIMIT
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(2))

    @classmethod
    def of(cls, allow_private: Iterable[object]) -> "AppriseSender":
        return cls(tuple(str(network) for network in allow_private))

    async def send(self, url: str, message: NotificationMessage) -> Message | None:
        """Sends a message; why it failed, or None."""
        request = {"url": url, "allow_private": self.allow_private, **apprise_content(message, scheme_of(url))}
        async with self._slots:
            try:
                answer = await self._ask(msgspec.json.encode(request))
            except TimeoutError:
                return Message("notification.timeout")
        return _failure(answer)

    async def _ask(self, request: bytes) -> bytes:
        pipe = asyncio.subprocess.PIPE
        environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *PROCESS,
            stdin=pipe,
            stdout=pipe,
            stderr=asyncio.subprocess.DEVNULL,
            env=environment,
            cwd="/",
        )
        try:
            async with asyncio.timeout(self.time_limit.total_seconds()):
                answer, _ = await process.communicate(request)
            return answer
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()


def apprise_content(message: NotificationMessage, scheme: str) -> dict[str, Any]:
    """What is sent: only mail can show pictures that are sent with it."""
    is_mail = scheme in MAIL_SCHEMES
    return {
        "title": message.title,
        "body": message.body,
        "html": message.html if is_mail else INLINE_PICTURE.sub("", message.html),
        "pictures": message.pictures if is_mail else (),
    }


def _failure(answer: bytes) -> Message | None:
    try:
        read = msgspec.json.decode(answer[:MAX_ANSWER], type=AppriseAnswer)
    except msgspec.DecodeError:
        return Message("notification.crashed")
    if not read.reason:
        return None
    if read.reason in REFUSALS:
        return REFUSALS[read.reason]
    return Message("notification.not_sent", detail=read.detail) if read.detail else Message("notification.refused")
