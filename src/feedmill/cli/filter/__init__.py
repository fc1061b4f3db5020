"""The command `feedmill filter`."""

from feedmill.cli.filter.command import filter
from feedmill.cli.filter.filter_jobs import apply, undo
from feedmill.cli.filter.manage_filters import add, disable, edit, enable, list_filters, order, remove, show
from feedmill.cli.filter.mutes import follow, mute, unmute
from feedmill.cli.filter.try_filter import try_condition

for command in (add, apply, disable, edit, enable, follow, list_filters, mute, order, remove, show):
    filter.add_command(command)
for command in (try_condition, undo, unmute):
    filter.add_command(command)

__all__ = ["filter"]
