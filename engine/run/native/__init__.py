"""The machine code that runs a plan's table, alone or with a thread pool."""
