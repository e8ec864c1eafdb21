"""Holds the rows of the table of operators against what `prepare` and the kernels do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from cases import Case, options_record

from flatlite.engine.run.faults import Fault
from flatlite.interpreter.compute import run_now
from flatlite.interpreter.plan.node import (
    NeedsValue,
    Node,
    NodeError,
    Operand,
    TensorDeclaration,
)
from flatlite.interpreter.registry import prepare_of
from flatlite.schema.dtypes import TENSOR_TYPES, numpy_dtype
from flatlite.schema.model import Tensor, load
from flatlite.schema.operators import TYPES, Operator
from flatlite.schema.quantization import Quantization
from flatlite.schema.tables import ACTIVATION_FUNCTION_TYPE

MAGNITUDE = 8
REFUSED = (NodeError, NeedsValue, Fault, ZeroDivisionError, OverflowError, ValueError)


class Run(NamedTuple):
    """An operator with operands and what came out.

    Attributes:
        record: its options.
        inputs: its operands, None for one left out.
        results: in order.
        case: the case it is; None for an operator of a file.
    """

    record: Any
    inputs: list[np.ndarray | None]
    results: list[np.ndarray]
    case: Case | None = None

    @property
    def is_real(self) -> bool:
        """Whether it is of floats alone, with elements, some of them apart."""
        return (
            all(x is None or x.dtype == np.float32 for x in (*self.inputs, *self.results))
            and bool(self.results[0].size)
            and not self.case.quantization
        )

    @property
    def is_plain(self) -> bool:
        """Whether no fused activation changes its results."""
        return not self.case.options.get("fused_activation_function")

    def again(self, inputs: list[np.ndarray | None], **options: Any) -> list[np.ndarray]:
        """The results of other operands or options."""
        return computed(self.case, inputs, options)

    def close(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether two results are equal but for the order in which they were summed."""
        if one.shape != other.shape:
            return False
        if one.dtype.kind not in "fc" and one.dtype.name != "bfloat16":
            return bool(np.array_equal(one, other))
        kinds = (one.astype(np.complex128), other.astype(np.complex128))
        return bool(np.allclose(*kinds, rtol=1e-4, atol=1e-4, equal_nan=True))


Holds = Callable[[Operator, Run], "bool | None"]
"""Whether a word of a row holds in a run; None where the run does not tell."""


def computed(
    case: Case, inputs: list[np.ndarray | None], options: dict[str, Any] | None = None
) -> list[np.ndarray]:
    """The results of a case's operator on `inputs`; raises one of REFUSED."""
    operands = [
        None if x is None else Operand.known(np.array(x, order="C"), f"x{i}", quantization(case, i))
        for i, x in enumerate(inputs)
    ]
    first = next(x for x in inputs if x is not None)
    outputs = [
        TensorDeclaration(f"out{i}", np.dtype(dtype), quantization(case, f"out{i}"))
        for i, dtype in enumerate(case.outputs or [first.dtype])
    ]
    record = options_record(case.op, {**case.options, **(options or {})})
    node = Node(case.op, operands, outputs, record)
    with np.errstate(all="ignore"):
        run_now(node, prepare_of(case.op)(node))
    return [result.value for result in node.results]


def quantization(case: Case, key: Any) -> Quantization | None:
    """The scale that a case gives an operand or a result."""
    if key not in (case.quantization or {}):
        return None
    scales, zero_point, *axis = case.quantization[key]
    scales = np.atleast_1d(np.asarray(scales, np.float32))
    zero_points = np.broadcast_to(np.atleast_1d(zero_point), scales.shape).astype(np.int64)
    return Quantization(scales, zero_points, axis[0] if axis else 0)


def run_of(case: Case) -> Run | None:
    """A case as it ran; None when it cannot tell, having NaN or infinity, or cannot run here."""
    inputs = [None if x is None else np.asarray(x) for x in case.inputs]
    if any(x is not None and x.dtype.kind in "fc" and not np.isfinite(x).all() for x in inputs):
        return None
    try:
        return Run(options_record(case.op, case.options), inputs, computed(case, inputs), case)
    except REFUSED:
        return None


def runs_of(content: bytes) -> Iterator[tuple[str, Run]]:
    """The builtin operators of a file; their tensors have shapes and types, and no values."""
    file = load(content)
    for graph in file.subgraphs:
        arrays = [_empty(tensor) for tensor in graph.tensors]
        for op in graph.operators:
            inputs = [None if i < 0 else arrays[i] for i in op.inputs]
            yield op.op, Run(op.options, inputs, [arrays[i] for i in op.outputs])


