# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.audio`."""

from ...graph.functions.signal.audio import decode_wav as decode_wav
from ...graph.functions.signal.audio import encode_wav as encode_wav
