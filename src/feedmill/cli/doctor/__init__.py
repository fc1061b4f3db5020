"""`feedmill doctor`: what is known to go wrong with an installation, and the command or setting that helps."""

from feedmill.cli.doctor.command import doctor

__all__ = ["doctor"]
