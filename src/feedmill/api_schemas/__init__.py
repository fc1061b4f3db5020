"""The responses that the HTTP API and its Python client share, one file per noun.

The API returns these models and describes itself by them; the client reads responses into them. They import
pydantic, `model/` and messages and nothing else. Requests, and responses that the client does not read, are defined
beside their routes.
"""
