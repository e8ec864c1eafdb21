"""Writes graph/ops/special/joe_kuo.txt, the table that Sobol sequences are made from.

    python tests/graph/ops/write_joe_kuo.py      # with scipy, which ships new-joe-kuo-6.21201

The licence at the head of the table stays.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import stats

TABLE = Path(__file__).parents[3] / "graph/ops/special/joe_kuo.txt"
N_DIMENSIONS = 2111
"""As many as TensorFlow has."""


def main() -> None:
    """Rewrites the rows."""
    head = [line for line in TABLE.read_text().splitlines() if line.startswith("#")]
    source = Path(stats.__file__).with_name("_sobol_direction_numbers.npz")
    with np.load(source) as arrays:
        rows = zip(arrays["poly"][1:N_DIMENSIONS], arrays["vinit"][1:N_DIMENSIONS], strict=True)
        lines = [
            " ".join(map(str, [polynomial, *numbers[: int(polynomial).bit_length() - 1]]))
            for polynomial, numbers in rows
        ]
    TABLE.write_text("\n".join([*head, *lines]) + "\n")


if __name__ == "__main__":
    main()
