"""Samplers of classes, and which of their candidates are right ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from ..core.registry import add_row, op
from ..core.shapes import Shape, known

if TYPE_CHECKING:
    from ..core.protocols import OperationView


def _sampler_shape(op: OperationView) -> list[Shape]:
    n_true, n = (cast("int", op.get_attr(key)) for key in ("num_true", "num_sampled"))
    batch = known(op, 0, 2)[0]
    return [(n,), (batch, n_true), (n,)]


for _kind in ("All", "FixedUnigram", "LearnedUnigram", "LogUniform", "Uniform"):
    add_row(f"{_kind}CandidateSampler", None, _sampler_shape)


@op("ComputeAccidentalHits", shape=lambda op: [(None,)] * 3)
def compute_accidental_hits(
    true_classes: np.ndarray, candidates: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of right classes that are candidates, their last places among these, and -FLT_MAX."""
    positions = {c: i for i, c in enumerate(candidates.tolist())}
    hits = [(i, positions[c]) for i, row in enumerate(true_classes.tolist())
            for c in row if c in positions]  # fmt: skip
    pairs: np.ndarray = np.array(hits, np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1], np.full(len(hits), -np.finfo(np.float32).max, np.float32)
