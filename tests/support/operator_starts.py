"""Models of one operator that LiteRT runs, from which record_operators.py goes on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
from cases import Case, all_cases, f32, floats, i32, options_record

from flatlite.schema import operators
from flatlite.schema.dtypes import TENSOR_TYPES, tensor_type
from flatlite.schema.flatbuffer import Record
from flatlite.schema.tables import TENSOR_TYPE, name_of

TYPE_OPTIONS = {
    "ARG_MAX": {"output_type": 2},
    "ARG_MIN": {"output_type": 2},
    "CAST": {"in_data_type": 0, "out_data_type": 1},
    "SHAPE": {"out_type": 1},
    "UNIQUE": {"idx_out_type": 2},
}
"""Options that state the type of the operand or result at a place."""


@dataclass(frozen=True)
class Start:
    """An operator with operands of some types.

    Attributes:
        kind: the operator.
        inputs: arrays, None for one left out.
        codes: the types of operands and results.
        record: the options.
        oracle: LiteRT's resolver whose values are right.
        constants: places the file holds.
        scales: place -> (scales, zero point, axis, type they are for).
    """

    kind: str
    inputs: tuple[Any, ...]
    codes: tuple[str, ...]
    record: Record | None
    oracle: str
    constants: frozenset[int] = frozenset()
    scales: dict[int, tuple] = field(default_factory=dict)

    def options(self, codes: tuple[str, ...]) -> Record | None:
        """The options, those that state types in agreement with these."""
        type_positions = TYPE_OPTIONS.get(self.kind)
        if type_positions is None or self.record is None:
            return self.record
        fields = {name: getattr(self.record, name) for name in type(self.record).__slots__}
        for name, position in type_positions.items():
            fields[name] = TENSOR_TYPE[operators.TYPES[codes[position].removeprefix("q")]]
        return type(self.record)(**fields)


def starts(kind: str) -> list[Start]:
    """The cases of an operator that differ in more than numbers."""
    by_key: dict[tuple, Start] = {}
    for case in (*all_cases(), *MORE):
        if isinstance(case, Case) and case.op == kind:
            start = _of(case)
            mask = tuple(x is None for x in start.inputs)
            if all(x is None or x.size for x in start.inputs):
                by_key.setdefault((start.codes, mask, start.constants), start)
    return list(by_key.values())


INDICES = ("i16", "i32", "i64")


def indices(every: list[Start]) -> frozenset[int]:
    """The operands that are integers whatever the results are: indices, sizes, axes."""
    if not every:
        return frozenset()
    positions = set(range(min(len(one.inputs) for one in every)))
    for one in every:
        positions = {i for i in positions if one.codes[i] in INDICES}
    apart = {
        i for one in every for i in positions if one.codes[i] not in one.codes[len(one.inputs) :]
    }
    return frozenset(apart)


def _of(case: Case) -> Start:
    first = next(array for array in case.inputs if array is not None)
    quantization = case.quantization or {}
    codes, scales = [], {}
    types = [None if array is None else array.dtype for array in case.inputs]
    keys: list = list(range(len(types)))
    outputs = [first.dtype] if case.outputs is None else list(case.outputs)
    for i, dtype in enumerate(outputs):
        types.append(np.dtype(dtype))
        keys.append(f"out{i}")
    for place, (key, dtype) in enumerate(zip(keys, types, strict=True)):
        if dtype is None:
            codes.append("-")
            continue
        code = operators.SHORT[name_of("TensorType", tensor_type(dtype))]
        if key in quantization:
            code = f"q{code}"
            values, zero, *axis = quantization[key]
            scales[place] = (np.atleast_1d(values), zero, *(axis or [0]), code)
        codes.append(code)
    return Start(
        case.op,
        tuple(case.inputs),
        tuple(codes),
        options_record(case.op, case.options),
        case.oracle or "BUILTIN_REF",
        frozenset(case.constants),
        scales=scales,
    )


def retyped(array: np.ndarray, code: str) -> np.ndarray:
    """The values of a start as another type, as near as it goes."""
    name = operators.TYPES[code.removeprefix("q")]
    if code == "str":
        return np.array([str(x).encode() for x in array.ravel()], object).reshape(array.shape)
    dtype = TENSOR_TYPES[name]
    if array.dtype == dtype:
        return array
    if array.dtype == object:
        array = np.arange(array.size, dtype=np.int32).reshape(array.shape)
    if array.dtype.name in ("bfloat16", "int4"):
        array = array.astype(np.float32)
    kind = "f" if name.startswith(("BFLOAT", "FLOAT")) else dtype.kind
    if array.dtype.kind in "fc" and kind not in "fc" and name != "BOOL":
        array = np.asarray(np.rint(array.real * 4))
        array = np.clip(array, *limits(dtype))
    if array.dtype.kind in "iu" and kind in "iu":
        array = np.clip(array, *limits(dtype))
    return np.asarray(array).astype(dtype)


def limits(dtype: np.dtype) -> tuple[int, int]:
    """What an integer type holds, kept in what float64 can tell apart."""
    info = ml_dtypes.iinfo(dtype)
    return max(int(info.min), -(2**52)), min(int(info.max), 2**52)


c64 = np.array([1 + 2j, -3.5, 0.25j], np.complex64)
BOXES = f32([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 10, 1, 11]])
SUPPRESSION = [BOXES, f32([0.9, 0.75, 0.6]), i32(2), f32(0.5), f32(0.0)]
MORE = [
    Case("bucketize", "BUCKETIZE", {"boundaries": f32([0, 10, 100])}, [f32([-5, 50, 7])], None,
         [np.int32]),
    Case("real", "REAL", {}, [c64], None, [np.float32]),
    Case("imag", "IMAG", {}, [c64], None, [np.float32]),
    Case("complex_abs", "COMPLEX_ABS", {}, [c64], None, [np.float32]),
    Case("rfft2d", "RFFT2D", {}, [np.ones((4, 8), np.float32), i32([4, 8])], None, [np.complex64],
         constants=(1,)),
    Case("nms4", "NON_MAX_SUPPRESSION_V4", {}, SUPPRESSION, None, [np.int32, np.int32]),
    Case("nms5", "NON_MAX_SUPPRESSION_V5", {}, [*SUPPRESSION, f32(0.5)], None,
         [np.int32, np.float32, np.int32]),
    Case("normal", "RANDOM_STANDARD_NORMAL", {"seed": 1, "seed2": 2}, [i32([2, 3])], None,
         [np.float32]),
    Case("uniform", "RANDOM_UNIFORM", {"seed": 1, "seed2": 2}, [i32([2, 3])], None, [np.float32]),
    Case("multinomial", "MULTINOMIAL", {"seed": 1, "seed2": 2}, [f32([[0.1, 0.9]]), i32(4)], None,
         [np.int32]),
    Case("hashtable_lookup", "HASHTABLE_LOOKUP", {},
         [i32([1, 3]), i32([1, 2, 3]), f32([[1, 2], [3, 4], [5, 6]])], None,
         [np.float32, np.uint8]),
    Case("embedding_sparse", "EMBEDDING_LOOKUP_SPARSE", {},
         [i32([1, 0]), np.array([[0, 0], [1, 0]], np.int32), i32([2, 1]), f32([1, 2]),
          f32([[1, 2], [3, 4]])], None, [np.float32]),
    Case("gather_strings", "GATHER", {}, [f32([1, 2, 3]), i32([2, 0])], None, constants=(1,)),
    Case("dilate", "DILATE", {}, [f32([[1, 2], [3, 4]]), i32([2, 1]), f32(0)], None, [np.float32]),
    Case("conv_3d_transpose", "CONV_3D_TRANSPOSE", {"stride_d": 1, "stride_h": 1, "stride_w": 1},
         [i32([1, 3, 3, 3, 2]), floats(2, 2, 2, 2, 3), floats(1, 2, 2, 2, 3), floats(2)], None,
         [np.float32], constants=(0,)),
]  # fmt: skip
"""Operators that our interpreter does not have, and forms that no case has."""
