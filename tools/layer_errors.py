"""What each layer of a quantized model loses, and what would help: what the report page shows."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from ..converter.api.samples import Sample, Samples
from ..converter.ir.graph import Tensor
from ..converter.quantize.accuracy.budget import exactly
from ..converter.quantize.check import ports
from ..converter.quantize.settings_recipe import recipe_of, with_algorithms
from ..interpreter.interpreter import Interpreter
from ..schema.model import Model, Operator, Subgraph
from ..schema.quantization import Quantization
from .called_layers import CalledGraphs, Run, called_runs, called_subgraphs
from .layer_comparison import cosine, decibels

N_SAMPLES = 16  # that layers are compared on
N_VALUES = 4096  # of a layer that a histogram shows, from each sample
LOW = 20.0  # decibels below which a layer is worth a word
DROP, LEAST_DROP = 6.0, 1.0  # decibels that a layer may lose against its inputs, below LOW
OUTLIERS = 4.0  # times the size of 99.9% of the values: what a larger range is measured on
UNEVEN = 16.0  # times the median channel's range, from which on the largest is uneven
WEIGHTS_LOW = 30.0  # decibels of weights below which their rounding matters


@dataclass
class LayerErrors:
    """A result of an operator of both files.

    Attributes:
        name, operator: which.
        type: of its elements in the quantized file.
        decibels: of the signal over the error.
        cosine: of the angle between both.
        max_abs: the largest error.
        values: some of the float values.
        limits: what the quantized type can store; None for float.
        channel_ratio: the largest channel's range over the median channel's.
        weights: the float weights, None without.
        weight_type: of the stored weights.
        weight_bytes: of the weights in both files.
        weight_decibels: of the weights over their rounding.
        place: the numbers of its subgraph in the quantized file, and of its tensor there.
        called: the quantized layers in the graphs that the operator calls.
        is_masked: whether it is cut off far below what matters in it; it is compared above that.
        advice: what would help.
    """

    name: str
    operator: str
    type: str
    decibels: float
    cosine: float
    max_abs: float
    values: np.ndarray
    limits: tuple[float, float] | None
    channel_ratio: float
    weights: np.ndarray | None = None
    weight_type: str = ""
    weight_bytes: tuple[int, int] = (0, 0)
    weight_decibels: float = 0.0
    place: tuple[int, int] = (0, 0)
    called: tuple[str, ...] = ()
    is_masked: bool = False
    advice: list[str] = field(default_factory=list)


Place = tuple[int, int]
"""Of a tensor in a file: the numbers of its subgraph, and there."""


class Measured(NamedTuple):
    """What a tensor was in the runs of both files.

    Attributes:
        place, quantized_place: in the float file and the quantized one.
        expected, actual: its values, one for each run of its subgraph.
    """

    place: Place
    quantized_place: Place
    expected: list[np.ndarray]
    actual: list[np.ndarray]


def layer_errors(converter: Any) -> list[LayerErrors]:
    """The layers of the last model that a converter quantized, in the order of its operators.

    They are compared on the first samples of the representative dataset.

    Raises ValueError when `convert` has quantized nothing, or there are no samples.
    """
    last = converter._last
    if last is None or not last.files:
        raise ValueError("a report needs a quantized model; call convert() with a recipe before")
    if converter.representative_dataset is None:
        raise ValueError("a report compares layers on samples; set representative_dataset")
    samples = Samples(converter.representative_dataset, last.sources).each()
    chosen = list(islice(samples, N_SAMPLES))
    rows: list[LayerErrors] = []
    before: list[list[LayerErrors]] = []
    for i in range(len(last.sources)):
        of_signature = [sample for sample in chosen if sample[0] == i]
        if of_signature:
            places = {
                measured.place: layer_of(tensor, last.files, measured, tensor in last.masked)
                for tensor, measured in measure(last.files, i, of_signature).items()
            }
            rows += places.values()
            before += [layers_before(last.files[0][0].model, place, places) for place in places]
    recipe = with_algorithms(recipe_of(converter), converter)
    used = {algorithm.name for algorithm in recipe.algorithms} if recipe is not None else set()
    for row, inputs in zip(rows, before, strict=True):
        row.called = tuple(name for name in row.called if name in last.layers)
        row.advice = advice(row, inputs, used)
    return rows


def layers_before(
    plain: Model, place: Place, places: Mapping[Place, LayerErrors]
) -> list[LayerErrors]:
    """The layers that the operator of a layer reads, in its own subgraph, or as its callers do."""
    number, index = place
    read = [(number, i) for i in inputs_of(plain.subgraphs[number], index)]
    arguments = {(number, i) for i in plain.subgraphs[number].inputs}
    if not arguments.isdisjoint(read):
        read += [
            (caller, i)
            for caller, op in callers_of(plain, number)
            for i in (*op.inputs, *(op.outputs if op.op == "WHILE" else ()))
        ]
    return [places[one] for one in read if one in places]


def callers_of(model: Model, number: int) -> list[tuple[int, Operator]]:
    """The operators that call a subgraph, and the subgraphs that these stand in."""
    return [
        (caller, op)
        for caller, subgraph in enumerate(model.subgraphs)
        for op in subgraph.operators
        if number in called_subgraphs(op)
    ]


def measure(files: Any, i: int, samples: Sequence[Sample]) -> dict[Tensor, Measured]:
    """The results of both files, those within what loops and branches call among them."""
    (plain, before), (quantized, after) = files
    graphs = CalledGraphs(plain.model), CalledGraphs(quantized.model)
    runners = before[i].interpreter(True), after[i].interpreter(True)
    inputs, _ = ports(after[i], runners[1])
    measured: dict[Tensor, Measured] = {}

    @cache
    def pairs(first: int, second: int) -> dict[Tensor, tuple[int, int]]:
        positions = {tensor: k for k, tensor in enumerate(plain.tensors[first])}
        return {
            tensor: (positions[tensor], k)
            for k, tensor in enumerate(quantized.tensors[second])
            if tensor in positions and tensor.producer is not None
        }

    def indices(first: int, second: int) -> dict[int, int]:
        return dict(pairs(first, second).values())

    for _, _, arrays in samples:
        before[i].run(runners[0], arrays)
        after[i].run(runners[1], [p.quantize(x) for p, x in zip(inputs, arrays, strict=True)])
        main = (
            Run(before[i].subgraph, partial(read, runners[0], before[i].subgraph)),
            Run(after[i].subgraph, partial(read, runners[1], after[i].subgraph)),
        )
        for first, second in [main, *called_runs(*graphs, main, indices)]:
            for tensor, (k, j) in pairs(first.subgraph, second.subgraph).items():
                expected = first.read(k)
                if expected.dtype == np.float32:
                    places = (first.subgraph, k), (second.subgraph, j)
                    row = measured.setdefault(tensor, Measured(*places, [], []))
                    row.expected.append(expected.copy())
                    row.actual.append(real(second.read(j), tensor.quantization))
    return {t: row for t, row in measured.items() if len({x.shape for x in row.expected}) == 1}


def read(interpreter: Interpreter, subgraph: int, index: int) -> np.ndarray:
    """The value of a tensor."""
    return interpreter.get_tensor(index, subgraph)


def real(array: np.ndarray, params: Quantization | None) -> np.ndarray:
    """The numbers that stored ones stand for."""
    if params is None or not params.scales.size or array.dtype.kind == "f":
        return array.astype(np.float32)
    scale, zero_point = params.shaped(array.ndim)
    return (array.astype(np.float32) - zero_point) * scale


def layer_of(tensor: Tensor, files: Any, measured: Measured, is_masked: bool) -> LayerErrors:
    """What a layer loses; of one that is masked what lies below its limits is no loss."""
    expected, actual = np.stack(measured.expected), np.stack(measured.actual)
    params, storage_type = tensor.quantization, np.dtype(tensor.dtype)
    limits = None
    if params is not None and storage_type.kind in "iu":
        limits = params.limits(storage_type)
    if is_masked and limits is not None:
        expected = np.maximum(expected, np.float32(limits[0]))
    error = (actual - expected).astype(np.float64)
    row = LayerErrors(
        tensor.name,
        tensor.producer.kind if tensor.producer is not None else "",
        storage_type.name,
        decibels(expected.ravel(), error.ravel()),
        cosine(expected.ravel().astype(np.float64), actual.ravel().astype(np.float64)),
        float(np.abs(error).max(initial=0.0)),
        np.concatenate([part.ravel()[:: -(-part.size // N_VALUES) or 1] for part in expected]),
        limits,
        channel_ratio(expected),
        place=measured.quantized_place,
        called=called_by(tensor),
        is_masked=is_masked,
    )
    if is_masked:  # what it reads beside its input is the mask
        return row
    (plain, _), (quantized, _) = files
    (first, k), (second, j) = measured.place, measured.quantized_place
    add_weights(row, plain.model.subgraphs[first], quantized.model.subgraphs[second], k, j)
    return row


def called_by(tensor: Tensor) -> tuple[str, ...]:
    """The names of the results in the graphs that the operator of a tensor calls."""
    if tensor.producer is None:
        return ()
    called = (inner for graph in tensor.producer.graphs for inner in graph.reachable())
    return tuple(dict.fromkeys(x.name for graph in called for op in graph.ops for x in op.outputs))


def channel_ratio(values: np.ndarray) -> float:
    """The largest channel's range over that of the median one; 1 where there are no channels."""
    if values.ndim < 3 or values.shape[-1] < 2:
        return 1.0
    ranges = np.abs(values).reshape(-1, values.shape[-1]).max(0)
    used = ranges[ranges > 0]
    return float(used.max() / np.median(used)) if used.size else 1.0