def _empty(tensor: Tensor) -> np.ndarray:
    return np.broadcast_to(np.zeros((), TENSOR_TYPES[tensor.dtype]), tensor.shape)


def shape_complaints(row: Operator, run: Run) -> list[str]:
    """What a row says of counts, types and ranks that is not so."""
    wrong = [*_counts(row, run), *_ranks(row, run)]
    return wrong if wrong else [*_types(row, run)]


def complaints(row: Operator, run: Run) -> Iterator[str]:
    """What a row says that is not so in a run."""
    yield from shape_complaints(row, run)
    for word, holds in TRAITS.items():
        if word in row.traits and _verdict(holds, row, run) is False:
            yield f"is not '{word}'"
    for word, holds in FACTS.items():
        if word in row.facts and _verdict(holds, row, run) is False:
            yield f"'{word}={row.facts[word]}' does not hold"


def unsaid(row: Operator, runs: list[Run]) -> Iterator[str]:
    """Traits that hold in all runs that can tell, and are not in the row."""
    for word in TELLING:
        verdicts = [_verdict(TRAITS[word], row, run) for run in runs]
        verdicts = [one for one in verdicts if one is not None]
        if word not in row.traits and len(verdicts) > 1 and all(verdicts):
            yield f"is '{word}'"


def _verdict(holds: Holds, row: Operator, run: Run) -> bool | None:
    """Whether a word holds in a run; it does not where the operator refuses the proof."""
    try:
        with np.errstate(all="ignore"):
            holds_here = holds(row, run)
            return None if holds_here is None else bool(holds_here)
    except REFUSED:
        return False


def _n_results(row: Operator, run: Run) -> int:
    n = sum(not (one.is_optional or one.is_variadic) for one in row.results)
    return n + sum(
        getattr(run.record, one.number) if one.number else len(run.inputs)
        for one in row.results
        if one.is_variadic and not one.is_optional
    )


def _counts(row: Operator, run: Run) -> Iterator[str]:
    least, most = row.counts
    if not least <= len(run.inputs) <= (len(run.inputs) if most is None else most):
        yield f"takes {least} to {most} operands, not {len(run.inputs)}"
    n, optional = _n_results(row, run), [one for one in row.results if one.is_optional]
    is_open = any(one.is_variadic for one in optional)
    if len(run.results) < n or (len(run.results) > n + len(optional) and not is_open):
        yield f"has {n} results, not {len(run.results)}"


def _types(row: Operator, run: Run) -> Iterator[str]:
    arguments = [one for one in row.results for _ in range(len(run.results))]
    if not any(one.is_variadic for one in row.results):
        arguments = list(row.results)
    for argument, result in zip(arguments, run.results, strict=False):
        if not argument.type or argument.is_default:
            continue
        if argument.type in TYPES:
            dtype = TENSOR_TYPES[TYPES[argument.type]]
        elif hasattr(run.record, argument.type):
            dtype = numpy_dtype(getattr(run.record, argument.type))
        else:
            dtype = run.inputs[row.position(argument.type)].dtype
        if result.dtype != dtype:
            yield f"{argument.name} is {dtype}, not {result.dtype}"


def _ranks(row: Operator, run: Run) -> Iterator[str]:
    ranks = [None if x is None else x.ndim for x in run.inputs]
    lengths = [None if x is None else x.size for x in run.inputs]
    rank = row.rank(ranks, lengths)
    if run.case is None and 0 in {x.ndim for x in (*run.results, *run.inputs) if x is not None}:
        return  # files have () for the shape of a tensor that only the run can tell
    actual = {result.ndim for result in run.results}
    if rank is not None and actual != {rank}:
        yield f"has results of rank {rank}, not {actual}"


def _shuffled(run: Run, operands: list[np.ndarray]) -> tuple[np.ndarray, list[np.ndarray]]:
    """A permutation of all elements, and operands of one shape in its order."""
    order = np.random.default_rng(0).permutation(operands[0].size)
    return order, [x.ravel()[order].reshape(x.shape) for x in operands]


def _is_elementwise(row: Operator, run: Run) -> bool | None:
    x, *others = run.inputs
    if x is None or x.size < 2 or any(y is not None for y in others) or _is_per_channel(run):
        return None
    (result, *more), (order, moved) = run.results, _shuffled(run, [x])
    if more or result.shape != x.shape:
        return False
    (other,) = run.again(moved)
    return run.close(result.ravel()[order], other.ravel())


