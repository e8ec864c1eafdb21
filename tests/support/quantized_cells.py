"""Recurrent operators in int8: which are tested, and what is compared of a file."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from recurrent_models import SORTS

from flatlite.schema.model import load

KINDS = ("LSTM", "UNIDIRECTIONAL_SEQUENCE_LSTM", "SVDF")
TANH, RELU = 4, 1
KERAS_CASES = ("LSTM", "LSTM_last", "both")
"""Layers of make_recurrent.py that TensorFlow's converter makes LSTM operators of."""


def has_kernel(sort) -> bool:
    """Whether LiteRT has an int8 kernel for a float operator of this sort."""
    options = dict(sort.options)
    expected = RELU if sort.op == "SVDF" else TANH
    return (
        sort.op in KINDS
        and sort.numbers == "float32"
        and not options.get("kernel_type")
        and options.get("fused_activation_function") == expected
    )


CELL_SORTS = [sort for sort in SORTS if has_kernel(sort)]


def shapes_of(content: bytes) -> list[Sequence[int]]:
    """The shapes of a file's inputs."""
    subgraph = load(content).subgraphs[0]
    return [subgraph.tensors[i].shape for i in subgraph.inputs]


def random_inputs(shapes, seed: int, n: int) -> list[list[np.ndarray]]:
    """Inputs of `n` runs."""
    random = np.random.default_rng(seed)
    return [[random.normal(0, 1, shape).astype(np.float32) for shape in shapes] for _ in range(n)]


def error_of(actual, expected) -> float:
    """The root of the mean square of the difference over the outputs of some runs."""
    pairs = [
        pair for runs in zip(actual, expected, strict=True) for pair in zip(*runs, strict=True)
    ]
    gaps = [(x.astype(np.float64) - y).ravel() for x, y in pairs]
    return float(np.sqrt(np.mean(np.square(np.concatenate(gaps)))))


def cells(content: bytes) -> list[list]:
    """The operands, intermediates and results of the recurrent operators of a file."""
    subgraph = load(content).subgraphs[0]
    return [
        [described(subgraph, i) for i in (*op.inputs, *op.intermediates, *op.outputs)]
        for op in subgraph.operators
        if op.op in KINDS
    ]


def described(subgraph, i: int) -> list | None:
    """[type, scale, zero point, sum of the elements, sum of their sizes] of a tensor."""
    if i < 0:
        return None
    tensor = subgraph.tensors[i]
    params, data = tensor.quantization, tensor.data
    if params is None or not len(params.scales):
        return [tensor.dtype]
    row = [tensor.dtype, float(params.scales[0]), int(params.zero_points[0])]
    if data is not None and np.size(data):
        elements = np.asarray(data, np.int64)
        row += [int(elements.sum()), int(np.abs(elements).sum())]
    return row


def variable_uses(content: bytes) -> list[list]:
    """[operator, type, scale, zero point] of all that a file reads of variables and assigns."""
    uses = []
    for subgraph in load(content).subgraphs:
        for op in subgraph.operators:
            if op.op in ("READ_VARIABLE", "ASSIGN_VARIABLE"):
                value = op.outputs[0] if op.op == "READ_VARIABLE" else op.inputs[1]
                uses.append([op.op, *described(subgraph, value)[:3]])
    return sorted(uses)
