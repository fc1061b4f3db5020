"""The app and the job port of a request."""

from starlette.requests import Request

from feedmill.app import App
from feedmill.library.jobs.job_port import JobPort


def the_app(request: Request) -> App:
    app: App = request.app.state.app
    return app


def the_jobs(request: Request) -> JobPort:
    work: JobPort = request.app.state.work
    return work
