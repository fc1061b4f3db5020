"""Metrics as Prometheus reads them."""

from feedmill.serve.http.prometheus_text import (
    MetricFamily,
    MetricSample,
    counter,
    gauge,
    gauges,
    histogram,
    render_metrics,
)


def test_a_metric_is_explained_before_its_lines() -> None:
    text = render_metrics([gauges("feeds", "Feeds by status.", "status", {"active": 3, "error": 1})])

    assert text.splitlines() == [
        "# HELP feeds Feeds by status.",
        "# TYPE feeds gauge",
        'feeds{status="active"} 3',
        'feeds{status="error"} 1',
    ]


def test_numbers_keep_their_digits() -> None:
    text = render_metrics([gauge("late", "Late.", 0.125), counter("bytes_total", "Bytes.", 2**53)])

    assert "late 0.125\n" in text
    assert f"bytes_total {2**53}\n" in text


def test_a_name_that_a_person_chose_cannot_break_out_of_a_label() -> None:
    text = render_metrics([MetricFamily("items", "gauge", "Items.", (MetricSample(1, {"group": 'a"b\\c\nd'}),))])

    assert text.splitlines()[-1] == r'items{group="a\"b\\c\nd"} 1'


def test_a_histogram_has_buckets_a_sum_and_a_count() -> None:
    text = render_metrics([histogram("seconds", "Seconds.", {0.05: 1, 1: 2}, count=3, total=4.5)])

    assert text.splitlines()[2:] == [
        'seconds_bucket{le="0.05"} 1',
        'seconds_bucket{le="1"} 2',
        'seconds_bucket{le="+Inf"} 3',
        "seconds_sum 4.5",
        "seconds_count 3",
    ]
