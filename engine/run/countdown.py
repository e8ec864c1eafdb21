"""How machine code counts the runs that it may begin; abi.py has what every kernel's code knows."""

from .. import abi

RUNS = abi.CONTEXT_WORDS  # of the run context: how many `begin` does before it comes back without
CONTEXT_WORDS = RUNS + 1

NOT_BEGUN = 1 << 62
"""The cursor after `begin` has come back without a run."""
NO_END = 1 << 62
"""As many runs as there may be."""
