"""Frozen values, one file per noun. Of Feedmill they import only messages."""
