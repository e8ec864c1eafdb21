"""Where the state of a thread pool says what threads took that was meant for others."""

from ... import abi

LAST_STOLEN, N_STOLEN = range(abi.NATIVE_SLEEP + 1, abi.NATIVE_SLEEP + 3)
"""The number of the last offer of which a thread took a chunk of another's, and how many there
were. They lie beside what changes when a thread falls asleep."""
