"""The only door to the web. In: a URL and what we know of it. Out: a typed outcome, never a surprise."""
