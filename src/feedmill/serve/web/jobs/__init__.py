"""`/jobs` and `/refresh-all`: starting and watching jobs."""
