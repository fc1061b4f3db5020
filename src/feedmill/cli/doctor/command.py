"""`feedmill doctor`: the command, and how it prints what was found."""

import asyncio
import json
import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

import click

from feedmill.cli.doctor.diagnose import diagnose
from feedmill.cli.doctor.findings import Finding, Severity
from feedmill.cli.output.print_text import print_json_line
from feedmill.cli.startup.context import Context, pass_context
from feedmill.i18n.catalogue import DEFAULT_LANGUAGE
from feedmill.i18n.choose_language import choose_language
from feedmill.i18n.messages import Message
from feedmill.model.control_characters import replace_control_characters
from feedmill.optional_imports import import_by_name

TITLES: Mapping[str, Message] = {
    "machine": Message("doctor.section_machine"),
    "storage": Message("doctor.section_storage"),
    "database": Message("doctor.section_database"),
    "processes": Message("doctor.section_processes"),
    "feeds": Message("doctor.section_feeds"),
    "deliveries": Message("doctor.section_deliveries"),
    "access": Message("doctor.section_access"),
    "backups": Message("doctor.section_backups"),
}
MARKS = {Severity.OK: ("ok  ", "green"), Severity.WARNING: ("WARN", "yellow"), Severity.ERROR: ("FAIL", "red")}
# The variables that say the language of a terminal, the first that is set counts.
LANGUAGE_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_context
def doctor(context: Context, as_json: bool) -> None:
    """Look for everything that is known to go wrong; each finding has the command or setting that helps.

    It changes nothing, and takes seconds. The exit code is 1 if something does not work; warnings leave it at 0.
    """
    found = asyncio.run(diagnose(context.quiet_settings, datetime.now(UTC)))
    problems = [finding for findings in found.values() for finding in findings if finding.severity is Severity.ERROR]
    if as_json:
        records = [_record(section, finding) for section, findings in found.items() for finding in findings]
        print_json_line(json.dumps({"ok": not problems, "findings": records}, ensure_ascii=False))
    else:
        _print(found, _renderer())
    if problems:
        raise click.exceptions.Exit(1)


def _record(section: str, finding: Finding) -> dict[str, str | None]:
    return {
        "section": section,
        "code": finding.code,
        "severity": finding.severity,
        "text": str(finding.text),
        "help": str(finding.remedy) if finding.remedy else None,
    }


def _renderer() -> Callable[[Message], str]:
    """Writes messages in the language of the terminal. Babel is imported for other languages than English only."""
    named = next((os.environ[name] for name in LANGUAGE_VARIABLES if os.environ.get(name)), "")
    language = choose_language(named.partition(".")[0])
    if language == DEFAULT_LANGUAGE:
        return str
    render: Callable[[Message], str] = import_by_name("feedmill.i18n.translator:Translator")(language).render
    return render


def _print(found: Mapping[str, list[Finding]], render: Callable[[Message], str]) -> None:
    for section, findings in found.items():
        if findings:
            click.secho(render(TITLES[section]), bold=True)
        for finding in findings:
            word, color = MARKS[finding.severity]
            click.echo(f"  {click.style(word, fg=color)} {_clean(render(finding.text))}")
            if finding.remedy:
                click.echo(f"       -> {_clean(render(finding.remedy))}")
    severities = [finding.severity for findings in found.values() for finding in findings]
    summary = Message(
        "doctor.summary", errors=severities.count(Severity.ERROR), warnings=severities.count(Severity.WARNING)
    )
    click.echo(render(summary))


def _clean(text: str) -> str:
    """On one line and without control characters: a reason may be the text of another server."""
    return replace_control_characters(" ".join(text.split()))
