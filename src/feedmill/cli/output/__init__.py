"""Output of commands: text, tables, JSON records, progress."""
