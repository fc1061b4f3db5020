"""Secret addresses: who makes and revokes them, guesses, images, and conditional requests."""

from dataclasses import replace
from datetime import timedelta
from email.utils import format_datetime, parsedate_to_datetime
from hashlib import sha256
from urllib.parse import urlsplit

import pytest
from sqlalchemy import select

from feedmill.archive.object_keys import image_key
from feedmill.library.users.manage_users import sign_out_elsewhere
from feedmill.model.pool import PoolRule
from feedmill.model.timestamps import to_iso
from feedmill.model.user import DISABLED, Actor, Caller, RequestOrigin
from feedmill.store.admin.users import update_user
from feedmill.store.database import Step
from feedmill.store.dialect import insert
from feedmill.store.schema import image_tasks, output_feeds
from tests.archive.images import sample_images
from tests.library.small_library import NOW, SmallLibrary
from tests.serve.output_feeds.output_reader import OutputReader, make_output_feed, secret_in, titles_in
from tests.serve.rest.site import ORIGIN, Person, Site

PICTURE = "https://mills.example.org/wheel.png"


@pytest.fixture
async def alice(site: Site) -> Person:
    return await site.person("alice")


@pytest.fixture
async def mills(site: Site, library: SmallLibrary, alice: Person) -> int:
    feed = await library.feed("mills")
    await library.subscribe(alice.user, feed)
    await library.arrive(feed, "a", content_html=f'<img src="{PICTURE}"><img src="https://x.example/y.png">')
    return feed


@pytest.fixture
async def reader(site: Site, alice: Person, mills: int) -> OutputReader:
    return await make_output_feed(site, alice, "all")


async def test_the_secret_is_long_and_only_its_digest_is_stored(site: Site, reader: OutputReader) -> None:
    secret = secret_in(reader.atom_url)
    [row] = await site.app.db.query(select(output_feeds))

    assert len(secret) == 43  # 256 bits in base64
    assert row["secret_hash"] == sha256(secret.encode()).hexdigest()
    assert [value for value in row.values() if secret in str(value)] == []
    assert urlsplit(reader.json_url).path == f"/output-feeds/{secret}/feed.json"


async def test_revocation_holds_at_once_and_readers_are_told_that_it_is_for_good(
    alice: Person, reader: OutputReader
) -> None:
    first = await reader.atom()

    await alice.delete(f"/output-feeds/{reader.id}")
    again = [await reader.atom(If_None_Match=first.headers["etag"]), await reader.get(reader.json_url)]

    assert first.headers["cache-control"] == "private, no-cache"
    assert [answer.status_code for answer in again] == [410, 410]
    assert (await alice.get("/output-feeds")).json()["items"] == []
    assert (await alice.delete(f"/output-feeds/{reader.id}")).status_code == 404


async def test_nobody_lists_or_revokes_the_feeds_of_another(site: Site, alice: Person, reader: OutputReader) -> None:
    charlie = await site.person("charlie")

    answer = await charlie.delete(f"/output-feeds/{reader.id}")

    assert answer.status_code == 404
    assert (await charlie.get("/output-feeds")).json()["items"] == []
    assert (await reader.atom()).status_code == 200
    assert [feed["list"] for feed in (await alice.get("/output-feeds")).json()["items"]] == ["all"]


async def test_a_guess_is_not_found_and_after_many_it_has_to_wait_but_the_right_address_never(
    site: Site, reader: OutputReader
) -> None:
    stranger = await site.browser()
    wrong = reader.atom_url.replace(secret_in(reader.atom_url), "A" * 43)

    guesses = [await stranger.get(wrong) for _ in range(7)]
    nonsense = [await stranger.get(f"/output-feeds/{word}/atom.xml") for word in ("x", "%00", "%ff", "❄", "a" * 3000)]

    assert [guess.status_code for guess in guesses] == [404, 404, 404, 404, 404, 429, 429]
    assert guesses[0].text == "there is nothing at this address"
    assert int(guesses[-1].headers["retry-after"]) >= 1
    assert {answer.status_code for answer in nonsense} == {429}
    assert (await reader.atom()).status_code == 200


