"""How work gets run. In: jobs, which are ids. Out: the same jobs handed to run/handlers, sooner or later."""
