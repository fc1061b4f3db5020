"""`feedmill settings`: the effective settings, secrets hidden."""

import json

import click
from pydantic import SecretStr

from feedmill.cli.context import Context, pass_context
from feedmill.logs import HIDDEN, without_secrets
from feedmill.settings import PREFIX, Settings


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_context
def settings(context: Context, as_json: bool) -> None:
    """Print every setting with its effective value, secrets hidden."""
    values = {name: shown(getattr(context.settings, name)) for name in Settings.model_fields}
    if as_json:
        click.echo(json.dumps(values, ensure_ascii=False, indent=2))
        return
    for name, field in Settings.model_fields.items():
        click.echo(f"{name} = {json.dumps(values[name], ensure_ascii=False)}")
        click.secho(f"    {PREFIX}{name.upper()}: {field.description}", dim=True)


def shown(value: object) -> object:
    """A setting's value fit to be printed."""
    match value:
        case SecretStr():
            return HIDDEN if value.get_secret_value() else ""
        case bool() | int() | float() | None:
            return value
        case tuple():
            return ", ".join(str(part) for part in value)
    return without_secrets(str(value))
