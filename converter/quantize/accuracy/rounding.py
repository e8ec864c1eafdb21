"""Which integers weights become, one operator after the other.

Each operator sees the inputs that it gets once the weights before it are rounded, and aims at the
results of the float model. The float graph gets the rounded weights as float32 numbers, and their
grid as `Tensor.grid`, by which they are stored without another error.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ....schema.quantization import Quantization
from ...ir.graph import Graph, Op, Tensor
from ...passes.rewrite import activation_of
from ..dynamic import has_large_weights, quantized_inputs
from ..recipe import Recipe
from ..rules import WEIGHT_RULES, rule_of
from ..scheme import Integers, Scheme
from ..weights import weights_of
from .adaround import Problem, adaround
from .algorithms import Algorithm
from .channels import RELU
from .gptq import gptq
from .linear import (
    BIAS,
    DATA,
    WEIGHTS,
    channel_scales,
    from_matrices,
    linear_ops,
    matrices,
    rows_of,
    set_constant,
)
from .observe import Write, Written
from .recovery import grid_scales

if TYPE_CHECKING:
    from ...api.samples import Sample

N_ROWS = 2048  # of an operator's input that are looked at, over all samples
N_SAMPLE_ROWS = 64  # of each sample, so that images do not take all of them


class Grid(NamedTuple):
    """The integers of the weights of an operator.

    Attributes:
        params: their scales.
        integers: their type and limits.
    """

    params: Quantization
    integers: Integers

    @property
    def limits(self) -> tuple[int, int]:
        """The smallest and the largest integer."""
        return self.integers.low, self.integers.high


@dataclass(frozen=True)
class Layer:
    """An operator whose weights are about to be rounded.

    Attributes:
        op: the operator.
        grid: the integers of its weights.
        rows: its inputs in the model whose weights before are rounded, [groups, rows, taps].
        float_rows: its inputs in the float model.
        deadline: when it must be over, a time of time.monotonic.
    """

    op: Op
    grid: Grid
    rows: np.ndarray
    float_rows: np.ndarray
    deadline: float

    @property
    def weights(self) -> np.ndarray:
        """Its float weights, [groups, outputs, taps]."""
        return matrices(self.op, self.op.inputs[WEIGHTS].data)

    @property
    def scales(self) -> np.ndarray:
        """Of its grid, [groups, outputs, 1]."""
        return channel_scales(self.op, self.grid.params.scales)


def nearest(layer: Layer) -> np.ndarray:
    """The weights, each rounded to the nearest."""
    scaled = layer.weights / layer.scales
    return np.clip(np.rint(scaled), *layer.grid.limits) * layer.scales


def by_gptq(layer: Layer, damping: float = 0.01, reorder: bool = True) -> np.ndarray:
    """The weights as GPTQ rounds them."""
    operands = (layer.weights, layer.scales, layer.grid.limits, layer.rows)
    return gptq(*operands, damping=damping, reorder=reorder)


def by_adaround(
    layer: Layer, steps: int = 1000, rate: float = 0.03, regularization: float = 10.0
) -> np.ndarray:
    """The weights as AdaRound rounds them."""
    bias, weights = layer.op.input(BIAS), layer.weights
    groups, outputs, _ = weights.shape
    values = np.zeros(groups * outputs, np.float32) if bias is None else bias.data
    problem = Problem(
        weights,
        layer.scales,
        layer.grid.limits,
        layer.rows,
        layer.float_rows @ weights.transpose(0, 2, 1),
        values.reshape(groups, 1, outputs),
        activation_of(layer.op) == RELU,
    )
    return adaround(problem, int(steps), rate, regularization, layer.deadline)


METHODS: dict[str, Callable[..., np.ndarray]] = {"gptq": by_gptq, "adaround": by_adaround}
"""How weights are rounded, by the name of the algorithm; others round to the nearest."""


def round_weights(
    graphs: Sequence[Graph],
    recipe: Recipe,
    write: Write,
    samples: Sequence[Sample],
    advance: Callable[[], None] = lambda: None,
) -> int:
    """Rounds the weights of all operators that the recipe quantizes; how many.

    Args:
        graphs: float graphs; their weights are replaced.
        recipe: schemes, and what of GPTQ, AdaRound and bias correction is asked for.
        write: makes a file of float graphs.
        samples: (number of the graph, what messages call it, arrays in input order).
        advance: called after each operator.
    """
    method = next((row for row in recipe.algorithms if row.name in METHODS), None)
    corrects = any(row.name == "bias_correction" for row in recipe.algorithms)
    if method is None and not corrects:
        return 0
    original = Written(*write(list(graphs)))
    work = [
        (i, op, grid)
        for i, graph in enumerate(graphs)
        for op in linear_ops(graph)
        if (grid := grid_of(op, recipe)) is not None
    ]
    end = time.monotonic() + seconds_of(method)
    solved: dict[bytes, tuple[np.ndarray, Tensor]] = {}
    for k, (i, op, grid) in enumerate(work):
        now = time.monotonic()
        deadline = now + max(0.0, end - now) / (len(work) - k)
        current = Written(*write(list(graphs)))
        before, rows = (inputs_of(file, op, i, samples) for file in (original, current))
        if rows.shape[1]:
            round_layer(Layer(op, grid, rows, before, deadline), method, corrects, solved)
        advance()
    return len(work)


def seconds_of(method: Algorithm | None) -> float:
    """How long all of it may take."""
    return np.inf if method is None else method.parameter("seconds", np.inf)


def round_layer(
    layer: Layer,
    method: Algorithm | None,
    corrects: bool,
    solved: dict[bytes, tuple[np.ndarray, Tensor]],
) -> None:
    """Rounds the weights of one operator and corrects its bias.

    Weights that several signatures share are rounded once: `solved` has them by their bytes.
    """
    op, weights = layer.op, layer.weights
    before = op.inputs[WEIGHTS].data
    key = before.tobytes() + layer.grid.params.scales.tobytes()
    if key not in solved or solved[key][1].data.shape != before.shape:
        options = {} if method is None else {**dict(method.parameters)}
        options.pop("seconds", None)
        rounded = nearest(layer) if method is None else METHODS[method.name](layer, **options)
        tensor = set_constant(op, WEIGHTS, from_matrices(op, rounded))
        tensor.grid = layer.grid.params
        solved[key] = rounded, tensor
    rounded, tensor = solved[key]
    op.set_input(WEIGHTS, tensor)
    if corrects:
        correct_bias(layer, weights, rounded)


def correct_bias(layer: Layer, weights: np.ndarray, rounded: np.ndarray) -> None:
    """Takes from the bias by what rounding moves the mean of each channel: W~ E[x~] - W E[x].

    Nagel et al. 2019, arXiv 1906.04721, section 4.2, in its empirical form: the means are those of
    the calibration samples, before the activation.
    """
    expected = weights @ layer.float_rows.mean(1)[..., np.newaxis]
    actual = rounded @ layer.rows.mean(1)[..., np.newaxis]
    shift = (expected - actual).ravel()
    bias = layer.op.input(BIAS)
    value = shift if bias is None else bias.data + shift.reshape(bias.data.shape)
    set_constant(layer.op, BIAS, value)


def inputs_of(file: Written, op: Op, graph: int, samples: Sequence[Sample]) -> np.ndarray:
    """The inputs of `op` over the samples, as rows: the same ones in every file."""
    rows: list[np.ndarray] = []
    for seed, (array,) in enumerate(file.values(samples, graph, [op.inputs[DATA]])):
        rows.append(rows_of(op, array, N_SAMPLE_ROWS, seed))
        if sum(part.shape[1] for part in rows) >= N_ROWS:
            break
    return np.concatenate(rows, 1) if rows else np.zeros((1, 0, 1))


def grid_of(op: Op, recipe: Recipe) -> Grid | None:
    """The integers that the weights of a linear operator become; None where they stay float."""
    for scheme in recipe.schemes_of(op):
        axis = weights_axis(op, scheme)
        if axis is None:
            continue
        params, integers = weights_of(op, op.inputs[WEIGHTS], axis, scheme, recipe.per_tensor)
        is_plain = params.blocks is None and not params.block_size
        return Grid(params, integers) if is_plain and integers.symmetric else None
    return None


def weights_axis(op: Op, scheme: Scheme) -> int | None:
    """The dimension of weights with a scale for each index; None when they stay float."""
    if op.inputs[WEIGHTS].fake_quant is not None or not np.isfinite(op.inputs[WEIGHTS].data).all():
        return None
    if scheme.activations is not None:
        rule = rule_of(op, scheme)
        return None if rule is None else rule.axis
    rule = WEIGHT_RULES.get(op.kind)
    if rule is None or scheme.weights == "f16":
        return None
    is_quantized = (
        has_large_weights(op, rule, scheme) if scheme.hybrid else any(quantized_inputs(op, scheme))
    )
    return rule.axis if is_quantized else None


def recover_grids(graphs: Sequence[Graph], recipe: Recipe) -> int:
    """Gives weights that lie on a grid that grid; of how many operators."""
    n = 0
    for op in (op for graph in graphs for op in linear_ops(graph)):
        grid = grid_of(op, recipe)
        if grid is None:
            continue
        weights = matrices(op, op.inputs[WEIGHTS].data)
        on_grid = grid_scales(weights, channel_scales(op, grid.params.scales), grid.integers.high)
        if on_grid is None:
            continue
        scales, params = on_grid.ravel(), grid.params
        if not params.is_per_channel:
            step = grid_scales(weights.reshape(1, 1, -1), on_grid[:1, :1], grid.integers.high)
            if step is None:
                continue
            scales = step.ravel()
        op.inputs[WEIGHTS].grid = Quantization(scales, np.zeros(scales.size), params.axis)
        n += 1
    return n
