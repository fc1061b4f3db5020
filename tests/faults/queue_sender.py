"""A process that sends one chunk of saves or notifications and kills itself at a named point."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from typing import Any

from feedmill.app import App, build_app
from feedmill.library.notifications import send_notifications
from feedmill.library.services import send_saves
from feedmill.logs import set_up
from feedmill.outbound.client import Client
from feedmill.settings import load_settings

QUEUES = ("saves", "notifications")
# After the claim, after the service has accepted it, after the result was recorded, or never.
POINTS = ("claimed", "sent", "recorded", "never")


def run(plan: dict[str, Any]) -> None:
    """`settings`, `queue` and `point`: where it kills itself, one of `POINTS`."""
    set_up(load_settings(**plan["settings"]))
    _kill_at(plan["queue"], plan["point"])
    asyncio.run(_send(plan["settings"], plan["queue"]))


async def _send(settings: dict[str, str], queue: str) -> None:
    async with build_app(load_settings(**settings)) as app:
        await _sender(app, queue)()


def _sender(app: App, queue: str) -> Callable[[], Awaitable[int]]:
    return app.services.send if queue == "saves" else app.notifications.send


def _kill_at(queue: str, point: str) -> None:
    module: Any = send_saves if queue == "saves" else send_notifications
    take, record = ("take_saves", "record_saved") if queue == "saves" else ("take_targets", "record_sent")
    if point == "claimed":
        setattr(module, take, _killed_after(getattr(module, take)))
    elif point == "sent":
        Client.post = _killed_after(Client.post)  # type: ignore[method-assign]
    elif point == "recorded":
        setattr(module, record, _killed_after(getattr(module, record)))


def _killed_after(work: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def work_and_die(*args: Any, **kwargs: Any) -> Any:
        await work(*args, **kwargs)
        os.kill(os.getpid(), signal.SIGKILL)

    return work_and_die
