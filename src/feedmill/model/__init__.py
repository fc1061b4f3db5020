"""Frozen values that everything else speaks of. They import nothing of ours."""
