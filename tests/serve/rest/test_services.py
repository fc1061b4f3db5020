"""Services over HTTP: secrets are written and never read, and the outcome of a save is a list."""

from feedmill.model.services.save_service import ServiceKind
from tests.library.services.service_setup import TOKEN, DocumentedService
from tests.scripted_web import Answer
from tests.serve.rest.site import Person, Site
from tests.serve.rest.test_webhooks import FEED, _refresh


async def test_an_entry_is_saved_and_its_outcome_listed(site: Site, alice: Person) -> None:
    documented = DocumentedService(ServiceKind.LINKDING)
    documented.serve(site.web)
    options = {"address": site.web.url("/"), "token": TOKEN, "tags": "feeds"}
    made = (await alice.post("/services", {"kind": "linkding", "name": "Links", "options": options})).json()
    await _refresh(site, alice, Answer(FEED, headers={"Content-Type": "application/rss+xml"}))
    [entry] = (await alice.get("/entries")).json()["items"]

    queued = (await alice.post("/services/save", {"entry_ids": [entry["id"]]})).json()
    await site.app.services.send()

    assert queued == {"entries": 1, "service_ids": [made["id"]]}
    [save] = (await alice.get(f"/services/{made['id']}/saves")).json()["items"]
    assert (save["status"], save["entry_id"], save["http_status"]) == ("saved", entry["id"], 201)
    assert [each["tag_names"] for each in documented.saved] == [["feeds"]]


async def test_secrets_are_never_in_a_response(alice: Person) -> None:
    options = {"address": "https://links.example/", "token": TOKEN}
    answer = await alice.post("/services", {"kind": "linkding", "name": "Links", "options": options})

    read = await alice.get(f"/services/{answer.json()['id']}")

    assert TOKEN not in answer.text + read.text
    assert (read.json()["options"]["address"], read.json()["secrets"]) == ("https://links.example/", ["token"])


async def test_a_missing_option_is_named(alice: Person) -> None:
    answer = await alice.post("/services", {"kind": "linkding", "name": "Links", "options": {"token": TOKEN}})

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "address"
