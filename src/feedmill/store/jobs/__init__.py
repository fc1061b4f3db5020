"""Jobs: batches, their progress, and what runs and waits."""
