"""Runs jobs and batches of jobs: in this process, or in workers through Celery."""
