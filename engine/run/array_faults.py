"""What can go wrong with elements of tensor arrays and stacks, beside what faults.py has."""

ALREADY_READ = 33
ALREADY_WRITTEN = 34
CLEARED_BY_READ = 35
WITHOUT_VALUE = 36
"""The fault's value is the index of the element."""
NO_ELEMENT = 37
NO_ROOM = 38
"""Of a stack; the limit is how many elements have room."""
