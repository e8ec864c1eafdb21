"""Operations at index tuples of which some are outside, with bad_indices_policy IGNORE."""

import numpy as np

PARAMS = np.arange(6, dtype=np.float32).reshape(3, 2) + 1
POLICY = {"bad_indices_policy": "IGNORE"}
ELEMENTS = [[0, 1], [3, 0], [-1, 0], [2, 1], [0, 2]]
ROWS = [[0], [4], [1], [-1]]
UPDATES = np.arange(8, dtype=np.float32).reshape(4, 2) - 3


def _scatter(name):
    return lambda ops, x: getattr(ops, name)(tensor=x, indices=ROWS, updates=UPDATES, **POLICY)


CASES = {
    "gather/elements": lambda ops, x: ops.GatherNd(params=x, indices=ELEMENTS, **POLICY),
    "gather/rows": lambda ops, x: ops.GatherNd(params=x, indices=[ROWS], **POLICY),
    "scatter/rows": lambda ops, x: ops.ScatterNd(
        indices=ROWS[:3], updates=x, shape=[4, 2], **POLICY
    ),
    **{
        name: _scatter(f"TensorScatter{name.capitalize()}")
        for name in ("add", "sub", "max", "min", "update")
    },
}
"""Name -> function(raw operations, PARAMS)."""
CONVERTED = ("gather/elements", "gather/rows", "scatter/rows", "add", "sub")
