"""The machine code that walks a plan's table, alone or with a thread pool."""
