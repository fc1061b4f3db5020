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
    """Print every setting with its effective value; secrets are hidden."""
    found = effective_settings(context.settings)
    if as_json:
        click.echo(json.dumps({setting.name: setting.value for setting in found}, ensure_ascii=False, indent=2))
        return
    for setting in found:
        click.echo(f"{setting.name} = {json.dumps(setting.value, ensure_ascii=False)}")
        click.secho(f"    {PREFIX}{setting.name.upper()}: {setting.description}", dim=True)