def _is_broadcast(row: Operator, run: Run) -> bool | None:
    arrays = [x for x in run.inputs if x is not None]
    if len(arrays) < 2 or len({x.shape for x in arrays}) == 1 or _is_per_channel(run):
        return None
    try:
        shape = np.broadcast_shapes(*(x.shape for x in arrays))
    except ValueError:
        return False
    (result, *more) = run.results
    if more or result.shape != shape:
        return False
    order, moved = _shuffled(run, [np.broadcast_to(x, shape) for x in arrays])
    (other,) = run.again(list(moved))
    return run.close(result.ravel()[order], other.ravel())


def _has_several_scales(run: Run) -> bool:
    return len({tuple(map(str, one)) for one in (run.case.quantization or {}).values()}) > 1


def _is_per_channel(run: Run) -> bool:
    return any(np.size(scales) > 1 for scales, *_ in (run.case.quantization or {}).values())


def _is_commutative(row: Operator, run: Run) -> bool | None:
    if (
        len(row.operands) != 2
        or len(run.inputs) != 2
        or run.case.quantization
        or not _differ(*run.inputs)
    ):
        return None
    return run.close(run.results[0], run.again(run.inputs[::-1])[0])


def _differ(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    return one is not None and other is not None and one.size > 1 and not np.array_equal(one, other)


def _is_reduction(row: Operator, run: Run) -> bool | None:
    if len(run.inputs) != 2 or not hasattr(run.record, "keep_dims"):
        return False
    x, axes = run.inputs
    if x.ndim == 0:
        return None
    folded = {int(axis) % x.ndim for axis in axes.ravel()}
    remaining = [n for i, n in enumerate(x.shape) if i not in folded]
    whole = [1 if i in folded else n for i, n in enumerate(x.shape)]
    if run.results[0].shape != tuple(whole if run.record.keep_dims else remaining):
        return False
    if run.case.quantization:  # which is rounded after each step
        return None
    backwards = np.flip(x, tuple(folded))
    return run.close(run.results[0], run.again([backwards, axes])[0])


def _moves(row: Operator, run: Run) -> bool | None:
    """Each element of a result is one of an operand of its type, or stands for 0."""
    (result, *_) = run.results
    if not result.size or result.dtype.kind == "O" or _has_several_scales(run):
        return None
    scales = (run.case.quantization or {}).get("out0", (1, 0))
    filling = np.zeros(1, result.dtype) + np.asarray(scales[1], result.dtype)
    data = [x for x in run.inputs if x is not None and x.dtype == result.dtype]
    return bool(np.isin(result, np.concatenate([filling, *(x.ravel() for x in data)])).all())


def _selects(row: Operator, run: Run) -> bool | None:
    return (
        _moves(row, run) if run.is_plain and all(x is None or x.size for x in run.inputs) else None
    )


def _is_view(row: Operator, run: Run) -> bool | None:
    (result, *_), x = run.results, run.inputs[0]
    if x is None or x.size < 2 or result.shape == x.shape:
        return None
    same = result.dtype == x.dtype and result.size == x.size
    return same and bool(np.array_equal(result.ravel(), x.ravel()))


def _joins(row: Operator, run: Run) -> bool | None:
    axis, result = run.record.axis, run.results[0]
    arrays = [x for x in run.inputs if x is not None]
    if not run.is_plain or _has_several_scales(run):
        return None
    join = np.stack if result.ndim > arrays[0].ndim else np.concatenate
    return run.close(result, join(arrays, axis % result.ndim))


def _is_of_last_axis(row: Operator, run: Run) -> bool | None:
    x, result = run.inputs[0], run.results[0]
    if x.ndim < 2 or x.shape[:-1] != result.shape[:-1]:
        return None
    leading = tuple(range(x.ndim - 1))
    return run.close(np.flip(result, leading), run.again([np.flip(x, leading)])[0])


def _is_linear(row: Operator, run: Run) -> bool | None:
    bias = row.position("bias")
    with_bias = len(run.inputs) > bias and run.inputs[bias] is not None
    if not run.is_real or with_bias or not run.is_plain or "shape" in _names(row):
        return None
    x = row.position("x")
    doubled = [2 * array if i == x else array for i, array in enumerate(run.inputs)]
    return run.close(2 * run.results[0], run.again(doubled)[0])


def _names(row: Operator) -> set[str]:
    return {one.name for one in row.operands}


def _is_bounded(row: Operator, run: Run) -> bool | None:
    if not run.is_real:
        return None
    (result, *_) = run.again([x * np.float32(1e4) for x in run.inputs])
    return bool((np.abs(result[~np.isnan(result)]) <= MAGNITUDE).all())


def _clamps(row: Operator, run: Run) -> bool | None:
    if not run.is_real:
        return None
    (x,) = (np.float32(4) * x for x in run.inputs)
    return run.close(run.again([x])[0], np.clip(x, *row.limits))


def _takes_activation(row: Operator, run: Run) -> bool | None:
    if not hasattr(run.record, "fused_activation_function"):
        return False
    if not run.is_real or not run.is_plain:
        return None
    relu = ACTIVATION_FUNCTION_TYPE["RELU"]
    (result, *_) = run.again(run.inputs, fused_activation_function=relu)
    return run.close(result, np.maximum(run.results[0], 0))


TRAITS: dict[str, Holds] = {
    "activation": _takes_activation,
    "bounded": _is_bounded,
    "broadcast": _is_broadcast,
    "commutative": _is_commutative,
    "elementwise": _is_elementwise,
    "joins": _joins,
    "last_axis": _is_of_last_axis,
    "linear": _is_linear,
    "moves": _moves,
    "reduction": _is_reduction,
    "selects": _selects,
    "view": _is_view,
}

TELLING = ("broadcast", "commutative", "elementwise", "reduction", "view")
"""Traits that a run refutes where they do not hold, so that all runs together prove them."""


def _holds_axes(row: Operator, run: Run) -> bool:
    x = run.inputs[row.position("x")]
    rank = max(x.ndim, 1) + (row.fact("rank") == "x+1")
    return all(
        run.inputs[i].dtype.kind == "i" and bool((np.abs(run.inputs[i] + 0.5) <= rank).all())
        for i in row.operand_numbers("axes")
    )


def _has_row_for_each_axis(row: Operator, run: Run) -> bool:
    rank = run.inputs[row.position("x")].ndim
    if row.kind == "STRIDED_SLICE":  # new axes have rows, axes behind the last need none
        return all(run.inputs[i].ndim == 1 for i in row.operand_numbers("rows"))
    return all(run.inputs[i].shape[:1] == (rank,) for i in row.operand_numbers("rows"))


def _are_sizes(row: Operator, run: Run) -> bool:
    sizes = [run.inputs[i] for i in row.operand_numbers("sizes") if i < len(run.inputs)]
    kinds = "if" if row.kind == "RANGE" else "i"
    return all(x is None or x.dtype.kind in kinds for x in sizes)


def _are_weights(row: Operator, run: Run) -> bool | None:
    (i,) = row.operand_numbers("weights")
    weights, channels = run.inputs[i], row.numbers("channels")
    if not channels or weights.ndim < 2:
        return None
    return weights.shape[channels[0]] == run.results[0].shape[-1]


def _slides(row: Operator, run: Run) -> bool:
    """There is a stride for each spatial axis, and the weights have two axes beside them."""
    (i,), axes = row.operand_numbers("weights"), row.numbers("spatial")
    strides = [name for name in type(options_record(row.kind, {})).__slots__ if "stride_" in name]
    excluded = {*row.numbers("channels"), *axes}
    return len(strides) == len(axes) == run.inputs[i].ndim - 2 and len(excluded) == len(axes) + 1


def _is_hybrid(row: Operator, run: Run) -> bool | None:
    (i,) = row.operand_numbers("hybrid")
    return run.inputs[i].ndim > 1 and i != row.position("x")


def _is_prescribed(code: str, dtype: type) -> Holds:
    def holds(row: Operator, run: Run) -> bool | None:
        scales = (run.case.quantization or {}).get("out0")
        if scales is None or run.results[0].dtype != dtype or run.inputs[0].dtype != dtype:
            return None
        scale, zero_point = row.scale_of(code)
        if row.kind in FREE:
            return True
        return np.isclose(scales[0], scale, rtol=1e-3) and scales[1] == zero_point

    return holds


FREE = {"LOGISTIC", "TANH"}
"""Operators whose kernels take any scale; TFLite's quantization specification prescribes one."""

FACTS: dict[str, Holds] = {
    "axes": _holds_axes,
    "clamp": _clamps,
    "hybrid": _is_hybrid,
    "i16": _is_prescribed("i16", np.int16),
    "i8": _is_prescribed("i8", np.int8),
    "rows": _has_row_for_each_axis,
    "sizes": _are_sizes,
    "spatial": _slides,
    "u8": _is_prescribed("u8", np.uint8),
    "weights": _are_weights,
}
