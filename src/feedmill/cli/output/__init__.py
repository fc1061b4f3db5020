"""What commands print: text, tables, JSON records, progress."""
