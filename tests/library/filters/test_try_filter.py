"""A filter is tried on stored entries before it is saved: how many match, of which feeds, and which."""

from dataclasses import dataclass
from datetime import timedelta

import pytest

from feedmill.errors import NotFound
from feedmill.library.entries.marks import apply_marks
from feedmill.library.filters import try_filter as trying
from feedmill.library.filters.conditions import BadCondition
from feedmill.library.filters.try_filter import FilterTrial, next_window, try_filter
from feedmill.library.subscriptions.change_subscription import unsubscribe
from feedmill.model.entry_marks import EntryMarks
from feedmill.model.filters.entry_filter import ALL_FEEDS, FilterScope, ScopeKind
from feedmill.model.user import User
from feedmill.store.database import Database
from tests.library.filters.counting_clock import CountingClock
from tests.library.small_library import NOW, SmallLibrary

NO_TIME, ALL_TIME = timedelta(0), timedelta(hours=1)


@dataclass
class Stored:
    """Alice reads two feeds, one of them in a folder; Charlie reads another."""

    db: Database
    library: SmallLibrary
    alice: User
    charlie: User
    subscriptions: dict[str, int]
    folder: int

    @classmethod
    async def of(cls, db: Database) -> "Stored":
        library = SmallLibrary(db)
        alice, charlie = await library.person("alice"), await library.person("charlie")
        feeds = {name: await library.feed(name) for name in ("pots", "looms", "secrets")}
        own = {name: await library.subscribe(alice, feeds[name], name) for name in ("pots", "looms")}
        own["secrets"] = await library.subscribe(charlie, feeds["secrets"], "secrets")
        folder = await library.folder(alice, "Craft", own["looms"])
        await library.arrive(feeds["pots"], "kilns one", "kilns two", "glaze", language="en")
        await library.arrive(feeds["looms"], "kilns for wool", "weaving", "人工智能新闻", language="de")
        await library.arrive(feeds["secrets"], "kilns of charlie")
        return cls(db, library, alice, charlie, own, folder)

    async def try_it(self, condition: str, scope: FilterScope = ALL_FEEDS) -> FilterTrial:
        return await try_filter(self.db, self.alice.id, condition, scope, NOW, ALL_TIME)


@pytest.fixture
async def stored(any_db: Database) -> Stored:
    return await Stored.of(any_db)


async def test_a_trial_counts_by_feed_and_shows_the_newest(stored: Stored) -> None:
    trial = await stored.try_it("kilns")

    assert (trial.total, trial.is_complete, trial.looked_at) == (3, True, 0)
    assert [(feed.title, feed.subscription_id, feed.count) for feed in trial.feeds] == [
        ("pots", stored.subscriptions["pots"], 2),
        ("looms", stored.subscriptions["looms"], 1),
    ]
    assert [entry.title for entry in trial.entries] == ["kilns for wool", "kilns two", "kilns one"]


@pytest.mark.parametrize(
    ("condition", "titles"),
    [
        ("人工智能", {"人工智能新闻"}),
        ("kilns lang:de", {"kilns for wool"}),
        ("lang:de", {"kilns for wool", "weaving", "人工智能新闻"}),
        ("-kilns", {"glaze", "weaving", "人工智能新闻"}),
        ("kilns OR lang:de", {"kilns one", "kilns two", "kilns for wool", "weaving", "人工智能新闻"}),
        ("kilns -wool", {"kilns one", "kilns two"}),
        ("feed:looms", {"kilns for wool", "weaving", "人工智能新闻"}),
        ("after:2000 kilns", {"kilns one", "kilns two", "kilns for wool"}),
        ("before:2000 kilns", set()),
        ("nothing", set()),
        ("/kilns (one|two)/", {"kilns one", "kilns two"}),
        ("kilns /for|one/", {"kilns one", "kilns for wool"}),
        ("kilns -/one/", {"kilns two", "kilns for wool"}),
        ("in:title:/^w/ OR glaze", {"weaving", "glaze"}),
    ],
)
async def test_every_condition_can_be_tried(stored: Stored, condition: str, titles: set[str]) -> None:
    trial = await stored.try_it(condition)

    assert {entry.title for entry in trial.entries} == titles
    assert (trial.total, trial.is_complete) == (len(titles), True)
    assert sum(feed.count for feed in trial.feeds) == trial.total


