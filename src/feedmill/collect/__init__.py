"""Fetches feeds that are due, parses them and stores the result in one atomic write."""
