"""Computes when a feed is fetched next, explains it, and detects outages of our own network."""
