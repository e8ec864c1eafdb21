# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""Names of other versions of TensorFlow: `v1` has TF1's, `v2` some of TF2's."""

from ..compat import v1 as v1
from ..compat import v2 as v2
