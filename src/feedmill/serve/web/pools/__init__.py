"""`/pools`: the dashboard, groups and grants."""
