"""Content handed on to other programs. In: new entries. Out: items, each handed out as its pool promises."""
