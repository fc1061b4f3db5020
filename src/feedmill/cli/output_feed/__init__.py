"""The command `feedmill output-feed`."""

from feedmill.cli.output_feed.manage_feeds import output_feed

__all__ = ["output_feed"]