def operator_of(subgraph: Subgraph, index: int) -> Operator | None:
    """The operator that gives a tensor."""
    return next((op for op in subgraph.operators if index in op.outputs), None)


def inputs_of(subgraph: Subgraph, index: int) -> Sequence[int]:
    """What the operator of a tensor reads."""
    op = operator_of(subgraph, index)
    return op.inputs if op is not None else ()


def add_weights(
    row: LayerErrors, plain: Subgraph, quantized: Subgraph, first: int, second: int
) -> None:
    """Adds what became of the largest float constant of a layer's operator."""
    ops = operator_of(plain, first), operator_of(quantized, second)
    if ops[0] is None or ops[1] is None or len(ops[0].inputs) != len(ops[1].inputs):
        return
    for i, j in zip(ops[0].inputs, ops[1].inputs, strict=True):
        before, after = plain.tensors[i], quantized_tensor(quantized, j)
        data = before.data
        if i < 0 or not isinstance(data, np.ndarray) or data.dtype != np.float32 or data.ndim < 2:
            continue
        if after.data is None or (row.weights is not None and data.size <= row.weights.size):
            continue
        rounded = real(after.data.reshape(data.shape), after.quantization)
        row.weights, row.weight_type = data, after.dtype
        row.weight_bytes = data.nbytes, n_bytes(after.data)
        row.weight_decibels = decibels(data.ravel(), (rounded - data).ravel())


