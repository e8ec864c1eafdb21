"""Runtimes that a file can be written for, and what each of them runs.

    litert    the newest LiteRT: whatever the converter writes
    flatlite  this interpreter, in types that LiteRT has no kernels for, too
    tf-2.N    LiteRT as it was in TensorFlow 2.N: versions of schema/runtime_versions.py
    tflm      TensorFlow Lite Micro: schema/targets/types.py
    edgetpu   what Coral's compiler places on an Edge TPU: EDGETPU, after its list of operators

What a target lacks is written in other operators where passes/targets.py has a form for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from ..schema.errors import ConverterError
from ..schema.model import Tensor as FileTensor
from ..schema.operators import Combination, combinations_in, known, text_of
from ..schema.tables import PADDING
from ..schema.targets import ranks as target_ranks
from ..schema.targets import types as target_types
from ..schema.targets.versions import first_release, operator_version
from .ir.graph import Graph, Op, Tensor
from .ir.legal_types import code_of
from .ir.write import type_name

NEWEST_RUNTIMES = ("litert", "flatlite")
RELEASE = re.compile(r"tf-2\.(\d+)")
OLDEST, NEWEST = 3, 23  # releases of TensorFlow 2 whose operators are on record
RECORDED = 14  # the release that TF_2_14 was asked of; what it does not run, none before it does
SATURATING_SUM = 20  # the release from which on SUM of int16 saturates, and takes other scales
BROADCAST_ADJOINT = 22  # that whose BATCH_MATMUL broadcasts what it transposes
MAX_SHOWN = 5  # operators named in a message
MAX_SOFTMAX = 16_000  # elements, on an Edge TPU

STABLEHLO = """
ABS BROADCAST_IN_DIM CBRT CLAMP COMPARE CONCATENATE CONVERT CONVOLUTION COSINE CUSTOM_CALL
DIVIDE DOT_GENERAL DYNAMIC_SLICE DYNAMIC_UPDATE_SLICE EXPONENTIAL FLOOR IOTA LOG LOGISTIC NEGATE
OR POWER REDUCE REMAINDER RESHAPE RSQRT SELECT SLICE SORT SUBTRACT TANH TRANSPOSE WHILE
"""
LACKING = frozenset(("CALL", "CONCAT_EMBEDDINGS", *(f"STABLEHLO_{x}" for x in STABLEHLO.split())))
"""Operators of the schema without a kernel in any LiteRT; a test asks the newest one."""

FOLDS = frozenset(f"STABLEHLO_{fold}" for fold in ("ADD", "MAXIMUM", "MINIMUM", "MULTIPLY"))
BODIES = {
    "STABLEHLO_REDUCE_WINDOW": FOLDS
    | {"ADD", "LOGICAL_AND", "LOGICAL_OR", "MAXIMUM", "MINIMUM", "MUL"}
    | {"STABLEHLO_AND", "STABLEHLO_OR"},
    "STABLEHLO_SCATTER": FOLDS | {""},
}
"""Operators of a body -> the one operator that LiteRT takes there, empty for none."""

EDGETPU = {
    "ADD": "",
    "AVERAGE_POOL_2D": "activation",
    "CONCATENATION": "activation zeros",
    "CONV_2D": "dilation",
    "DEPTHWISE_CONV_2D": "undilated",
    "EXPAND_DIMS": "",
    "FULLY_CONNECTED": "",
    "L2_NORMALIZATION": "",
    "LOGISTIC": "",
    "MAXIMUM": "",
    "MAX_POOL_2D": "activation",
    "MEAN": "image",
    "MINIMUM": "",
    "MUL": "",
    "PACK": "unbatched",
    "PAD": "image_padding",
    "PRELU": "channels",
    "QUANTIZE": "",
    "REDUCE_MAX": "batch",
    "REDUCE_MIN": "batch",
    "RELU": "",
    "RELU6": "",
    "RELU_N1_TO_1": "",
    "RESHAPE": "",
    "RESIZE_BILINEAR": "",
    "RESIZE_NEAREST_NEIGHBOR": "",
    "RSQRT": "",
    "SLICE": "",
    "SOFTMAX": "softmax",
    "SPACE_TO_DEPTH": "",
    "SPLIT": "split",
    "SQUARED_DIFFERENCE": "",
    "SQUEEZE": "squeeze",
    "STRIDED_SLICE": "strides",
    "SUB": "",
    "SUM": "batch",
    "TANH": "",
    "TRANSPOSE": "",
    "TRANSPOSE_CONV": "",
    "UNIDIRECTIONAL_SEQUENCE_LSTM": "",
}
"""Operators of an Edge TPU, with the names of LIMITS; Coral's documents have the list."""


