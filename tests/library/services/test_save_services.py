"""Articles are saved to services as these document it, once, with retries, and only to allowed addresses."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from feedmill.errors import BadInput, LimitExceeded, NotFound
from feedmill.library.entries.labels import make_label
from feedmill.library.entries.marks import apply_marks
from feedmill.library.users.limits import MAX_COUNTS
from feedmill.model.entry_marks import EntryMarks
from feedmill.model.services.save_service import SaveStatus, ServiceKind
from feedmill.model.webhook import MAX_ATTEMPTS
from feedmill.outbound.address_policy import AddressPolicy
from feedmill.store.database import Database
from feedmill.store.leases import LEASE
from feedmill.store.services.save_queue import record_saved, take_saves
from tests.library.services.service_setup import (
    ANSWERS,
    ARTICLE,
    LOGINS,
    TITLE,
    TOKEN,
    DocumentedService,
    ServiceSetup,
    with_key,
)
from tests.library.webhooks.webhook_setup import MINUTE, open_client
from tests.scripted_web import Answer, ReceivedRequest, Web

# Where each service has the address of the article.
URL_FIELDS = {ServiceKind.RAINDROP: "link"}
LINKDING = ServiceKind.LINKDING


@pytest.fixture
async def setup(db: Database) -> AsyncIterator[ServiceSetup]:
    async with Web() as web, open_client() as client:
        yield ServiceSetup(db, client, web)


@pytest.mark.parametrize("kind", list(ANSWERS))
async def test_an_article_is_saved_as_the_service_documents_it(setup: ServiceSetup, kind: ServiceKind) -> None:
    documented, alice = DocumentedService(kind), await setup.reader()
    documented.serve(setup.web)
    await setup.add(alice, kind, **LOGINS[kind])

    [save] = await setup.save(alice, await setup.entry(alice))

    assert (save.status, save.last_error, save.attempts) == (SaveStatus.SAVED, None, 1)
    [saved] = documented.saved
    assert saved[URL_FIELDS.get(kind, "url")] == ARTICLE
    assert saved.get("title", TITLE) == TITLE
    [service] = await setup.services.all(alice.id)
    assert service.last_success_at == setup.now


@pytest.mark.parametrize("kind", list(ANSWERS))
async def test_a_refused_login_is_said_and_tried_again_later(setup: ServiceSetup, kind: ServiceKind) -> None:
    documented, alice = DocumentedService(kind), await setup.reader()
    documented.serve(setup.web)
    wrong = dict.fromkeys(LOGINS[kind], "wrong")
    await setup.add(alice, kind, **wrong)

    [save] = await setup.save(alice, await setup.entry(alice))

    assert documented.saved == []
    assert save.last_error is not None
    if kind is ServiceKind.OMNIVORE:
        assert (save.status, save.last_error.code) == (SaveStatus.FAILED, "service.refused")
    else:
        assert (save.status, save.last_error.code) == (SaveStatus.PENDING, "service.login_refused")
        assert save.next_attempt_at == setup.now + MINUTE


async def test_tags_are_those_of_the_service_and_the_labels_of_the_article(setup: ServiceSetup) -> None:
    documented, alice = DocumentedService(LINKDING), await setup.reader()
    documented.serve(setup.web)
    await setup.add(alice, LINKDING, token=TOKEN, tags="feeds, to read")
    entry = await setup.entry(alice)
    label = await make_label(setup.db, alice.id, "science")
    await apply_marks(setup.db, alice.id, [entry], EntryMarks(add_labels=(label.id,)), setup.now)

    await setup.save(alice, entry)

    assert documented.saved[0]["tag_names"] == ["feeds", "to-read", "science"]


async def test_wallabag_is_asked_for_a_token_once_for_many_articles(setup: ServiceSetup) -> None:
    documented, alice = DocumentedService(ServiceKind.WALLABAG), await setup.reader()
    documented.serve(setup.web)
    await setup.add(alice, ServiceKind.WALLABAG, **LOGINS[ServiceKind.WALLABAG])
    wanted = [await setup.entry(alice, guid=guid) for guid in "abc"]

    await setup.save(alice, *wanted)

    assert (len(documented.saved), documented.tokens_given) == (3, 1)


async def test_an_article_is_sent_once_however_often_it_is_saved(setup: ServiceSetup) -> None:
    documented, alice = DocumentedService(LINKDING), await setup.reader()
    documented.serve(setup.web)
    await setup.add(alice, LINKDING, token=TOKEN)
    entry = await setup.entry(alice)

    await setup.services.save(alice.id, [entry, entry], None)
    await setup.save(alice, entry)
    await setup.save(alice, entry)

    assert len(documented.saved) == 1


async def test_a_service_that_is_away_is_tried_again_and_given_up_in_the_end(setup: ServiceSetup) -> None:
    alice = await setup.reader()
    service = await setup.add(alice, LINKDING, token=TOKEN)
    setup.web.serve("/api/bookmarks/", Answer(status=500))
    [save] = await setup.save(alice, await setup.entry(alice))
    assert (save.status, save.attempts, save.next_attempt_at) == (SaveStatus.PENDING, 1, setup.now + MINUTE)

    while save.next_attempt_at is not None:
        setup.now = save.next_attempt_at
        [save] = await setup.send()

    assert (save.status, save.attempts, save.http_status) == (SaveStatus.FAILED, MAX_ATTEMPTS, 500)
    assert len(setup.web.requests) == MAX_ATTEMPTS
    DocumentedService(LINKDING).serve(setup.web)
    assert await setup.services.retry(alice.id, service.id) == 1
    [save] = await setup.send()
    assert save.status is SaveStatus.SAVED


async def test_saving_again_what_failed_tries_it_again(setup: ServiceSetup) -> None:
    alice = await setup.reader()
    await setup.add(alice, LINKDING, token=TOKEN)
    setup.web.serve("/api/bookmarks/", Answer(status=400))
    entry = await setup.entry(alice)
    [save] = await setup.save(alice, entry)
    assert (save.status, str(save.last_error)) == (SaveStatus.FAILED, "the service answered with HTTP 400")

    DocumentedService(LINKDING).serve(setup.web)
    [save] = await setup.save(alice, entry)

    assert save.status is SaveStatus.SAVED


async def test_a_wrong_password_is_not_sent_with_every_waiting_article(setup: ServiceSetup) -> None:
    documented, alice = DocumentedService(LINKDING), await setup.reader()
    documented.serve(setup.web)
    service = await setup.add(alice, LINKDING, token="wrong")
    wanted = [await setup.entry(alice, guid=guid) for guid in "abc"]

    await setup.save(alice, *wanted)
    await setup.send()

    assert len(setup.web.requests) == 1
    await setup.services.change(alice.id, service.id, written={"address": setup.web.url(""), "token": TOKEN})
    saves = await setup.send()
    assert [save.status for save in saves] == [SaveStatus.SAVED] * 3


async def test_a_redirect_is_not_followed_and_said(setup: ServiceSetup) -> None:
    alice = await setup.reader()
    await setup.add(alice, LINKDING, token=TOKEN)
    setup.web.serve("/elsewhere", Answer(status=201))
    setup.web.serve("/api/bookmarks/", Answer(status=302, headers={"Location": setup.web.url("/elsewhere")}))

    [save] = await setup.save(alice, await setup.entry(alice))

    assert save.last_error is not None
    assert save.last_error.code == "service.redirects"
    assert setup.web.seen("/elsewhere") == []


async def test_a_service_at_a_private_address_is_never_called(db: Database) -> None:
    async with Web() as web, open_client(AddressPolicy()) as client:
        setup = ServiceSetup(db, client, web)
        alice = await setup.reader()
        await setup.add(alice, LINKDING, token=TOKEN)

        [save] = await setup.save(alice, await setup.entry(alice))

    assert (save.status, web.requests) == (SaveStatus.FAILED, [])
    assert "private" in str(save.last_error)


async def test_one_process_at_a_time_sends_a_save_and_a_lost_claim_records_nothing(setup: ServiceSetup) -> None:
    alice = await setup.reader()
    await setup.add(alice, LINKDING, token=TOKEN)
    await setup.services.save(alice.id, [await setup.entry(alice)], None)

    _, [taken] = await take_saves(setup.db, setup.now, 10, 10)
    assert (await take_saves(setup.db, setup.now, 10, 10))[1] == []

    _, [again] = await take_saves(setup.db, setup.now + LEASE + timedelta(seconds=1), 10, 10)
    assert not await record_saved(setup.db, taken, 201, setup.now)
    assert await record_saved(setup.db, again, 201, setup.now)


async def test_secrets_are_encrypted_and_never_shown(setup: ServiceSetup) -> None:
    alice = await setup.reader()
    service = await setup.add(alice, LINKDING, token=TOKEN)

    shown = await setup.services.shown_options(service)

    assert TOKEN not in service.options.value
    assert (shown.values["address"], shown.kept) == (setup.web.url("/"), {"token"})
    assert TOKEN not in repr(service) + repr(shown)


async def test_a_secret_stays_when_it_is_left_empty_but_is_not_sent_to_another_address(setup: ServiceSetup) -> None:
    documented, alice = DocumentedService(LINKDING), await setup.reader()
    documented.serve(setup.web)
    service = await setup.add(alice, LINKDING, token=TOKEN)

    await setup.services.change(alice.id, service.id, name="Links", written={"address": setup.web.url("")})
    with pytest.raises(BadInput) as refused:
        await setup.services.change(alice.id, service.id, written={"address": "https://evil.example"})

    assert refused.value.field == "token"
    [save] = await setup.save(alice, await setup.entry(alice))
    assert (save.status, len(documented.saved)) == (SaveStatus.SAVED, 1)


async def test_another_key_fails_the_save_with_the_reason(setup: ServiceSetup) -> None:
    alice = await setup.reader()
    await setup.add(alice, LINKDING, token=TOKEN)
    object.__setattr__(setup.services.sender, "encryption", with_key("another"))

    [save] = await setup.save(alice, await setup.entry(alice))

    assert save.status is SaveStatus.FAILED
    assert "secret key" in str(save.last_error)


async def test_charlie_can_neither_use_alices_service_nor_save_her_articles(setup: ServiceSetup) -> None:
    alice, charlie = await setup.reader("alice"), await setup.reader("charlie")
    documented = DocumentedService(LINKDING)
    documented.serve(setup.web)
    service, entry = await setup.add(alice, LINKDING, token=TOKEN), await setup.entry(alice)
    await setup.add(charlie, LINKDING, token=TOKEN)

    for call in (
        setup.services.one(charlie.id, service.id),
        setup.services.change(charlie.id, service.id, name="mine"),
        setup.services.delete(charlie.id, service.id),
        setup.services.saves(charlie.id, service.id, 1000, 10),
        setup.services.retry(charlie.id, service.id),
        setup.services.save(charlie.id, [entry], [service.id]),
    ):
        with pytest.raises(NotFound):
            await call
    queued = await setup.services.save(charlie.id, [entry], None)
    await setup.services.save(alice.id, [entry], None)

    assert queued.entries == 0
    assert await setup.services.saves_of_entry(charlie.id, entry) == []
    assert len(await setup.send()) == 1


async def test_an_article_that_the_user_no_longer_sees_is_not_sent(setup: ServiceSetup) -> None:
    alice = await setup.reader()
    await setup.add(alice, LINKDING, token=TOKEN)
    await setup.services.save(alice.id, [await setup.entry(alice, link=None)], None)

    [save] = await setup.send()

    assert (save.status, setup.web.requests) == (SaveStatus.FAILED, [])


async def test_services_are_limited_in_number(setup: ServiceSetup) -> None:
    alice = await setup.reader()
    for _ in range(MAX_COUNTS["services"]):
        await setup.add(alice, LINKDING, token=TOKEN)

    with pytest.raises(LimitExceeded):
        await setup.add(alice, LINKDING, token=TOKEN)


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        (LINKDING, "address", "ftp://example.org"),
        (LINKDING, "address", "https://alice:secret@example.org"),
        (LINKDING, "token", ""),
        (LINKDING, "token", "a\r\nX-Injected: 1"),
        (LINKDING, "token", "x" * 5000),
        (LINKDING, "tags", "a\x00b"),
        (ServiceKind.RAINDROP, "collection", "one"),
        (ServiceKind.INSTAPAPER, "username", ""),
    ],
)
async def test_an_option_that_cannot_be_used_is_refused_by_name(
    setup: ServiceSetup, kind: ServiceKind, field: str, value: str
) -> None:
    alice = await setup.reader()

    with pytest.raises(BadInput) as refused:
        await setup.add(alice, kind, **(LOGINS[kind] | {field: value}))

    assert refused.value.field == field


async def test_a_response_that_is_no_json_is_a_failure_where_the_service_answers_with_json(setup: ServiceSetup) -> None:
    alice = await setup.reader()
    await setup.add(alice, ServiceKind.RAINDROP, token=TOKEN)
    bodies = [b"<html>", b"", b'{"result": false, "errorMessage": "\\u0000no"}']

    def answer(seen: ReceivedRequest) -> Answer:
        return Answer(bodies.pop(), 200)

    setup.web.serve("/rest/v1/raindrop", answer)
    saves = await setup.save(alice, *[await setup.entry(alice, guid=guid) for guid in "abc"])

    assert [save.status for save in saves] == [SaveStatus.FAILED] * 3