def quantized_tensor(subgraph: Subgraph, index: int) -> Any:
    """A tensor, or the constant that a DEQUANTIZE makes it of."""
    op = operator_of(subgraph, index)
    is_dequantized = op is not None and op.op == "DEQUANTIZE"
    return subgraph.tensors[op.inputs[0] if op is not None and is_dequantized else index]


def n_bytes(array: np.ndarray) -> int:
    """How many bytes a constant takes in a file."""
    bits = {"int4": 4, "int2": 2, "uint4": 4}.get(array.dtype.name, 8 * array.dtype.itemsize)
    return -(-array.size * bits // 8)


def advice(row: LayerErrors, inputs: Iterable[LayerErrors], used: Container[str]) -> list[str]:
    """What would help a layer, from what was measured of it, beside the algorithms in `used`."""
    words = []
    worst = min((layer.decibels for layer in inputs), default=np.inf)
    drop = DROP if row.decibels >= LOW else LEAST_DROP
    is_lossy = row.decibels < 2 * LOW and row.decibels < worst - drop
    wider = row.called or (row.name,)
    if is_lossy and (row.called or row.limits is not None):
        what = "what it calls" if row.called else "it"
        words.append(
            f'keep {what} wider: "layers": [[{json.dumps(exactly(*wider))}, "int16x8"]], or "float"'
        )
    bulk = float(np.percentile(np.abs(row.values), 99.9)) if row.values.size else 0.0
    if is_lossy and row.limits is not None and max(map(abs, row.limits)) > OUTLIERS * bulk > 0:
        words.append('outliers take most of its range: "calibrator": "percentile" or "mse"')
    if is_lossy and row.channel_ratio > UNEVEN:
        words.append('its channels are uneven: "algorithms": ["smooth_quant"] or ["equalization"]')
    if row.weights is not None and row.weight_decibels < WEIGHTS_LOW:
        rounds = "adaround" in used or "gptq" in used
        cure = "weights of more bits" if rounds else '"algorithms": ["adaround"] or ["gptq"]'
        words.append(f"its weights are coarse: {cure}")
    return words


def weight_sizes(model: Model) -> dict[str, int]:
    """Type -> bytes of all constants of a file."""
    sizes: dict[str, int] = {}
    for tensor in (tensor for subgraph in model.subgraphs for tensor in subgraph.tensors):
        if isinstance(tensor.data, np.ndarray):
            sizes[tensor.dtype] = sizes.get(tensor.dtype, 0) + n_bytes(tensor.data)
    return sizes
