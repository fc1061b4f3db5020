"""HTTP parts that the API and the pages share: authentication, limits, headers, server-sent events, metrics, health."""