@dataclass(frozen=True)
class Target:
    """A runtime that a file is written for.

    Attributes:
        name: as `converter.target` has it.
        is_static: whether every dimension must be a number.
    """

    name: str
    is_static: bool = False

    def reason_against(self, op: Op) -> str:
        """Why the runtime does not run an operator, empty when it does as far as is known."""
        if self.name == "flatlite":
            return ""
        if op.kind in LACKING:
            return "LiteRT has no kernel for it"
        if op.kind in BODIES and (reason := _against_body(op)):
            return reason
        if op.kind == "FAKE_QUANT" and op.options.narrow_range:
            return "it takes no narrow_range"
        if self.name == "litert":
            return ""
        if self.is_static and (reason := _against_sizes(op)):
            return reason
        if op.kind == "CUSTOM" and self.name != "edgetpu":
            return ""
        if self.name == "tflm":
            reason = _against_types(op, target_types.MICRO)
            if not reason and op.kind == "EXPAND_DIMS" and op.inputs[1].value is None:
                reason = f"input 1 ('{op.inputs[1].name}') must be constant"
            if not reason and op.kind == "DEQUANTIZE" and n_scales(op.inputs[0]) > 1:
                reason = f"it takes one scale, got {n_scales(op.inputs[0])}"
            if not reason and op.kind == "SUM" and _wraps(op):
                reason = "it has no kernel for int16 that saturates"
            return reason or _against_rank(op, target_ranks.MICRO, {})
        if self.name == "edgetpu":
            return _against_edgetpu(op)
        return _against_release(op, int(self.name.rpartition(".")[2]))

    def check(self, graphs: Iterable[Graph]) -> None:
        """Raises ConverterError naming the operators of `graphs` that the runtime does not run."""
        reachable = dict.fromkeys(callee for graph in graphs for callee in graph.reachable())
        refusals = [
            f"{op.kind} '{op.origin or op.name}': {reason}"
            for graph in reachable
            for op in graph.ops
            if (reason := self.reason_against(op))
        ]
        if not refusals:
            return
        more = [f"and {len(refusals) - MAX_SHOWN} more"] if len(refusals) > MAX_SHOWN else []
        raise ConverterError(
            f"the target {self.name} does not run all operators of the model; change them in the "
            "source, or choose another target:\n  " + "\n  ".join([*refusals[:MAX_SHOWN], *more])
        )


def _against_body(op: Op) -> str:
    """Why LiteRT does not run an operator with the graph that joins two elements."""
    kinds = [inner.kind for inner in op.graphs[0].ops] or [""]
    if len(kinds) == 1 and kinds[0] in BODIES[op.kind]:
        return ""
    allowed = ", ".join(sorted(filter(None, BODIES[op.kind])))
    return f"its body must be one operator of {allowed}, got {', '.join(kinds)}"


def _against_sizes(op: Op) -> str:
    """Why a runtime that takes all shapes from the file does not run an operator."""
    for result in op.outputs:
        if not result.is_static:
            return f"the size of result '{result.name}' depends on data, and shapes must be known"
        if code_of(result) == "str":
            return f"result '{result.name}' is of texts"
    return ""


def n_scales(tensor: Tensor) -> int:
    """How many scales a tensor has."""
    return 0 if tensor.quantization is None else len(tensor.quantization.scales)


