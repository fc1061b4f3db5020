"""Long-running parts: what a job does, and what makes jobs when time passes."""
