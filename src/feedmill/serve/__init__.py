"""The HTTP side. In: requests. Out: pages and JSON."""
