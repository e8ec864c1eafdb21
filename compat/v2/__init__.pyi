# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""Names of TensorFlow 2 that TF1 programs use, too: `import flatlite.compat.v2 as tf2`."""

from ... import lite as lite
from ...compat.v2 import image as image
