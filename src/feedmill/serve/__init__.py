"""The HTTP server: the JSON API (rest/), the pages (web/) and what both share (http/)."""
