"""Operators by name; a family's module is imported when a model first uses one of its ops."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from .node import Node

Prepare = Callable[[Node], Any]

FAMILIES = {
    "activation": "RELU RELU_N1_TO_1 RELU_0_TO_1 RELU6 TANH LOGISTIC ELU LEAKY_RELU PRELU "
    "HARD_SWISH GELU",
    "binary": "ADD SUB MUL DIV POW FLOOR_DIV FLOOR_MOD MAXIMUM MINIMUM SQUARED_DIFFERENCE ATAN2 "
    "BITWISE_XOR RIGHT_SHIFT LOGICAL_AND LOGICAL_OR ADD_N",
    "cast": "CAST BITCAST QUANTIZE DEQUANTIZE FAKE_QUANT",
    "compare": "EQUAL NOT_EQUAL LESS LESS_EQUAL GREATER GREATER_EQUAL SELECT SELECT_V2",
    "concat": "CONCATENATION PACK UNPACK SPLIT SPLIT_V",
    "control": "IF WHILE CALL_ONCE CALL",
    "conv": "CONV_2D DEPTHWISE_CONV_2D TRANSPOSE_CONV CONV_3D CONV_3D_TRANSPOSE",
    "fill": "FILL ZEROS_LIKE RANGE ONE_HOT SHAPE RANK BROADCAST_TO BROADCAST_ARGS TILE",
    "gather": "GATHER GATHER_ND SCATTER_ND EMBEDDING_LOOKUP SPARSE_TO_DENSE DYNAMIC_UPDATE_SLICE",
    "lstm": "UNIDIRECTIONAL_SEQUENCE_LSTM BIDIRECTIONAL_SEQUENCE_LSTM LSTM",
    "matmul": "FULLY_CONNECTED BATCH_MATMUL",
    "norm": "L2_NORMALIZATION LOCAL_RESPONSE_NORMALIZATION",
    "pad": "PAD PADV2 MIRROR_PAD SPACE_TO_BATCH_ND BATCH_TO_SPACE_ND",
    "pool": "AVERAGE_POOL_2D MAX_POOL_2D L2_POOL_2D",
    "recurrent": "RNN UNIDIRECTIONAL_SEQUENCE_RNN BIDIRECTIONAL_SEQUENCE_RNN SVDF",
    "reduce": "SUM MEAN REDUCE_MAX REDUCE_MIN REDUCE_PROD REDUCE_ANY REDUCE_ALL ARG_MAX ARG_MIN "
    "CUMSUM",
    "reshape": "RESHAPE SQUEEZE EXPAND_DIMS",
    "resize": "RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR",
    "search": "WHERE UNIQUE TOPK_V2",
    "segment": "SEGMENT_SUM UNSORTED_SEGMENT_SUM UNSORTED_SEGMENT_PROD UNSORTED_SEGMENT_MIN "
    "UNSORTED_SEGMENT_MAX",
    "slice": "SLICE STRIDED_SLICE REVERSE_V2 REVERSE_SEQUENCE",
    "softmax": "SOFTMAX LOG_SOFTMAX",
    "transpose": "TRANSPOSE SPACE_TO_DEPTH DEPTH_TO_SPACE MATRIX_DIAG MATRIX_SET_DIAG",
    "unary": "ABS NEG SIN COS EXP LOG SQRT RSQRT SQUARE FLOOR CEIL ROUND SIGN LOGICAL_NOT",
    "variable": "VAR_HANDLE READ_VARIABLE ASSIGN_VARIABLE",
}
"""Module of interpreter/ops -> the operators it registers."""

_FAMILY_OF = {kind: family for family, kinds in FAMILIES.items() for kind in kinds.split()}
_ROWS: dict[str, "OpRow"] = {}


class OpRow:
    """A registered operator.

    Attributes:
        prepare: checks a Node, infers its results and returns `emit(program)` or None.
        pure: same inputs give the same results, and nothing else happens; such an op is folded
            when its inputs are known and skipped when nobody reads its results.
    """

    __slots__ = ("prepare", "pure")

    def __init__(self, prepare: Prepare, pure: bool = True):
        self.prepare = prepare
        self.pure = pure


def op(*kinds: str, pure: bool = True) -> Callable[[Prepare], Prepare]:
    """Registers the decorated `prepare` for the operators `kinds`."""

    def register(prepare: Prepare) -> Prepare:
        for kind in kinds:
            if kind in _ROWS:
                raise ValueError(f"operator {kind} is registered twice")
            _ROWS[kind] = OpRow(prepare, pure)
        return prepare

    return register


def kinds() -> tuple[str, ...]:
    """Every operator that has a family."""
    return tuple(_FAMILY_OF)


def row_of(kind: str) -> OpRow:
    """The registered operator `kind`; raises LookupError when there is none."""
    row = _ROWS.get(kind)
    if row is None:
        family = _FAMILY_OF.get(kind)
        if family is None:
            raise LookupError(f"operator {kind} is not supported")
        import_module(f".ops.{family}", __package__)
        row = _ROWS.get(kind)
        if row is None:
            raise LookupError(f"operator {kind} is not supported yet: ops/{family}.py lacks it")
    return row


def prepare_of(kind: str) -> Prepare:
    """The `prepare` function of operator `kind`; raises LookupError when there is none."""
    return row_of(kind).prepare
