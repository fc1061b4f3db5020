"""Processes of the product without the second that a new interpreter takes to import it.

One server for each pytest worker imports the product once and forks a process for each command. Such a process is as
real as any other: it has a process id, streams, signals, a working folder and global state of its own. Only what
happens before `main` is called is not its own: the start of the interpreter and the imports.
"""
