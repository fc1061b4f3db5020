"""`feedmill pool`: from a feed to a program, with commands only."""

from feedmill.model.pool import PoolItemState, PoolKey, PoolKind
from feedmill.store.drivers.sqlite import SqliteDatabase
from feedmill.store.pools.items import claim_items
from feedmill.store.pools.lost_items import hold_items
from tests.cli.command_line import CommandLine
from tests.flows.refresh_environment import answer, item
from tests.pools.pool_rows import NOW


async def test_new_entries_are_handed_out(cli: CommandLine) -> None:
    url = cli.web.serve("/feed", answer(item("Rust & co", "<p>ownership</p>"), item("Go", "<p>channels</p>")))
    await cli.ok("pool", "create", "news", "--word", "ownership", "--form", "text")
    await cli.ok("add", url)

    [title] = (await cli.ok("pool", "pop", "news", "titles", "-n", "5", "--who", "alice")).records
    [text] = (await cli.ok("pool", "pop", "news", "contents")).records
    empty = await cli.run("pool", "pop", "news", "titles")

    assert (title["text"], text["text"]) == ("Rust & co", "ownership")
    assert (empty.code, empty.err) == (2, "feedmill: pool_empty: the pool titles of news has nothing to hand out now\n")
    [used] = (await cli.ok("pool", "items", "news", "titles", "used")).records
    assert (used["id"], used["taken_by"].split("/")[0]) == (title["id"], "alice")


async def test_entries_older_than_the_group_are_handed_out_too(cli: CommandLine) -> None:
    await cli.ok("add", cli.web.serve("/feed", answer(item("a", "text"), item("b", "text"))))

    told = (await cli.ok("pool", "create", "all")).out

    assert told == "1 all: 2 titles, 2 contents\n"
    assert (await cli.ok("pool", "list")).out.splitlines()[1].split("\t")[1:5] == [
        "all",
        "titles",
        "at_most_once",
        "2",
    ]


async def test_a_rule_that_names_what_is_not_there_is_told(cli: CommandLine) -> None:
    await cli.ok("add", cli.web.serve("/feed", answer(item("a", "text"))), "--folder", "News/Tech")

    found = await cli.ok("pool", "create", "all", "--folder", "News", "--feed", "1")
    told = await cli.run("pool", "create", "none", "--folder", "New", "--feed", "999")
    changed = await cli.run("pool", "change", "none", "--folder", "Sports")

    assert (found.out, found.err) == ("1 all: 1 titles, 1 contents\n", "")
    assert (told.code, told.out) == (0, "2 none: 0 titles, 0 contents\n")
    assert [line.split(":")[0] for line in told.err.splitlines()] == [
        "there is no feed 999",
        "no feed is in the folder New yet",
    ]
    assert "no feed is in the folder Sports yet" in changed.err


async def test_leases_with_commands(cli: CommandLine) -> None:
    await cli.ok("add", cli.web.serve("/feed", answer(item("a"), item("b"))))
    await cli.ok("pool", "create", "all", "--guarantee", "lease")

    first, second = (await cli.ok("pool", "lease", "all", "titles", "-n", "2")).records
    acked = await cli.ok("pool", "ack", "all", "titles", first["token"], str(first["id"]))
    given = await cli.ok("pool", "nack", "all", "titles", second["token"], str(second["id"]))

    assert (acked.out, given.out) == ("1 of 1 acknowledged\n", "1 of 1 given back\n")
    [group] = (await cli.ok("pool", "list", "--json")).records
    assert {name: group["titles"][name] for name in ("available", "leased", "used")} == {
        "available": 1,
        "leased": 0,
        "used": 1,
    }


async def test_a_group_is_changed_paused_and_deleted(cli: CommandLine) -> None:
    await cli.ok("pool", "create", "news", "--word", "rust", "--since", "2026-01-01")

    await cli.ok(
        "pool", "change", "news", "--name", "late news", "--language", "en", "--kind", "contents", "--size", "9"
    )
    await cli.ok("pool", "pause", "late news")

    [group] = (await cli.ok("pool", "show", "late news")).records
    assert (group["rule"]["words"], group["rule"]["language"]) == (["rust"], "en")
    assert group["rule"]["since"] == "2026-01-01T00:00:00.000Z"
    assert (group["titles"]["size"], group["contents"]["size"], group["paused"]) == (5000, 9, True)
    refused = await cli.run("pool", "pop", "late news", "titles")
    assert "pool_paused" in refused.err
    await cli.ok("pool", "delete", "1", "--yes")
    assert (await cli.run("pool", "show", "late news")).code == 2


