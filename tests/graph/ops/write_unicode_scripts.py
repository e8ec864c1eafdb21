"""Writes graph/ops/text/unicode_scripts.txt: what `tf.strings.unicode_script` gives.

    python tests/graph/ops/write_unicode_scripts.py      # with tensorflow-cpu 2.21

The head of the table stays.
"""

# pyright: reportMissingImports=false
from __future__ import annotations

from pathlib import Path

import numpy as np
import tensorflow as tf

TABLE = Path(__file__).parents[3] / "graph/ops/text/unicode_scripts.txt"


def main() -> None:
    """Rewrites the rows: the first number of a run of characters, and their script."""
    head = [line for line in TABLE.read_text().splitlines() if line.startswith("#")]
    numbers = np.arange(0x110000, dtype=np.int32)
    scripts = tf.strings.unicode_script(numbers).numpy()
    starts = [0, *(np.flatnonzero(np.diff(scripts)) + 1)]
    rows = [f"{start} {scripts[start]}" for start in starts]
    TABLE.write_text("\n".join([*head, *rows]) + "\n")


if __name__ == "__main__":
    main()
