# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.train.experimental`."""

from ...training.python_state import PythonState as PythonState
