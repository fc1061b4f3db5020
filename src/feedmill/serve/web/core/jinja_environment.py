"""The Jinja environment: finds templates, and defines their globals and filters."""

import re
from functools import cache
from importlib.resources import files

import jinja2
from markupsafe import Markup

from feedmill import __version__
from feedmill.i18n.byte_sizes import format_bytes
from feedmill.i18n.catalogue import language_names
from feedmill.i18n.durations import clock_text
from feedmill.serve.web.core.appearance import APPEARANCE_VALUES
from feedmill.serve.web.core.assets import asset_url
from feedmill.serve.web.sidebar.sidebar import FEED_SCREENS

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8}){0,4}")


def lang_attribute(language: str | None) -> Markup:
    """` lang="de"` for the language that a feed declares; empty if it is not valid."""
    if not language or not _LANGUAGE.fullmatch(language):
        return Markup("")
    return Markup(' lang="{}"').format(language)


@cache
def template_environment() -> jinja2.Environment:
    """The Jinja environment. The template `feeds/edit.html` is the file `feeds/templates/edit.html`."""
    folders = [folder.name for folder in files("feedmill.serve.web").iterdir() if (folder / "templates").is_dir()]
    loaders = {name: jinja2.PackageLoader(f"feedmill.serve.web.{name}") for name in folders}
    environment = jinja2.Environment(
        loader=jinja2.PrefixLoader(loaders),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.globals |= {
        "asset": asset_url,
        "version": __version__,
        "choices": APPEARANCE_VALUES,
        "languages": language_names(),
    }
    environment.globals |= {"feed_screens": FEED_SCREENS}
    environment.filters["lang"] = lang_attribute
    environment.filters["size"] = format_bytes
    environment.filters["clock"] = clock_text
    return environment
