"""The same article in several feeds."""
