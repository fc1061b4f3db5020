"""`feedmill output-feed`: addresses are printed once, and revoked by id."""

import json
from pathlib import Path

import pytest

from tests.cli.command import assert_one_line, feedmill

HUB = ("--set", "websub_hub=https://hub.example.org/", "--set", "public_url=https://feeds.example.org")


@pytest.fixture(scope="module")
def mill_of_alice(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("alice")
    assert feedmill("user", "add", "alice", cwd=folder, typed="correct horse\n").returncode == 0
    return folder


def test_a_feed_is_added_listed_and_revoked(mill_of_alice: Path) -> None:
    lists = feedmill("output-feed", "lists", "alice", cwd=mill_of_alice)
    added = feedmill("output-feed", "add", "alice", "starred", "--name", "Picks", cwd=mill_of_alice)
    listed = feedmill("output-feed", "list", "alice", "--json", cwd=mill_of_alice)
    revoked = feedmill("output-feed", "revoke", "alice", "1", cwd=mill_of_alice)
    empty = feedmill("output-feed", "list", "alice", cwd=mill_of_alice)

    assert lists.stdout.splitlines()[1:] == ["all\tAll articles", "starred\tStarred", "later\tRead later"]
    atom, json_feed = added.stdout.splitlines()
    assert atom.startswith("http://127.0.0.1:8000/output-feeds/")
    assert (atom.endswith("/atom.xml"), json_feed.endswith("/feed.json")) == (True, True)
    record = json.loads(listed.stdout)
    assert (record["id"], record["name"], record["list"], record["announces"]) == (1, "Picks", "starred", False)
    assert atom.split("/")[-2] not in listed.stdout
    assert revoked.stdout == "output feed 1 is revoked\n"
    assert "there are no output feeds" in empty.stdout


def test_what_cannot_be_is_said_in_one_line(mill_of_alice: Path) -> None:
    for arguments in (
        ("add", "alice", "unread"),
        ("add", "alice", "folder/9"),
        ("add", "alice", "all", "--announce"),
        ("add", "nobody", "all"),
        ("revoke", "alice", "99"),
    ):
        assert_one_line(feedmill("output-feed", *arguments, cwd=mill_of_alice), code=2)


def test_a_feed_is_announced_where_a_hub_is_set(mill_of_alice: Path) -> None:
    added = feedmill(*HUB, "output-feed", "add", "alice", "all", "--announce", cwd=mill_of_alice)
    listed = feedmill("output-feed", "list", "alice", "--json", cwd=mill_of_alice)

    assert added.stdout.startswith("https://feeds.example.org/output-feeds/")
    assert json.loads(listed.stdout)["announces"] is True
