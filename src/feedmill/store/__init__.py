"""Entries turned into rows and back. In: values and what to change. Out: values, or one atomic change."""
