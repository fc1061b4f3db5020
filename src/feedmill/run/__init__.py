"""Long-running parts: job handlers, the scheduler, workers, batches, maintenance."""
