"""Values about feeds that are handed on to other programs, and about pushes from hubs."""