async def test_items_held_back_are_listed_and_decided(cli: CommandLine) -> None:
    await cli.ok("add", cli.web.serve("/feed", answer(item("a"), item("b"))))
    await cli.ok("pool", "create", "all", "--on-loss", "release", "--release-after", "90", "--others-rpop")
    db = SqliteDatabase(cli.folder / "data" / "feedmill.db")
    [taken] = await claim_items(db, PoolKey(1, PoolKind.TITLES), 1, PoolItemState.QUEUED, "filler", NOW)
    await hold_items(db, [taken.id], NOW)
    await db.close()

    releasing = (await cli.ok("pool", "list")).out.splitlines()
    await cli.ok("pool", "change", "all", "--on-loss", "hold", "--no-others-rpop")
    header, titles, contents = ((await cli.ok("pool", "list")).out).splitlines()
    [group] = (await cli.ok("pool", "show", "all")).records
    [lost] = (await cli.ok("pool", "lost", "all", "titles")).records
    released = await cli.ok("pool", "lost", "all", "titles", "--release")

    columns = header.split("\t")
    held, state = columns.index("held"), columns.index("state")
    assert releasing[1].split("\t")[state] == "release follows"
    assert [line.split("\t")[held] for line in (titles, contents)] == ["1", "0"]
    assert [line.split("\t")[state] for line in (titles, contents)] == ["held back", "ok"]
    assert (group["on_loss"], group["release_after_seconds"], group["others_rpop"]) == ("hold", 90, False)
    assert (group["titles"]["held"], "counts" in group["titles"]) == (1, False)
    assert (lost["id"], lost["is_held"]) == (taken.id, True)
    assert released.out == "1 available again\n"


async def test_a_right_to_take_is_granted_listed_and_revoked(cli: CommandLine) -> None:
    await cli.ok("pool", "create", "news")
    for name in ("alice", "bob"):
        await cli.ok("user", "add", name, typed="correct horse\n")

    granted = await cli.ok("pool", "grant", "news", "Bob")
    [group] = (await cli.ok("pool", "show", "news")).records
    listed = (await cli.ok("pool", "list")).out.splitlines()
    revoked = await cli.ok("pool", "revoke", "news", "bob")
    again = await cli.ok("pool", "revoke", "news", "bob")

    assert (granted.out, group["takers"]) == ("bob may take from news\n", ["bob"])
    assert (listed[0].split("\t")[-1], listed[1].split("\t")[-1]) == ("takers", "bob")
    assert (revoked.out, again.out) == ("bob may take from news no more\n", "bob had no such right\n")
    assert (await cli.run("pool", "grant", "news", "nobody")).code == 2


async def test_a_rule_by_label_names_the_account_of_the_labels(cli: CommandLine) -> None:
    await cli.ok("user", "add", "alice", typed="correct horse\n")

    refused = await cli.run("pool", "create", "best", "--label", "best")
    unknown = await cli.run("pool", "create", "best", "--label", "best", "--labels-of", "nobody")
    await cli.ok("pool", "create", "best", "--label", "best", "--labels-of", "Alice")
    await cli.ok("pool", "change", "best", "--size", "9")

    assert "needs both --label and --labels-of" in refused.err
    assert "there is no account nobody" in unknown.err
    [group] = (await cli.ok("pool", "show", "best")).records
    assert (group["rule"]["labels"], group["rule"]["labels_of"]) == (["best"], "alice")


async def test_a_key_can_be_limited_to_groups(cli: CommandLine) -> None:
    await cli.ok("pool", "create", "news")
    await cli.ok("user", "add", "alice", typed="correct horse\n")

    assert (await cli.ok("user", "key", "alice", "--pool-group", "news")).out.startswith("fm_")
    assert "no pool group nowhere" in (await cli.run("user", "key", "alice", "--pool-group", "nowhere")).err
