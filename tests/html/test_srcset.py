"""What a `srcset` offers, and how much of it is read."""

from feedmill.html.srcset import MAX_CANDIDATES, MAX_LENGTH, parse_srcset


def test_a_comma_ends_a_candidate_after_white_space_or_an_address() -> None:
    offered = parse_srcset(" ,, a,b.png 1x,  c.png 2x , d.png, e.png 300w,")

    assert [(each.address, each.descriptor) for each in offered] == [
        ("a,b.png", "1x"),
        ("c.png", "2x"),
        ("d.png", ""),
        ("e.png", "300w"),
    ]


def test_commas_alone_offer_nothing() -> None:
    assert parse_srcset("," * 1_000_000) == []


def test_only_the_first_hundred_candidates_count() -> None:
    assert len(parse_srcset("a.png 1x, " * 1000)) == MAX_CANDIDATES


def test_a_candidate_that_reaches_beyond_the_limit_is_left_out() -> None:
    offered = parse_srcset(f"a.png 1x, {'b' * MAX_LENGTH}.png 2x")

    assert [each.address for each in offered] == ["a.png"]
