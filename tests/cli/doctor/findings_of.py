"""What the doctor finds in an installation, and how to put rows into its database."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Table

from feedmill.cli.doctor.diagnose import diagnose
from feedmill.cli.doctor.findings import Finding, Severity
from feedmill.i18n.translator import Translator
from feedmill.model.timestamps import to_iso
from feedmill.settings import Settings
from feedmill.store.database import Database, Step

NOW = datetime(2026, 10, 1, 12, tzinfo=UTC)


async def findings_of(settings: Settings, now: datetime = NOW) -> dict[str, Finding]:
    """All findings by their code; one that is not ok says what helps, in every language."""
    found = [finding for findings in (await diagnose(settings, now)).values() for finding in findings]
    for finding in found:
        assert (finding.remedy is None) == (finding.severity is Severity.OK)
        assert_is_written(finding)
    return {finding.code: finding for finding in found}


def assert_is_written(finding: Finding) -> None:
    """Checks that both texts exist and have all their parameters."""
    for language in ("en", "zh_CN"):
        for message in filter(None, (finding.text, finding.remedy)):
            text = Translator(language).render(message)
            assert text != message.code
            assert "…" not in text


def is_warning(found: dict[str, Finding], code: str, *words: str) -> bool:
    return _is(found, code, Severity.WARNING, words)


def is_error(found: dict[str, Finding], code: str, *words: str) -> bool:
    return _is(found, code, Severity.ERROR, words)


def _is(found: dict[str, Finding], code: str, severity: Severity, words: tuple[str, ...]) -> bool:
    """Whether it is found, with these words in its text or in what helps."""
    finding = found.get(code)
    if finding is None or finding.severity is not severity:
        return False
    told = f"{finding.text} {finding.remedy}"
    return all(word in told for word in words)


async def insert(db: Database, table: Table, **values: Any) -> None:
    """Inserts a row; times are given as they are compared."""
    row = {name: to_iso(value) if isinstance(value, datetime) else value for name, value in values.items()}
    await db.batch([Step(table.insert().values(**row))])
