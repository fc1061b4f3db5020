"""Sends queued articles to the services of users, at least once.

    claim saves → read the options and the article → send → record the result

If the process dies, the lease ends and the save is sent again. The services know a URL that they have already.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from feedmill.encryption import Encryption, UnreadableSecret
from feedmill.engine.leased_tasks import run_leased_tasks
from feedmill.i18n.messages import Message
from feedmill.lazy_loggers import get_logger
from feedmill.library.outbound_tools import OutboundTools
from feedmill.library.services.saved_article import SavedArticle, read_saved_article
from feedmill.library.services.service_answers import read_access_token, read_refusal
from feedmill.library.services.service_options import decrypt_options
from feedmill.library.services.service_requests import (
    ServiceRequest,
    service_request,
    wallabag_request,
    wallabag_token_request,
)
from feedmill.library.services.service_tokens import ServiceTokens
from feedmill.model.fetch_outcome import Deferred, FetchOutcome, Refused, Response, Retryable, Throttled
from feedmill.model.services.save_service import ClaimedSave, SaveFailed, ServiceKind, ServiceOptions
from feedmill.model.webhook import next_delivery_attempt
from feedmill.outbound.fetch_limits import FetchLimits
from feedmill.store.services.save_queue import (
    postpone_saves,
    record_failed_save,
    record_saved,
    release_saves,
    take_saves,
)

log = get_logger(__name__)

SAVES_AT_ONCE = 100
EACH = 20
LIMITS = FetchLimits(max_bytes=1_000_000, total=timedelta(seconds=20), read=timedelta(seconds=15))
# Statuses that say something about the service or its login, and not about this article: they are tried again.
LOGIN_STATUSES = frozenset({401, 403})
SERVICE_STATUSES = LOGIN_STATUSES | {301, 302, 303, 307, 308, 402, 404, 405, 408, 410, 425}


@dataclass(frozen=True, slots=True)
class SaveSender:
    """Sends the saves of all users. `_tokens` has the access tokens of Wallabag by the encrypted options."""

    tools: OutboundTools
    encryption: Encryption
    _tokens: ServiceTokens = field(default_factory=ServiceTokens)

    async def send_due(self) -> int:
        """Sends some of the due saves, to each service one after the other; how many there were."""
        tools = self.tools
        token, saves = await take_saves(tools.db, tools.clock(), SAVES_AT_ONCE, EACH)
        if not saves:
            return 0
        work = [self._send_in_order(queue) for queue in _by_service(saves)]
        await run_leased_tasks(work, tools.soft_limit, lambda: release_saves(tools.db, token, tools.clock()))
        return len(saves)

    async def _send_in_order(self, queue: Sequence[ClaimedSave]) -> None:
        for taken in queue:
            failed = await self._send_one(taken)
            if failed is not None and failed.service_is_away:
                now = self.tools.clock()
                await postpone_saves(self.tools.db, taken, failed.again_at or now + timedelta(minutes=1), now)
                return

    async def _send_one(self, taken: ClaimedSave) -> SaveFailed | None:
        outcome = await self._try(taken)
        now = self.tools.clock()
        if isinstance(outcome, Response):
            await record_saved(self.tools.db, taken, outcome.status, now)
            return None
        failed = outcome if isinstance(outcome, SaveFailed) else save_failure(taken.kind, outcome, _attempt(taken), now)
        await record_failed_save(self.tools.db, taken, failed, now)
        log.info("service_save_failed", service_id=taken.save.service_id, kind=taken.kind, reason=str(failed.reason))
        return failed

    async def _try(self, taken: ClaimedSave) -> FetchOutcome | SaveFailed:
        article = await read_saved_article(self.tools.db, taken.user_id, taken.save.entry_id)
        if article is None:
            return SaveFailed(Message("service.nothing_to_save"), None)
        try:
            options = await asyncio.to_thread(decrypt_options, self.encryption, taken.options)
        except UnreadableSecret as error:
            return SaveFailed(error.message, None)
        if taken.kind is ServiceKind.WALLABAG:
            outcome = await self._send_to_wallabag(taken, options, article)
        else:
            outcome = await self._send(service_request(taken.kind, options, article))
        reason = read_refusal(taken.kind, outcome.body) if isinstance(outcome, Response) else None
        return SaveFailed(Message("service.refused", reason=reason), None) if reason else outcome

    async def _send(self, request: ServiceRequest) -> FetchOutcome:
        return await self.tools.client.post(request.url, request.payload, LIMITS, request.options)

    async def _send_to_wallabag(
        self, taken: ClaimedSave, options: ServiceOptions, article: SavedArticle
    ) -> FetchOutcome | SaveFailed:
        key, now = taken.options.value, self.tools.clock()
        token = self._tokens.get(key, now)
        if token is None:
            answer = await self._send(wallabag_token_request(options))
            if not isinstance(answer, Response):
                return wallabag_login_failure(answer, _attempt(taken), now)
            token = read_access_token(answer.body)
            if not token:
                return SaveFailed(Message("service.no_access_token"), next_delivery_attempt(_attempt(taken), now))
            self._tokens.put(key, token, now)
        outcome = await self._send(wallabag_request(options, article, token))
        if not isinstance(outcome, Response):
            self._tokens.forget(key)
        return outcome


def save_failure(kind: ServiceKind, outcome: FetchOutcome, attempts: int, now: datetime) -> SaveFailed:
    """What a failed request means for the save after so many attempts, including this one."""
    again_at = next_delivery_attempt(attempts, now)
    match outcome:
        case Deferred(until=until):
            return SaveFailed(Message("service.host_busy"), until, service_is_away=True, counted=False)
        case Throttled(until=until, status=status):
            later = max(until, again_at) if again_at else None
            return SaveFailed(Message("service.throttled", status=status), later, status, service_is_away=True)
        case Refused(detail=detail):
            return SaveFailed(detail, None)
        case Retryable(detail=detail, status=status):
            return SaveFailed(detail, again_at, status, service_is_away=status is None)
    status = outcome.status
    if status in SERVICE_STATUSES:
        return SaveFailed(_reason(status), again_at, status, service_is_away=True)
    # Instapaper answers 400 also to too many requests.
    is_limit = kind is ServiceKind.INSTAPAPER and status == 400
    return SaveFailed(Message("service.answered", status=status), again_at if is_limit else None, status)


def wallabag_login_failure(outcome: FetchOutcome, attempts: int, now: datetime) -> SaveFailed:
    """Wallabag answers 400 to a wrong password."""
    if outcome.status == 400:
        reason = Message("service.login_refused", status=400)
        return SaveFailed(reason, next_delivery_attempt(attempts, now), 400, service_is_away=True)
    return save_failure(ServiceKind.WALLABAG, outcome, attempts, now)


def _reason(status: int) -> Message:
    if status in LOGIN_STATUSES:
        return Message("service.login_refused", status=status)
    if 300 <= status <= 399:
        return Message("service.redirects", status=status)
    return Message("service.answered", status=status)


def _by_service(saves: Sequence[ClaimedSave]) -> list[list[ClaimedSave]]:
    queues: dict[int, list[ClaimedSave]] = {}
    for taken in saves:
        queues.setdefault(taken.save.service_id, []).append(taken)
    return list(queues.values())


def _attempt(taken: ClaimedSave) -> int:
    return taken.save.attempts + 1