def target_of(name: str) -> Target:
    """The target of a name.

    Raises ValueError when there is none.

    >>> target_of("tflm").is_static
    True
    """
    release = RELEASE.fullmatch(name) if isinstance(name, str) else None
    if release is not None and OLDEST <= int(release[1]) <= NEWEST:
        return Target(name)
    if name not in (*NEWEST_RUNTIMES, "tflm", "edgetpu"):
        raise ValueError(
            "target must be 'litert', 'flatlite', 'tflm', 'edgetpu' or "
            f"'tf-2.{OLDEST}' to 'tf-2.{NEWEST}', got {name!r}"
        )
    return Target(name, is_static=name not in NEWEST_RUNTIMES)


def is_repeated(x: Tensor, other: Tensor) -> bool:
    """Whether a tensor is broadcast along the last axis of another one."""
    return (x.dims[-1:] or (1,)) == (1,) and other.dims[-1:] not in ((), (1,))


@cache
def _facts(rows: str, kind: str) -> tuple[tuple[Combination, ...], frozenset[int]] | None:
    """The types that a runtime takes, and the operands that must be constants; None for none."""
    text = text_of(kind, rows)
    if text is None:
        return None
    types, _, constants = text.partition("; constant=")
    combinations = () if types.strip() == "any" else combinations_in(types)
    return combinations, frozenset(map(int, filter(None, constants.split(","))))


def _against_types(op: Op, rows: str) -> str:
    """Why a runtime of which there are recorded rows does not run an operator."""
    facts = _facts(rows, op.kind)
    if facts is None:
        return "it has no such operator"
    if op.graphs:
        return ""
    combinations, constants = facts
    operands, results = list(map(code_of, op.inputs)), list(map(code_of, op.outputs))
    types = known(op.kind).by_argument(operands, results)
    if types is not None and combinations and not any(c.accepts(*types) for c in combinations):
        return f"it has no kernel for ({', '.join(operands)}) -> {', '.join(results)}"
    for i in constants:
        operand = op.input(i)
        if operand is not None and operand.value is None:
            return f"input {i} ('{operand.name}') must be constant"
    return ""


def _against_release(op: Op, minor: int) -> str:
    """Why LiteRT of TensorFlow 2.minor does not run an operator."""
    operands = [None if tensor is None else _file_tensor(tensor) for tensor in op.inputs]
    version = operator_version(op.kind, op.options, operands, list(map(_file_tensor, op.outputs)))
    release = first_release(op.kind, version)
    if release and tuple(map(int, release.split(".")[:2])) > (2, minor):
        return f"version {version} of it came with TensorFlow {'.'.join(release.split('.')[:2])}"
    if reason := _against_results(op, minor):
        return reason
    if minor <= RECORDED and _facts(target_types.TF_2_14, op.kind) is not None:
        reason = _against_types(op, target_types.TF_2_14)
        is_float = bool(op.present_inputs) and op.present_inputs[0].dtype == np.float32
        tables = target_ranks.TF_2_14_BROADCAST_INTEGERS, target_ranks.TF_2_14_BROADCAST
        if not reason and op.kind == "PRELU" and is_repeated(op.inputs[1], op.inputs[0]):
            reason = f"'{op.inputs[1].name}' must have a number for each channel"
        return reason or _against_rank(op, target_ranks.TF_2_14, tables[is_float])
    return ""


def _against_results(op: Op, minor: int) -> str:
    """Why an operator runs in LiteRT of TensorFlow 2.minor, and gives other results than today."""
    if op.kind == "SUM" and minor < SATURATING_SUM and code_of(op.inputs[0]) == "qi16":
        return "it has no kernel for int16 that saturates"
    if op.kind == "BATCH_MATMUL" and minor < BROADCAST_ADJOINT and repeats_for_adjoint(op):
        return f"it does not repeat '{op.inputs[1].name}' for a transposed '{op.inputs[0].name}'"
    if minor > RECORDED:
        return ""
    if op.kind in ("CONV_2D", "DEPTHWISE_CONV_2D") and _skips_ends(op):
        return "it computes other places with padding SAME where strides are beyond the filters"
    if op.kind == "LSH_PROJECTION" and None in op.inputs:
        return "it takes two operands, or weights as the third"
    if op.kind == "SPARSE_TO_DENSE" and 0 in (op.inputs[0].rank, op.inputs[2].rank):
        return "it takes a row of indices and a value for each place"
    if op.kind == "REVERSE_V2" and op.inputs[1].sizes != (1,):
        return "it reverses one dimension at a time"
    is_hybrid = op.kind == "BATCH_MATMUL" and op.inputs[0].dtype == np.float32
    if is_hybrid and n_scales(op.inputs[1]) > 1:
        return f"it takes one scale for '{op.inputs[1].name}', got {n_scales(op.inputs[1])}"
    return ""


