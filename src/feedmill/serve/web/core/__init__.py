"""Parts that all pages share: rendering, layout, forms, flash messages, errors, static files."""
