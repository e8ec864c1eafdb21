"""Sparse weights: Optimize.EXPERIMENTAL_SPARSITY stores what is not zero, as TensorFlow does.

    x, w:[32,64] in 1x4 blocks -> FULLY_CONNECTED -> y      w is sparse; the kernel skips the zeros
    w:[16,3,3,8] -> DENSIFY -> CONV_2D -> y                 DENSIFY, once, when the file is loaded

Weights stay dense where less than 30 % of them are zero, or what is listed of them is not smaller
(a DENSIFY's own 200 bytes in the file do not count, as in TensorFlow); so do
int8 ones that are not in blocks or whose operator gets float32, which LiteRT refuses or misreads
with XNNPACK.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

import numpy as np

from ...schema import tables
from ...schema.flatbuffer import record
from ...schema.operators import operator
from ..callers import caller
from ..ir.graph import Graph, Op, Tensor
from .rewrite import like

if TYPE_CHECKING:
    from ...schema.flatbuffer import Record

LEAST = 0.3
"""Share of zeros below which weights stay dense."""
BLOCKS = {
    ("FULLY_CONNECTED", np.dtype(np.float32)): (4, 0.9),
    ("FULLY_CONNECTED", np.dtype(np.int8)): (16, 0.8),
}
"""Elements along the last dimension that a kernel for sparse weights takes together, and which
share of all zeros must lie in whole blocks of them; other operators have no such kernel.
"""
KINDS = frozenset({"CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"})
DTYPES = (np.dtype(np.float32), np.dtype(np.int8))
SPARSE_CSR = tables.DIMENSION_TYPE["SPARSE_CSR"]
VECTORS = (("Uint8Vector", np.uint8), ("Uint16Vector", np.uint16), ("Int32Vector", np.int32))


class Outcome(Enum):
    """What becomes of weights."""

    SPARSE = auto()
    DENSE = auto()
    """They have too few zeros, or are no smaller without them."""
    REFUSED = auto()
    """LiteRT would not take them sparse."""


def encode_sparse_weights(graphs: Iterable[Graph]) -> None:
    """Stores the weights of `graphs`, and of those they call, sparsely where that is smaller.

    Warns (UserWarning) of those that LiteRT would refuse, and where none become sparse.
    """
    reachable = dict.fromkeys(called for graph in graphs for called in graph.reachable())
    outcomes: Counter[Outcome] = Counter()
    shares: dict[str, float] = {}
    for graph in reachable:
        sparse_forms: dict[tuple[Tensor, int], Tensor] = {}
        for op in list(graph.ops):
            i = weights_position(op)
            if i is not None:
                shares[op.inputs[i].name] = share_of_zeros(op.inputs[i].data, 1)
                outcomes[_encode(graph, op, i, sparse_forms)] += 1
    if outcomes[Outcome.REFUSED]:
        warnings.warn(
            f"the int8 weights of {outcomes[Outcome.REFUSED]} operators have many zeros and stay "
            "dense: LiteRT takes sparse ones only in blocks of 16, in FULLY_CONNECTED with int8 "
            "inputs",
            stacklevel=caller(),
        )
    elif not outcomes[Outcome.SPARSE]:
        warnings.warn(
            f"EXPERIMENTAL_SPARSITY has no effect: {reason_for_dense(shares)}",
            stacklevel=caller(),
        )


def weights_position(op: Op) -> int | None:
    """Which input of `op` has weights that may be sparse; None where none has."""
    row = operator(op.kind) if op.kind in KINDS else None
    if row is None:
        return None
    i = row.operand_numbers("weights")[0]
    weights = op.inputs[i]
    is_known = weights is not None and weights.is_constant and weights.dtype in DTYPES
    return i if is_known and is_symmetric(weights) else None


def reason_for_dense(shares: Mapping[str, float]) -> str:
    """Why none of the weights are sparse, by their names and shares of zeros; what to do."""
    if not shares:
        kinds = ", ".join(sorted(KINDS))
        return f"the model has no constant float32 or int8 weights of {kinds}"
    name = max(shares, key=shares.__getitem__)
    if shares[name] < LEAST:
        return (
            f"the most zeros are {shares[name]:.1%} of the weights '{name}', and {LEAST:.0%} are "
            "needed; prune the model while it is trained, as tensorflow_model_optimization does"
        )
    return f"with lists of what is not zero, no weights are smaller, not even '{name}'"


def _encode(
    graph: Graph, op: Op, i: int, sparse_forms: dict[tuple[Tensor, int], Tensor]
) -> Outcome:
    """Gives `op` sparse weights, its input `i`, if they have enough zeros."""
    weights = op.inputs[i]
    array = weights.data
    zeros = share_of_zeros(array, 1)
    if zeros < LEAST:
        return Outcome.DENSE
    block, ratio = BLOCKS.get((op.kind, array.dtype), (1, 1.0))
    if block > 1 and share_of_zeros(array, block) <= ratio * zeros:
        block = 1
    is_densified = block == 1
    if array.dtype == np.int8 and (is_densified or op.inputs[0].dtype != np.int8):
        return Outcome.REFUSED
    if (weights, block) not in sparse_forms:
        n_bytes, levels = compressed(array, block)
        if n_bytes + sum(map(bytes_of, levels)) >= array.nbytes:
            return Outcome.DENSE
        sparse_forms[weights, block] = sparse(weights, levels, block)
        if is_densified:
            sparse_forms[weights, block] = densified(graph, op, sparse_forms[weights, block])
    op.set_input(i, sparse_forms[weights, block])
    return Outcome.SPARSE


def is_symmetric(tensor: Tensor) -> bool:
    """Whether an element of 0 stands for 0.0."""
    params = tensor.quantization
    return params is None or (params.blocks is None and not params.zero_points.any())


def share_of_zeros(array: np.ndarray, block: int) -> float:
    """The share of blocks along the last dimension without any element but 0."""
    if not array.size or not array.ndim or array.shape[-1] % block:
        return 0.0
    return float(1 - (array.reshape(-1, block) != 0).any(1).mean())


def compressed(array: np.ndarray, block: int) -> tuple[int, list[Record]]:
    """Bytes of the blocks that are not zero; the levels: dense ones, a listed one, the block."""
    blocks = array.reshape(-1, array.shape[-1] // block, block)
    present = (blocks != 0).any(-1)
    level = record("DimensionMetadata")
    levels = [level(dense_size=n) for n in array.shape[:-1]]
    listed = level(
        format=SPARSE_CSR,
        array_segments=vector(np.concatenate([[0], np.cumsum(present.sum(1))])),
        array_indices=vector(np.nonzero(present)[1]),
    )
    tail = [level(dense_size=block)] if block > 1 else []
    return int(present.sum()) * block * array.itemsize, [*levels, listed, *tail]


def vector(values: np.ndarray) -> Record:
    """Positions in the narrowest integers that hold them."""
    largest = values.max(initial=0)
    name, dtype = next(pair for pair in VECTORS if largest <= np.iinfo(pair[1]).max)
    return record(name)(values=values.astype(dtype))


def bytes_of(level: Record) -> int:
    """What the lists of a level take in a file."""
    lists: list[Any] = [level.array_segments, level.array_indices]
    return sum(one.values.nbytes for one in lists if one is not None)


def sparse(weights: Tensor, levels: Sequence[Record], block: int) -> Tensor:
    """A tensor of the same elements, of which a file has those that `levels` list."""
    rank = weights.data.ndim
    tensor = like(weights, weights.dtype, weights.quantization, weights.name)
    tensor.value = weights.data
    tensor.sparsity = record("SparsityParameters")(
        traversal_order=np.arange(rank + (block > 1), dtype=np.int32),
        block_map=np.array([rank - 1] if block > 1 else [], np.int32),
        dim_metadata=tuple(levels),
    )
    return tensor


def densified(graph: Graph, op: Op, tensor: Tensor) -> Tensor:
    """Sparse weights as a DENSIFY before `op` gives them."""
    result = like(tensor, tensor.dtype, tensor.quantization, tensor.name)
    graph.insert_before(op, Op("DENSIFY", [tensor], [result], origin=op.origin))
    return result
