"""Where flatlite does not do as LiteRT with a variant, and why.

A row holds an operator, a condition on the variant, and the reason; the verdicts that it explains
are those of `verdicts.py` which are no passes, but never "dies" or "unclear".
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

import numpy as np
from cases import Case

EXPLAINED = ("differs", "refused here", "unfounded")


class Row(NamedTuple):
    """One reason: `holds(case)` for a variant of `op`."""

    op: str
    holds: Callable[[Case], Any]
    reason: str


def _shape(case: Case, i: int) -> tuple[int, ...]:
    x = case.inputs[i]
    return () if x is None else x.shape


def _no_rows(case: Case) -> bool:
    """The weights have no columns, or the input is none of their rows."""
    depth = _shape(case, 1)[1]
    return depth == 0 or prod(_shape(case, 0)) % depth > 0


def _other_lengths(case: Case) -> bool:
    """A list does not have one element for each dimension of the first operand."""
    rank = len(_shape(case, 0))
    return any(prod(_shape(case, i)) != rank for i in (2, 3, 4))


def _other_options(case: Case) -> bool:
    """The options list other than one number for each dimension."""
    return len(case.options["edge_padding_low"]) != len(_shape(case, 0))


def _other_diagonals(case: Case) -> bool:
    *batch, rows, columns = _shape(case, 0)
    return _shape(case, 1) != (*batch, min(rows, columns))


def _too_narrow(case: Case) -> bool:
    """No window fits into the width."""
    is_valid = case.options.get("padding") == "VALID"
    return is_valid and _shape(case, 0)[2] < case.options["filter_width"]


def _lowest_by_minus_one(case: Case) -> bool:
    x, y = (np.asarray(one) for one in case.inputs)
    return x.dtype.kind == "i" and bool((x == np.iinfo(x.dtype).min).any() and (y == -1).any())


def _folds_nothing(case: Case) -> bool:
    return bool(case.quantization) and 0 in _shape(case, 0)


ROWS = (
    Row("ATAN2", lambda c: _shape(c, 0) != _shape(c, 1),
        "the second operand is read as if it had the first one's shape"),
    Row("BATCH_MATMUL", lambda c: 0 in _shape(c, 1)[-2:] and c.inputs[1].dtype == np.int8,
        "LiteRT divides by the depth; a sum of nothing is 0"),
    Row("EMBEDDING_LOOKUP", lambda c: 0 in _shape(c, 1),
        "LiteRT does not look at indices of a table without elements"),
    Row("FLOOR_DIV", _lowest_by_minus_one,
        "the lowest number by -1: LiteRT's answer in vectors is not that in shorter rows"),
    Row("FULLY_CONNECTED", _no_rows,
        "LiteRT leaves the bias out where weights have no columns, and what is left of an input "
        "that does not divide into rows"),
    Row("GATHER_ND", lambda c: _shape(c, 1)[-1:] == (0,),
        "an index of no numbers names the whole, as in TensorFlow; LiteRT finds it out of bounds"),
    Row("HASHTABLE_LOOKUP", lambda c: _shape(c, 1) == (0,),
        "nothing is found in a table without rows; LiteRT refuses it"),
    Row("LOG_SOFTMAX", lambda c: _shape(c, 0) == (), "LiteRT ends with a signal; log(1) is 0"),
    Row("MATRIX_SET_DIAG", _other_diagonals, "LiteRT does not look at the diagonals' shape"),
    *(Row(op, _too_narrow, "where no window fits into the width, LiteRT empties the height, too")
      for op in ("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D")),
    Row("POW", lambda c: c.inputs[0].dtype == np.int32,
        "a result beyond int32 wraps in LiteRT for one exponent"),
    *(Row(op, _folds_nothing, "LiteRT writes no result of no elements, or the stored 0")
      for op in ("REDUCE_PROD", "SUM", "MEAN")),
    Row("REDUCE_WINDOW", lambda c: _other_lengths(c) or not all(x.all() for x in c.inputs[2:]),
        "LiteRT does not look at the lists: it reads beyond them, and takes windows of nothing"),
    Row("TRANSPOSE", lambda c: _shape(c, 0) == (), "LiteRT does not copy a scalar"),
    Row("SELECT_V2", lambda c: all(prod(x.shape) == 1 for x in c.inputs),
        "of single elements LiteRT's result has the second operand's shape"),
    Row("STABLEHLO_PAD", _other_options, "LiteRT reads beyond lists that are too short"),
    Row("STABLEHLO_PAD", lambda c: 0 in _shape(c, 0),
        "where one dimension comes to nothing, LiteRT empties the others, too"),
    Row("STRIDED_SLICE", lambda c: _shape(c, 3) != _shape(c, 1),
        "LiteRT reads beyond a list of strides that is too short"),
    Row("STRIDED_SLICE", lambda c: c.options.get("ellipsis_mask"),
        "an ellipsis of no dimension takes the next field's in LiteRT, or one beyond the lists"),
)  # fmt: skip


def reason(case: Case) -> str:
    """Why flatlite does otherwise, empty where nothing is known."""
    return next((row.reason for row in ROWS if row.op == case.op and row.holds(case)), "")
