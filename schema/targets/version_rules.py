"""What each version of each operator learnt, as rows: the version, and what needs it.

The facts are TensorFlow's. The first row of an operator that holds decides; without one it is
version 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..record import Record
from ..structure import Tensor
from ..tables import Default

_ABSENT = Tensor(dtype="")
"""Stands for an operand that is left out: it has no type that a rule asks for."""


@dataclass
class Use:
    """One use of an operator, as the rules ask about it."""

    options: Record | None
    inputs: Sequence[Tensor | None]
    outputs: Sequence[Tensor]

    def input(self, index: int) -> Tensor:
        """An operand."""
        operand = self.inputs[index] if index < len(self.inputs) else None
        return _ABSENT if operand is None else operand

    def output(self, index: int) -> Tensor:
        """A result."""
        return self.outputs[index] if index < len(self.outputs) else _ABSENT

    def option(self, name: str) -> Default:
        """An option, None when there are no options."""
        return getattr(self.options, name, None)


_Rule = Callable[[Use], bool]


def _takes(*dtypes: str, at: int = 0) -> _Rule:
    """Operand `at` has one of these types."""
    return lambda use: use.input(at).dtype in dtypes


def _gives(*dtypes: str, at: int = 0) -> _Rule:
    """Result `at` has one of these types."""
    return lambda use: use.output(at).dtype in dtypes


def _types(first: str, second: str, result: str, at: int = 1) -> _Rule:
    """Operand 0, operand `at` and result 0 have these types."""
    return _all(_takes(first), _takes(second, at=at), _gives(result))


def _option(name: str, *values: Default) -> _Rule:
    """An option has one of these values; without values, is set."""
    if values:
        return lambda use: use.option(name) in values
    return lambda use: bool(use.option(name))


def _rank_above(limit: int, at: int = 0) -> _Rule:
    """Operand `at` has more dimensions than this."""
    return lambda use: len(use.input(at).shape) > limit


def _all(*rules: _Rule) -> _Rule:
    """All of these hold."""
    return lambda use: all(rule(use) for rule in rules)


def _any(*rules: _Rule) -> _Rule:
    """One of these holds."""
    return lambda use: any(rule(use) for rule in rules)


def _not(rule: _Rule) -> _Rule:
    """The opposite holds."""
    return lambda use: not rule(use)


def _quantized(*positions: int) -> _Rule:
    """One of these operands has scales."""
    return lambda use: any(_n_scales(use.input(at)) > 0 for at in positions)


def _per_channel(axis: int, at: int = 1, least: int = 1) -> _Rule:
    """Operand `at` has a scale for each index along `axis`."""

    def holds(use: Use) -> bool:
        tensor = use.input(at)
        n_scales = _n_scales(tensor)
        return n_scales >= least and tensor.shape[axis : axis + 1] == (n_scales,)

    return holds


def _by_blocks(use: Use) -> bool:
    """Operand 1 has a scale for each block of elements."""
    params = use.input(1).quantization
    return params is not None and params.details is not None


def _has_channel_scales(tensor: Tensor) -> bool:
    """Whether a tensor has a scale for each index of its quantized dimension."""
    if tensor.quantization is None or _n_scales(tensor) < 2:
        return False
    axis = tensor.quantization.axis
    return tensor.shape[axis : axis + 1] == (_n_scales(tensor),)


def _n_scales(tensor: Tensor) -> int:
    """How many scales a tensor has."""
    return 0 if tensor.quantization is None else len(tensor.quantization.scales)


def _grouped(use: Use) -> bool:
    """A convolution reads fewer channels at a time than there are."""
    x, weights = use.input(0), use.input(1)
    if len(x.shape) != 4 or len(weights.shape) != 4:
        return False
    return x.shape[3] != weights.shape[3]


def _broadcasts_above_4(use: Use) -> bool:
    """The operands of a binary operator differ in shape, and one has more than 4 dimensions."""
    shapes = [tensor.shape for tensor in use.inputs if tensor is not None]
    return len(shapes) > 1 and shapes[0] != shapes[1] and max(map(len, shapes)) > 4


def _rescales_up(use: Use) -> bool:
    """The product of the scales of a MUL is not below the scale of its result."""
    quantizations = [use.input(0).quantization, use.input(1).quantization]
    quantizations.append(use.output(0).quantization)
    scales = [q.scale for q in quantizations if q is not None and len(q.scales)]
    if len(scales) < 3 or 0 in scales:
        return False
    return scales[0] * scales[1] / scales[2] >= 1


def _sparse_weights(use: Use) -> bool:
    """The weights are stored sparsely."""
    return use.input(1).sparsity is not None


_HYBRID = _types("FLOAT32", "INT8", "FLOAT32")
_FLOAT8_TYPES = ("FLOAT8_E4M3FN", "FLOAT8_E5M2")
_FLOAT8 = _takes(*_FLOAT8_TYPES)
_INT8 = (2, _takes("INT8"))
_INT16 = (3, _takes("INT16"))
_INT16_THROUGH = (3, _all(_takes("INT16"), _gives("INT16")))
_ASYMMETRIC = _option("asymmetric_quantize_inputs")
_RECURRENT = (
    (3, _all(_takes("INT8", at=1), _gives("FLOAT32"), _ASYMMETRIC)),
    (2, _all(_takes("INT8", at=1), _gives("FLOAT32"))),
)
_WITH_BIAS_TYPE = _all(_types("INT16", "INT8", "INT16"), _option("quantized_bias_type"))
_MAXIMUM = (
    (4, _all(_takes("INT16"), _gives("INT16"))),
    (3, _broadcasts_above_4),
    _INT8,
)
_TO_BLOCKS: tuple[tuple[int, _Rule], ...] = (
    (4, _takes("INT16")),
    (3, lambda use: len(use.input(0).shape) != 4),
    _INT8,
)
_PAD = ((6, _FLOAT8), (5, _takes("BOOL")), (4, _rank_above(4)), _INT16, _INT8)

RULES: dict[str, tuple[tuple[int, _Rule], ...]] = {
    "ABS": (
        (5, _takes("INT32")),
        (3, _all(_takes("INT16"), _quantized(0))),
        (4, _takes("INT16")),
        (2, _takes("INT8", "UINT8")),
    ),
    "ADD": (
        (6, _takes("FLOAT16")),
        (5, _all(_takes("INT16"), _not(_quantized(0)))),
        (4, _takes("INT64")),
        (3, _all(_takes("INT16"), _gives("INT16"), _option("pot_scale_int16", False))),
        _INT8,
    ),
    "ARG_MAX": ((3, _takes("BOOL")), _INT8),
    "ARG_MIN": ((3, _takes("BOOL")), _INT8),
    "AVERAGE_POOL_2D": (_INT16_THROUGH, _INT8),
    "BATCH_MATMUL": (_INT16, _INT8, (4, _all(_HYBRID, _ASYMMETRIC))),
    "BATCH_TO_SPACE_ND": _TO_BLOCKS,
    "BIDIRECTIONAL_SEQUENCE_LSTM": _RECURRENT,
    "BIDIRECTIONAL_SEQUENCE_RNN": _RECURRENT,
    "BROADCAST_TO": ((4, _FLOAT8), (3, _takes("INT8", "INT16"))),
    "CAST": (
        (9, _any(_FLOAT8, _gives(*_FLOAT8_TYPES))),
        (8, _any(_takes("INT2", "UINT4"), _gives("INT2", "UINT4"))),
        (7, _any(_takes("BFLOAT16"), _gives("BFLOAT16"))),
        (6, _all(_takes("INT4"), _gives("FLOAT32"))),
        (5, _any(_takes("FLOAT64", "FLOAT16"), _gives("FLOAT64", "FLOAT16"))),
        (4, _any(_takes("UINT16"), _gives("UINT16"))),
        (3, _any(_takes("INT8"), _gives("INT8"))),
        (2, _any(_takes("UINT32"), _gives("UINT32"))),
    ),
    "CONCATENATION": (
        (7, _FLOAT8),
        (6, _takes("FLOAT16")),
        (5, _takes("INT4")),
        (4, _takes("UINT32")),
        _INT16,
        _INT8,
    ),
    "CONV_2D": (
        (8, _WITH_BIAS_TYPE),
        (6, _grouped),
        (4, _all(_takes("INT16"), _gives("INT16"))),
        (3, _types("INT8", "INT8", "INT8")),
        (7, _types("INT8", "INT4", "INT8")),
        (5, _all(_HYBRID, _per_channel(axis=0))),
        (2, _HYBRID),
    ),
    "DEPTHWISE_CONV_2D": (
        (5, _all(_takes("INT16"), _gives("INT16"))),
        (6, _all(_HYBRID, _per_channel(axis=3))),
        (4, _HYBRID),
        (3, _types("INT8", "INT8", "INT8")),
        (7, _types("INT8", "INT4", "INT8")),
        (2, lambda use: use.option("dilation_w_factor") not in (None, 1)),
        (2, lambda use: use.option("dilation_h_factor") not in (None, 1)),
    ),
    "DEPTH_TO_SPACE": (_INT8,),
    "COS": ((2, _takes("FLOAT16")),),
    "DEQUANTIZE": (
        (9, _FLOAT8),
        (8, _takes("UINT4")),
        (7, _takes("INT2")),
        (6, _takes("INT4")),
        (3, _takes("INT16", "FLOAT16")),
        (5, _all(_takes("INT8"), lambda use: _has_channel_scales(use.input(0)))),
        _INT8,
    ),
    "DIV": ((2, _broadcasts_above_4),),
    "DYNAMIC_UPDATE_SLICE": (
        (6, _takes("BFLOAT16")),
        (5, _takes("INT4")),
        (4, _takes("INT16")),
        (3, _takes("FLOAT16")),
        (2, _takes("INT64", at=2)),
    ),
    "EMBEDDING_LOOKUP": (
        (4, _any(_takes("INT4", at=1), _per_channel(axis=0, least=2))),
        (5, _takes("INT2", at=1)),
    ),
    "EQUAL": ((5, _takes("INT16")), (3, _takes("STRING")), _INT8),
    "EXP": ((2, _takes("INT8", "INT16")),),
    "FAKE_QUANT": ((2, _option("narrow_range")),),
    "FILL": (
        (5, _takes(*_FLOAT8_TYPES, at=1)),
        (4, _takes("FLOAT16", at=1)),
        (3, _takes("INT8", "INT16", at=1)),
        (2, _takes("BOOL", "STRING", at=1)),
    ),
    "FLOOR_DIV": ((3, _takes("INT16", "INT8")), (2, _takes("FLOAT32"))),
    "FLOOR_MOD": ((2, _takes("INT16", "INT8")),),
    "FULLY_CONNECTED": (
        (14, _takes("INT2", at=1)),
        (13, _types("INT16", "INT4", "INT16")),
        (12, _any(_all(_HYBRID, _per_channel(axis=0)), _by_blocks)),
        (11, _WITH_BIAS_TYPE),
        (8, _sparse_weights),
        (7, _types("INT16", "INT16", "INT16")),
        (6, lambda use: len(use.inputs) == 2),
        (5, _option("keep_num_dims")),
        (4, _types("INT8", "INT8", "INT8")),
        (10, _types("INT8", "INT4", "INT8")),
        (9, _all(_HYBRID, _ASYMMETRIC)),
        (3, _HYBRID),
        (2, _option("weights_format")),
    ),
    "GATHER": (
        (8, _FLOAT8),
        (7, _takes("INT4")),
        (6, _takes("INT16", at=1)),
        (5, _option("batch_dims")),
        (4, _takes("INT16")),
        (3, _takes("BOOL")),
        _INT8,
    ),
    "GATHER_ND": (
        (6, _FLOAT8),
        (5, _takes("BOOL")),
        (4, _takes("INT16", at=1)),
        (3, _takes("INT16")),
        (2, _takes("STRING")),
    ),
    "GELU": ((3, _takes("FLOAT16")), (2, _takes("INT8", "UINT8"))),
    "GREATER": (_INT8,),
    "GREATER_EQUAL": (_INT16, _INT8),
    "L2_NORMALIZATION": ((2, _gives("INT8")),),
    "LEAKY_RELU": ((2, _takes("INT16")),),
    "LESS": (_INT16, _INT8),
    "LESS_EQUAL": (_INT8,),
    "LOG": ((2, _takes("INT8", "INT16")),),
    "LOGISTIC": (_INT16_THROUGH, _INT8),
    "LOG_SOFTMAX": (_INT8,),
    "LSTM": (
        (5, _all(_option("kernel_type", None, 0), _types("INT16", "INT8", "INT16", at=2))),
        (4, _all(_option("kernel_type", 0), _types("FLOAT32", "INT8", "FLOAT32", 2), _ASYMMETRIC)),
        (3, _all(_option("kernel_type", None, 0), _types("FLOAT32", "INT8", "FLOAT32", at=2))),
        (2, _option("kernel_type", 1)),
    ),
    "MAXIMUM": _MAXIMUM,
    "MAX_POOL_2D": (_INT16_THROUGH, _INT8),
    "MEAN": (_INT16, _INT8),
    "MINIMUM": _MAXIMUM,
    "MIRROR_PAD": (_INT16, _INT8),
    "MUL": (
        (8, _takes("FLOAT16")),
        (7, _any(_all(_takes("INT16"), _not(_quantized(0, 1))), _takes("UINT32"))),
        (6, _takes("COMPLEX64")),
        (5, _takes("INT64")),
        (4, _takes("INT16")),
        (3, _rescales_up),
        _INT8,
    ),
    "NOT_EQUAL": ((4, _takes("INT16")), (3, _takes("STRING")), _INT8),
    "PACK": ((5, _FLOAT8), _INT8, _INT16_THROUGH, (4, _takes("UINT32"))),
    "PAD": _PAD,
    "PADV2": _PAD,
    "QUANTIZE": (
        (5, _any(_takes("UINT4"), _gives("UINT4"))),
        (4, _any(_takes("INT4"), _gives("INT4"))),
        (3, lambda use: _has_channel_scales(use.output(0))),
        (2, _gives("INT16")),
    ),
    "RANGE": ((2, _takes("INT64")),),
    "REDUCE_MAX": (_INT16, _INT8),
    "REDUCE_MIN": (_INT16, _INT8),
    "REDUCE_PROD": ((2, _takes("INT8", "INT16")),),
    "RELU": (_INT16, (2, _takes("INT8", "UINT8"))),
    "RELU6": (_INT16, _INT8),
    "RESIZE_BILINEAR": ((4, _takes("INT16")), (3, _option("half_pixel_centers")), _INT8),
    "RESIZE_NEAREST_NEIGHBOR": (
        (4, _takes("INT16")),
        (3, _any(_option("half_pixel_centers"), _option("align_corners"))),
        _INT8,
    ),
    "REVERSE_V2": ((4, _FLOAT8), (3, _takes("INT8")), (2, _takes("BOOL"))),
    "RNN": _RECURRENT,
    "RSQRT": (_INT16, _INT8),
    "SELECT": (
        (4, _takes("UINT32")),
        (3, lambda use: any(len(use.input(at).shape) == 5 for at in range(3))),
        _INT8,
    ),
    "SELECT_V2": ((2, _takes("UINT32")),),
    "SIGN": ((2, _takes("INT32")),),
    "SIN": ((2, _takes("FLOAT16")),),
    "SLICE": (
        (8, _takes("FLOAT16")),
        (7, _takes("INT4")),
        (6, _takes("UINT32")),
        (5, _rank_above(4)),
        (4, _takes("INT16")),
        (3, _takes("STRING")),
        _INT8,
    ),
    "SOFTMAX": ((4, _takes("FLOAT16")), _INT16, _INT8),
    "SPACE_TO_BATCH_ND": _TO_BLOCKS,
    "SPACE_TO_DEPTH": (_INT8,),
    "SPARSE_TO_DENSE": ((3, _takes("INT8", "UINT8", at=2)), (2, _takes("INT64", at=2))),
    "SPLIT": (
        (5, _takes(*_FLOAT8_TYPES, at=1)),
        (4, _takes("INT16", at=1)),
        (3, _takes("INT32", at=1)),
        (2, _takes("INT8", at=1)),
    ),
    "SPLIT_V": ((3, _FLOAT8), _INT8),
    "SQRT": ((2, _takes("INT8", "INT16")),),
    "SQUARED_DIFFERENCE": (_INT8,),
    "SQUEEZE": ((2, _takes("STRING")),),
    "STRIDED_SLICE": (
        (8, _option("offset")),
        (7, _takes("UINT32")),
        (6, _any(_option("ellipsis_mask"), _option("new_axis_mask"))),
        (5, _takes("STRING")),
        (4, _rank_above(4)),
        (3, _takes("BOOL")),
        _INT8,
    ),
    "SUB": (
        (5, _all(_takes("INT16"), _gives("INT16"), _option("pot_scale_int16", False))),
        (4, _takes("INT64")),
        (3, _broadcasts_above_4),
        _INT8,
    ),
    "SUM": (_INT8,),
    "SVDF": ((3, _takes("INT8")), (4, _all(_HYBRID, _ASYMMETRIC)), (2, _HYBRID)),
    "TANH": (_INT16_THROUGH, _INT8),
    "TILE": ((3, _takes("INT8")), (2, _takes("STRING"))),
    "TOPK_V2": (
        (3, _any(_takes("INT16"), _takes("INT16", at=1), _gives("INT16", at=1))),
        _INT8,
    ),
    "TRANSPOSE": (
        (9, _takes("FLOAT16")),
        (8, _any(_rank_above(6), _takes("BFLOAT16"))),
        (7, _takes("INT4")),
        (6, _rank_above(5)),
        (5, _takes("INT16")),
        (4, _rank_above(4)),
        (3, _takes("BOOL")),
        _INT8,
    ),
    "TRANSPOSE_CONV": (
        (5, _WITH_BIAS_TYPE),
        (4, _option("fused_activation_function")),
        (3, lambda use: len(use.inputs) == 4 and use.input(3) is not _ABSENT),
        (2, _takes("INT8", at=1)),
    ),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": (
        (5, _types("INT16", "INT8", "INT16", at=2)),
        (4, _option("diagonal_recurrent_tensors")),
        (3, _all(_types("FLOAT32", "INT8", "FLOAT32", at=2), _ASYMMETRIC)),
        (2, _types("FLOAT32", "INT8", "FLOAT32", at=2)),
    ),
    "UNIDIRECTIONAL_SEQUENCE_RNN": _RECURRENT,
    "UNPACK": (
        (6, _FLOAT8),
        (2, _takes("INT8", "UINT8")),
        (3, _takes("BOOL")),
        (4, _all(_takes("INT16"), _gives("INT16"))),
        (5, _takes("FLOAT16", "BFLOAT16")),
    ),
    "WHERE": ((1, _takes("BOOL")), (2, _all())),
}

FIRST_VERSION = {"BROADCAST_TO": 2}
"""Operators whose version 1 was taken back."""
