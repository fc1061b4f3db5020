"""What a worker of `make check` reports: one message for a test that passed, where pytest sends six.

Thousands of quick tests would else spend as much time on messages as on themselves.
"""

import pytest
from _pytest.runner import runtestprotocol


def reports_less(config: pytest.Config) -> bool:
    """Whether nobody asks for the time of each phase, or for a file of all of them."""
    is_worker = hasattr(config, "workerinput")
    return is_worker and config.option.durations is None and config.option.xmlpath is None


def run_and_report(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Runs a test as pytest does, and reports what matters of it."""
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if is_needed(report):
            item.ihook.pytest_runtest_logreport(report=without_details(report))


def is_needed(report: pytest.TestReport) -> bool:
    return report.when == "call" or not report.passed


def without_details(report: pytest.TestReport) -> pytest.TestReport:
    """Leaves out what is shown of a failure only: the output, and the words to select a test by."""
    if report.passed:
        report.sections, report.keywords = [], {}
    return report
