"""The web pages (Starlette and Jinja): core/ is shared, and each noun has a folder with its pages and templates.

`docs/contributing/add-a-page.md` says how to add a page. A page reads its data through `library/`, never from the
database or our own API. The pages are imported with the first request for one (`serve/lazy_app.py`).

Let errors of `errors.py` propagate: `core/error_pages.py` shows each as a page, or as a fragment for htmx.
"""
