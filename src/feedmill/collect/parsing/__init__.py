"""Turns the bytes of a feed document into a `ParsedFeed`. Pure: no network, no clock."""