def surplus(op: Op, axis: int) -> int | None:
    """How far the filters of a convolution with padding SAME reach beyond its images along rows
    (1) or columns (2), below 0 where elements are skipped there; None for images of unknown size.
    """
    x, filters, options = op.inputs[0], op.inputs[1], op.options
    side = "h" if axis == 1 else "w"
    stride = getattr(options, f"stride_{side}")
    n, k = x.dims[axis], filters.dims[axis] or 1
    reach = (k - 1) * getattr(options, f"dilation_{side}_factor") + 1
    return None if n is None else (-(-n // stride) - 1) * stride + reach - n


def _skips_ends(op: Op) -> bool:
    """Whether a convolution with padding SAME may skip elements at the ends of its images."""
    if op.options.padding != PADDING["SAME"] or tuple(op.inputs[1].dims[1:3]) == (1, 1):
        return False
    strides = op.options.stride_h, op.options.stride_w
    amounts = (surplus(op, axis) for axis in (1, 2))
    return any(
        n < 0 if n is not None else (op.inputs[1].dims[axis] or 1) < stride
        for axis, n, stride in zip((1, 2), amounts, strides, strict=True)
    )


def _wraps(op: Op) -> bool:
    """Whether a sum is of int16 without another scale."""
    x = op.inputs[0]
    return code_of(x) == "qi16" and x.quantization == op.output.quantization


def repeats_for_adjoint(op: Op) -> bool:
    """Whether a BATCH_MATMUL transposes its first operand, and repeats the second for it."""
    x, y = op.inputs
    if not op.options.adj_x or x.rank is None or y.rank is None:
        return False
    return x.rank > 2 and y.rank > 2 and y.dims[-3] == 1 != x.dims[-3]


def _against_rank(op: Op, limits: Mapping[str, int], broadcast: Mapping[str, int]) -> str:
    """Why a runtime does not run an operator on tensors of that many dimensions."""
    limit = limits.get(op.kind)
    if len({tensor.sizes for tensor in op.present_inputs}) > 1:
        limit = broadcast.get(op.kind, limit)
    rank = max((tensor.rank or 0 for tensor in (*op.present_inputs, *op.outputs)), default=0)
    if limit is None or rank <= limit:
        return ""
    return f"it takes at most {limit} dimensions there, got {rank}"


def _file_tensor(tensor: Tensor) -> FileTensor:
    """A tensor of the IR as the rules of versions look at it."""
    return FileTensor(
        tensor.name,
        tuple(1 if n is None else n for n in tensor.shape or ()),
        type_name(tensor.dtype),
        quantization=tensor.quantization,
        sparsity=tensor.sparsity,
    )


def _against_edgetpu(op: Op) -> str:
    """Why Coral's compiler would leave an operator to the CPU."""
    if op.kind == "DEQUANTIZE" and not op.output.readers:
        return (
            "Edge TPUs give integers; set optimizations = [Optimize.DEFAULT] and "
            "inference_output_type = flatlite.int8 (--quantize int8 --output-type int8)"
        )
    if op.kind not in EDGETPU:
        return "Edge TPUs have no such operator"
    codes = [code_of(tensor) for tensor in (*op.present_inputs, *op.outputs)]
    if op.kind != "QUANTIZE" and any(code in ("f32", "f16", "qi16") for code in codes):
        return "Edge TPUs compute in int8; quantize the model with a representative_dataset"
    for tensor in (*op.present_inputs, *op.outputs):
        if tensor.value is None and any(n != 1 for n in tensor.dims[:-3]):
            return f"'{tensor.name}' may have 3 dimensions besides those of 1, got {tensor.shape}"
    return next(filter(None, (LIMITS[name](op) for name in EDGETPU[op.kind].split())), "")


def _against_activation(op: Op) -> str:
    is_fused = op.options.fused_activation_function
    return "a fused activation function is not supported there" if is_fused else ""


def _against_dilation(op: Op) -> str:
    is_equal = op.options.dilation_h_factor == op.options.dilation_w_factor
    return "" if is_equal else "dilations must be equal in both directions"


def _against_any_dilation(op: Op) -> str:
    factors = op.options.dilation_h_factor, op.options.dilation_w_factor
    return f"dilations must be 1, got {factors}" if max(factors) > 1 else ""


def _against_softmax(op: Op) -> str:
    is_large = (op.output.dims[-1:] or (0,))[0] or 0
    return f"it takes at most {MAX_SOFTMAX} elements" if is_large > MAX_SOFTMAX else ""


def _against_strides(op: Op) -> str:
    strides = op.input(3)
    is_slice = strides is None or (strides.value is not None and (strides.data == 1).all())
    if is_slice and not op.options.ellipsis_mask and not op.options.new_axis_mask:
        return ""
    return "strides must be 1, without ellipsis and new axes"


def _against_constants(op: Op) -> str:
    constants = [x for x in op.inputs if x.value is not None]
    zero = 0 if op.output.quantization is None else op.output.quantization.zero_points[0]
    is_padding = len(op.inputs) == 2 and all((x.data == zero).all() for x in constants)
    return "" if not constants or is_padding else "a constant must be zeros, beside one operand"


def _axes(op: Op) -> set[int] | None:
    """The axes of a reduction, None where only the run tells."""
    x, axes = op.inputs
    if axes.value is None:
        return None
    return {int(axis) % len(x.dims) for axis in axes.data.reshape(-1)}


def _against_image(op: Op) -> str:
    axes, rank = _axes(op), len(op.inputs[0].dims)
    is_image = axes is not None and axes <= {rank - 3, rank - 2}
    return "" if is_image else "only rows and columns of images are reduced"


def _against_padding(op: Op) -> str:
    paddings = op.inputs[1]
    rank = len(op.inputs[0].dims)
    is_image = paddings.value is not None and all(
        axis in (rank - 3, rank - 2) for axis in np.flatnonzero(paddings.data.any(axis=1))
    )
    return "" if is_image else "only rows and columns of images are padded"


def _against_channels(op: Op) -> str:
    alpha = op.inputs[1]
    is_vector = all(n == 1 for n in alpha.dims[:-1])
    return "" if is_vector else f"'{alpha.name}' must be one number for each channel"


def _against_batch(op: Op) -> str:
    axes, rank = _axes(op), len(op.inputs[0].dims)
    is_within = axes is not None and (rank < 4 or 0 not in axes)
    return "" if is_within else "the batch is not reduced there"


def _against_split(op: Op) -> str:
    axis, x = op.inputs[0], op.inputs[1]
    is_batch = axis.value is None or (len(x.dims) > 3 and int(axis.data.reshape(-1)[0]) == 0)
    return "the batch is not split there" if is_batch else ""


def _against_squeeze(op: Op) -> str:
    n_removed = len(op.inputs[0].dims) - len(op.output.dims)
    is_leading = all(n == 1 for n in op.inputs[0].dims[:n_removed])
    return "" if is_leading else "only leading dimensions of 1 are taken away"


def _against_batch_packing(op: Op) -> str:
    is_batch = op.options.axis in (0, -(op.output.rank or 0))
    return "nothing is packed along the batch" if is_batch else ""


LIMITS: dict[str, Callable[[Op], str]] = {
    "activation": _against_activation,
    "batch": _against_batch,
    "channels": _against_channels,
    "dilation": _against_dilation,
    "image": _against_image,
    "image_padding": _against_padding,
    "softmax": _against_softmax,
    "split": _against_split,
    "squeeze": _against_squeeze,
    "strides": _against_strides,
    "unbatched": _against_batch_packing,
    "undilated": _against_any_dilation,
    "zeros": _against_constants,
}
"""What limits operators of an Edge TPU -> why it does not run one, empty where it does."""