async def test_a_wrong_file_or_cursor_is_not_found_and_no_guess(site: Site, reader: OutputReader) -> None:
    base = reader.atom_url.removesuffix("atom.xml")
    urls = [f"{base}rss.xml", f"{base}", base.removesuffix("/"), f"{reader.atom_url}?before=nonsense"]
    urls += [f"{reader.atom_url}?before={cursor}" for cursor in ("LTE", "MQ", "IjIwMjYtMDItMzBUMDA6MDA6MDAuMDAwWiAxIg")]

    statuses = [(await reader.get(url)).status_code for url in urls]

    assert statuses == [404, 404, 404, 404, 404, 200, 404]
    assert (await reader.atom()).status_code == 200


@pytest.mark.parametrize("entries", ["0", "-1", "x", "９", "99999999999999999999", "201", ""])
async def test_any_number_of_entries_is_brought_within_limits(reader: OutputReader, entries: str) -> None:
    answer = await reader.get(f"{reader.atom_url}?entries={entries}")

    assert titles_in(answer) == ["a"]


async def test_a_disabled_user_shows_nothing_until_enabled(site: Site, alice: Person, reader: OutputReader) -> None:
    disabled = replace(alice.user, status=DISABLED)
    await update_user(site.app.db, alice.user, disabled, Actor(), NOW)
    while_disabled = await reader.atom()
    await update_user(site.app.db, disabled, alice.user, Actor(), NOW)

    assert while_disabled.status_code == 404
    assert (await reader.atom()).status_code == 200


async def test_revoking_all_keys_revokes_output_feeds_too(site: Site, alice: Person, reader: OutputReader) -> None:
    who = Caller(alice.user, alice.user.scopes)

    kept = await sign_out_elsewhere(site.app.db, who, RequestOrigin(), NOW)
    revoked = await sign_out_elsewhere(site.app.db, who, RequestOrigin(), NOW, revoke_keys=True)

    assert (kept.keys_revoked, kept.keys_left) == (0, 2)
    assert (revoked.keys_revoked, revoked.keys_left) == (2, 0)
    assert (await reader.atom()).status_code == 410


async def test_a_feed_that_a_key_made_ends_with_the_key(site: Site, alice: Person, reader: OutputReader) -> None:
    [key] = (await alice.get("/api-keys")).json()["items"]

    await alice.delete(f"/api-keys/{key['id']}")

    assert (await reader.atom()).status_code == 410


async def test_a_key_makes_no_feed_of_more_than_it_may_read(site: Site) -> None:
    writer = await site.person("bob", scopes=("write",))
    reading = await site.person("dora", scopes=("read", "write"))
    group = await site.app.pools.create("texts", PoolRule())
    await site.app.pools.grant(group, reading.user)
    child = (await reading.post("/api-keys", {"name": "child", "scopes": ["read", "write"]})).json()["key"]
    with_child = await site.browser(Authorization=f"Bearer {child}")

    answers = [
        await writer.post("/output-feeds", {"list": "all"}),
        await reading.post("/output-feeds", {"list": f"pool/{group.id}"}),
        await with_child.post("/api/output-feeds", json={"list": "all"}),
    ]

    assert [answer.status_code for answer in answers] == [403, 403, 403]


async def test_the_last_use_is_shown(site: Site, alice: Person, reader: OutputReader) -> None:
    await reader.atom(User_Agent="Reader/1.0")

    [feed] = (await alice.get("/output-feeds")).json()["items"]

    assert feed["last_user_agent"] == "Reader/1.0"
    assert feed["last_used_at"] is not None


# --- conditional requests -----------------------------------------------------------------------------------


async def test_an_unchanged_feed_is_304_and_a_changed_one_is_sent(
    site: Site, library: SmallLibrary, mills: int, reader: OutputReader
) -> None:
    first = await reader.atom()
    known = {"If_None_Match": first.headers["etag"]}, {"If_Modified_Since": first.headers["last-modified"]}
    unchanged = [await reader.atom(**headers) for headers in known]

    await library.arrive(mills, "b")
    changed = [await reader.atom(**headers) for headers in known]

    assert [(answer.status_code, answer.content) for answer in unchanged] == [(304, b""), (304, b"")]
    assert unchanged[0].headers["etag"] == first.headers["etag"]
    assert [titles_in(answer) for answer in changed] == [["b", "a"], ["b", "a"]]


