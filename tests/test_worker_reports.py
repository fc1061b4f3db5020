"""What a worker reports of a test."""

import pytest

from tests.worker_reports import is_needed, without_details


def report(when: str, outcome: str) -> pytest.TestReport:
    sections = [("Captured stdout call", "a line")]
    return pytest.TestReport("tests/x.py::test", ("x.py", 1, "test"), {"slow": 1}, outcome, None, when, sections)  # type: ignore[arg-type]


@pytest.mark.parametrize("outcome", ["failed", "skipped"])
@pytest.mark.parametrize("when", ["setup", "call", "teardown"])
def test_what_did_not_pass_is_reported_with_all_details(when: str, outcome: str) -> None:
    reported = without_details(report(when, outcome))

    assert is_needed(reported)
    assert reported.sections == [("Captured stdout call", "a line")]
    assert reported.keywords == {"slow": 1}


def test_of_a_test_that_passed_its_call_is_reported() -> None:
    assert [when for when in ("setup", "call", "teardown") if is_needed(report(when, "passed"))] == ["call"]
    assert without_details(report("call", "passed")).sections == []
