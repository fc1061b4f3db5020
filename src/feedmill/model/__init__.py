"""Frozen values, one file per noun. They import nothing else of Feedmill."""
