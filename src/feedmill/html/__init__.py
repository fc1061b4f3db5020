"""All work on HTML: tags, links, images, plain text, sanitizing, selectors, article extraction. Pure."""
