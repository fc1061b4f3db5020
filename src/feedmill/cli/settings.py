"""`feedmill settings`: print the effective settings, secrets hidden."""

import json

import click

from feedmill.cli.startup.context import Context, pass_context
from feedmill.library.admin.effective_settings import effective_settings
from feedmill.settings import PREFIX


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_context
def settings(context: Context, as_json: bool) -> None:
    """Print every setting with its effective value, secrets hidden."""
    found = effective_settings(context.settings)
    if as_json:
        click.echo(json.dumps({one.name: one.value for one in found}, ensure_ascii=False, indent=2))
        return
    for one in found:
        click.echo(f"{one.name} = {json.dumps(one.value, ensure_ascii=False)}")
        click.secho(f"    {PREFIX}{one.name.upper()}: {one.description}", dim=True)
