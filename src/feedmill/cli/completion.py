"""`feedmill completion`: print the script with which a shell completes commands, options and names."""

import click
from click.shell_completion import get_completion_class

from feedmill.cli import COMPLETE_VARIABLE

SHELLS = ("bash", "zsh", "fish")


@click.command(short_help="Print a script that completes commands in bash, zsh or fish.")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a script that completes commands, options, feeds and users in a shell.

    \b
    bash: feedmill completion bash > ~/.local/share/bash-completion/completions/feedmill
    zsh:  feedmill completion zsh > a file named _feedmill in a folder of $fpath
    fish: feedmill completion fish > ~/.config/fish/completions/feedmill.fish
    """
    complete = get_completion_class(shell)
    assert complete is not None
    click.echo(complete(ctx.find_root().command, {}, "feedmill", COMPLETE_VARIABLE).source(), nl=False)
