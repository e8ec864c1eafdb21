# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""Models for TensorFlow Lite Micro: C++ sources and the size of the arena."""

from .tools.micro.arena import Arena as Arena
from .tools.micro.arena import arena_of as arena_of
from .tools.micro.sources import c_array as c_array
from .tools.micro.sources import op_resolver as op_resolver
from .tools.micro.sources import sources as sources
