"""The table of feeds, editing a feed, and feed health."""