async def test_a_trial_keeps_to_the_scope(stored: Stored) -> None:
    in_folder = await stored.try_it("kilns", FilterScope(ScopeKind.FOLDER, stored.folder))
    in_feed = await stored.try_it("/kilns/", FilterScope(ScopeKind.FEED, stored.subscriptions["pots"]))

    assert [entry.title for entry in in_folder.entries] == ["kilns for wool"]
    assert [entry.title for entry in in_feed.entries] == ["kilns two", "kilns one"]
    with pytest.raises(NotFound):
        await stored.try_it("kilns", FilterScope(ScopeKind.FEED, stored.subscriptions["secrets"]))
    with pytest.raises(BadCondition):
        await stored.try_it("is:unread")


async def test_charlie_finds_only_what_is_his(stored: Stored) -> None:
    for condition in ("kilns", "/kilns/", "-glaze"):
        trial = await try_filter(stored.db, stored.charlie.id, condition, ALL_FEEDS, NOW, ALL_TIME)

        assert [entry.title for entry in trial.entries] == ["kilns of charlie"]
        assert trial.total == 1


@pytest.mark.parametrize(("condition", "total"), [("-nothing", 6), ("/kilns/", 3), ("kilns /o/", 3)])
async def test_a_trial_that_runs_out_of_time_says_how_far_it_came(
    stored: Stored, monkeypatch: pytest.MonkeyPatch, condition: str, total: int
) -> None:
    monkeypatch.setattr(trying, "WINDOW", 2)
    monkeypatch.setattr(trying, "READ_AT_ONCE", 2)

    part = await try_filter(stored.db, stored.alice.id, condition, ALL_FEEDS, NOW, NO_TIME)
    whole = await try_filter(stored.db, stored.alice.id, condition, ALL_FEEDS, NOW, ALL_TIME)

    assert not part.is_complete
    assert part.total < total
    assert part.oldest_at is not None
    shown = {entry.title for entry in part.entries}
    assert shown >= {entry.title for entry in whole.entries if entry.sort_at > part.oldest_at}
    assert shown <= {entry.title for entry in whole.entries if entry.sort_at >= part.oldest_at}
    assert (whole.total, whole.is_complete, len(whole.entries)) == (total, True, total)


@pytest.mark.parametrize("condition", ["/kilns|glaze|w|新/", "kilns /n/"])
async def test_a_slow_expression_ends_a_trial_between_two_entries(stored: Stored, condition: str) -> None:
    limit, clock = timedelta(seconds=3), CountingClock()

    part = await try_filter(stored.db, stored.alice.id, condition, ALL_FEEDS, NOW, limit, clock)

    assert (part.is_complete, part.total, part.looked_at) == (False, 2, 2)
    assert part.oldest_at == part.entries[-1].sort_at


async def test_many_matches_are_counted_by_the_index(stored: Stored, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trying, "FEW", 1)

    trial = await stored.try_it("kilns -wool")

    assert (trial.total, [(feed.title, feed.count) for feed in trial.feeds]) == (2, [("pots", 2)])


async def test_matches_in_a_feed_that_was_left_do_not_end_the_count(
    stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trying, "FEW", 1)
    left = await stored.library.feed("left")
    subscription = await stored.library.subscribe(stored.alice, left)
    [kept] = await stored.library.arrive(left, "kilns that alice keeps", at=NOW)
    await apply_marks(stored.db, stored.alice.id, [kept], EntryMarks(starred=True), NOW)
    await unsubscribe(stored.db, stored.alice.id, subscription)

    trial = await stored.try_it("kilns")

    assert (trial.total, trial.is_complete) == (3, True)


async def test_many_matches_are_counted_in_windows_until_time_is_up(
    stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trying, "FEW", 1)
    monkeypatch.setattr(trying, "COUNTED_WINDOW", 2)
    monkeypatch.setattr(trying, "LARGEST_GROWTH", 1)

    part = await try_filter(stored.db, stored.alice.id, "kilns", ALL_FEEDS, NOW, NO_TIME)
    whole = await try_filter(stored.db, stored.alice.id, "kilns", ALL_FEEDS, NOW, ALL_TIME)

    assert (whole.total, whole.is_complete) == (3, True)
    assert (part.total < 3, part.is_complete) == (True, False)
    assert part.oldest_at is not None


@pytest.mark.parametrize(
    ("took", "left", "size"),
    [(0.1, 1.4, 400_000), (0.5, 1.0, 200_000), (1.0, 0.75, 75_000), (2.0, 0.1, 50_000), (0.0, 1.5, 400_000)],
)
def test_a_window_is_as_large_as_there_is_time_for(took: float, left: float, size: int) -> None:
    assert next_window(100_000, took, left) == size
