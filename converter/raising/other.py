"""Random numbers and spectra.

Not MULTINOMIAL, which has no kernel in a Session.
"""

import numpy as np

from ...graph.core.build import ops
from .registry import raise_rows, raises

raise_rows("""
RANDOM_STANDARD_NORMAL RandomStandardNormal dtype=:0 seed=seed seed2=seed2
RANDOM_UNIFORM RandomUniform dtype=:0 seed=seed seed2=seed2
""")


@raises("RFFT2D", own=(1,))
def rfft2d(node, x, _):
    """A spectrum of two axes, filled up with zeros to the length that is asked for."""
    length, sizes = node.known(1), node.sizes(0)
    if length is None:
        return ops.RFFT2D(x, node.operand(1))
    node.require(None not in sizes[-2:], f"rows and columns must be known, got {sizes}")
    missing = [max(int(n) - int(size or 0), 0) for n, size in zip(length, sizes[-2:], strict=True)]
    if any(missing):
        pairs = [[0, 0]] * (len(sizes) - 2) + [[0, n] for n in missing]
        x = ops.Pad(x, np.array(pairs, np.int32))
    return ops.RFFT2D(x, length)