async def test_two_changes_in_one_second_have_two_dates(
    library: SmallLibrary, mills: int, reader: OutputReader
) -> None:
    dates = []
    for title in ("b", "c", "d"):
        dates.append(parsedate_to_datetime((await reader.atom()).headers["last-modified"]))
        await library.arrive(mills, title)

    assert dates[0] < dates[1] < dates[2]
    assert titles_in(await reader.atom(If_Modified_Since=format_datetime(dates[2], usegmt=True)))[0] == "d"


async def test_the_etag_counts_before_the_date(reader: OutputReader) -> None:
    first = await reader.atom()
    later = format_datetime(parsedate_to_datetime(first.headers["last-modified"]) + timedelta(days=9), usegmt=True)

    answer = await reader.atom(If_None_Match='"other"', If_Modified_Since=later)

    assert answer.status_code == 200


@pytest.mark.parametrize("date", ["", "yesterday", "Mon, 99 Foo 99999 99:99:99", "\xff", "0" * 5000])
async def test_a_date_that_cannot_be_read_is_ignored(reader: OutputReader, date: str) -> None:
    answer = await reader.client.get(reader.atom_url, headers={b"If-Modified-Since": date.encode("latin-1")})

    assert answer.status_code == 200


async def test_formats_and_pages_have_etags_of_their_own(
    library: SmallLibrary, mills: int, reader: OutputReader
) -> None:
    await library.arrive(mills, "b")
    urls = [reader.atom_url, reader.json_url, f"{reader.atom_url}?entries=1", f"{reader.atom_url}?before=MQ"]

    answers = [await reader.get(url) for url in urls]
    again = [
        await reader.get(url, If_None_Match=answer.headers["etag"]) for url, answer in zip(urls, answers, strict=True)
    ]

    assert len({answer.headers["etag"] for answer in answers}) == 4
    assert ["last-modified" in answer.headers for answer in answers] == [True, True, False, False]
    assert {answer.status_code for answer in again} == {304}


async def test_head_has_the_headers_alone(reader: OutputReader) -> None:
    first = await reader.atom()

    answer = await reader.client.head(reader.atom_url)

    assert (answer.status_code, answer.headers["etag"]) == (200, first.headers["etag"])


async def test_no_script_of_a_text_runs_and_no_search_engine_lists_it(reader: OutputReader) -> None:
    headers = (await reader.atom()).headers

    assert headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-robots-tag"] == "noindex"


# --- images -------------------------------------------------------------------------------------------------


async def test_archived_images_have_signed_addresses_that_end_with_the_feed(
    site: Site, alice: Person, mills: int, reader: OutputReader
) -> None:
    before = await reader.atom()
    await _archive(site, mills)

    [item] = (await reader.json())["items"]
    path = urlsplit(item["content_html"].split('src="')[1].split('"')[0]).path
    shown = await reader.get(path)
    parts = path.split("/")
    forged = [
        await reader.get(f"/output-images/{reader.id + 1}/{'/'.join(parts[3:])}"),
        await reader.get(path[:-5] + "1.png"),
        await reader.get("/".join(["/output-images", parts[2], "0" * 32, *parts[4:]])),
        await reader.get(path.replace("/output-images/", "/app-images/")),
    ]
    changed = await reader.atom(If_None_Match=before.headers["etag"])
    await alice.delete(f"/output-feeds/{reader.id}")

    assert path.startswith(f"/output-images/{reader.id}/")
    assert f'src="{ORIGIN}/output-images/' in item["content_html"]
    assert 'src="https://x.example/y.png"' in item["content_html"]
    assert (shown.status_code, shown.content) == (200, sample_images.PNG)
    assert [answer.status_code for answer in forged] == [404, 404, 404, 404]
    assert changed.status_code == 200
    assert (await reader.get(path)).status_code == 404


async def _archive(site: Site, feed_id: int) -> None:
    body, key = sample_images.PNG, image_key(feed_id, "a", 0, "png")
    await site.app.blobs.put(key, body, "image/png")
    row = {
        "feed_id": feed_id,
        "entry_id": 1,
        "position": 0,
        "original_url": PICTURE,
        "status": "success",
        "object_key": key,
        "size": len(body),
        "sha256": sha256(body).hexdigest(),
        "created_at": to_iso(NOW),
        "updated_at": to_iso(NOW),
    }
    await site.app.db.batch([Step(insert(image_tasks, *row), row)])
