"""Compiled templates are kept between runs of the tests: compiling all of them takes a second in each worker."""

from hashlib import sha256
from pathlib import Path

import jinja2

from feedmill.serve.web.core import jinja_environment

FOLDER = Path(__file__).parents[3] / ".pytest_cache" / "templates"


def keep_compiled_templates() -> None:
    """Jinja looks at the source of a template, but not at the options of its environment: these are in the path."""
    options = sha256(Path(jinja_environment.__file__).read_bytes()).hexdigest()[:16]
    folder = FOLDER / options
    folder.mkdir(parents=True, exist_ok=True)
    jinja_environment.template_environment().bytecode_cache = jinja2.FileSystemBytecodeCache(str(folder))
