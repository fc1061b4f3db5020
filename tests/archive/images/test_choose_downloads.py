"""Which images are taken together."""

from datetime import UTC, datetime, timedelta

from feedmill.archive.images.choose_downloads import IMAGES_PER_HOST, choose_downloads

NOW = datetime(2026, 2, 18, 8, 30, tzinfo=UTC)
GAP = timedelta(seconds=1)


def images(host: str, ids: range) -> list[tuple[int, str]]:
    return [(id, f"https://{host}/{id}.png") for id in ids]


def test_a_host_with_thousands_of_images_does_not_hold_up_the_others() -> None:
    waiting = images("crowded.example", range(1000)) + images("small.example", range(1000, 1002))

    selection = choose_downloads(waiting, 100, GAP, NOW)

    assert selection.taken == [*range(IMAGES_PER_HOST), 1000, 1001]
    assert sorted(id for ids in selection.postponed.values() for id in ids) == list(range(IMAGES_PER_HOST, 1000))


def test_those_who_wait_are_due_when_their_turn_could_come() -> None:
    selection = choose_downloads(images("crowded.example", range(105)), 100, GAP, NOW)

    assert len(selection.postponed) == 10
    assert min(selection.postponed) == NOW + IMAGES_PER_HOST * GAP
    assert all(at >= NOW + ids[0] * GAP for at, ids in selection.postponed.items())


def test_a_chunk_has_its_size_and_the_rest_keeps_its_place() -> None:
    selection = choose_downloads(
        [each for n in range(50) for each in images(f"h{n}.example", range(n * 5, n * 5 + 5))], 100, GAP, NOW
    )

    assert selection.taken == list(range(100))
    assert not selection.postponed


def test_without_a_gap_there_is_no_crowd() -> None:
    selection = choose_downloads(images("one.example", range(100)), 100, timedelta(), NOW)

    assert (len(selection.taken), selection.postponed) == (100, {})


def test_addresses_that_can_not_be_read_are_taken_to_be_refused() -> None:
    assert choose_downloads([(1, "https://[::1"), (2, "x")], 100, GAP, NOW).taken == [1, 2]
