# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.distribute` that programs of TF1 use."""

from ...training.sessions.server import Server as Server
