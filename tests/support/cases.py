"""One-operator models as data: what an operator is given, and what must come out or be said.

A file of cases/ holds CASES, a list of Case and Refuse; interpreter/test_ops.py runs them all
against their definition and against LiteRT. Options are given by the schema's field names, members
of an enumeration by name.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from flatlite.schema import model, tables
from flatlite.schema.dtypes import tensor_type
from flatlite.schema.flatbuffer import options_class
from flatlite.schema.targets.versions import update_versions

OPTIMIZED = "BUILTIN_WITHOUT_DEFAULT_DELEGATES"


@dataclass(frozen=True)
class Case:
    """An operator with inputs it accepts.

    Attributes:
        name: family/what it shows, unique.
        op: the operator.
        options: fields of its options record that are not the default.
        inputs: arrays, None for an omitted one.
        expected: function of the inputs that gives the result (or several); None when the only
            definition is what LiteRT does.
        outputs: dtypes of the results; None means the first input's.
        constants: positions of inputs that the file holds.
        rtol, atol: allowed difference of floats, relative and absolute.
        oracle: LiteRT's resolver; None when LiteRT cannot run it or is wrong, for reason `why`.
        why: the reason.
        quantization: position of an input, or "out0", ... -> (scale, zero point), or
            (scales, zero point, axis).
    """

    name: str
    op: str
    options: dict[str, Any]
    inputs: Sequence[np.ndarray | None]
    expected: Callable[..., Any] | None = None
    outputs: Sequence[Any] | None = None
    constants: Sequence[int] = ()
    rtol: float = 1e-6
    atol: float = 1e-6
    oracle: str | None = "BUILTIN_REF"
    why: str = ""
    quantization: dict[int | str, tuple[Any, ...]] | None = None

    @property
    def feeds(self) -> list[np.ndarray]:
        """The inputs that are given at run time."""
        return [
            array
            for i, array in enumerate(self.inputs)
            if array is not None and i not in self.constants
        ]


@dataclass(frozen=True)
class Refuse:
    """An operator with inputs or options it must refuse, saying `message`."""

    name: str
    op: str
    options: dict[str, Any]
    inputs: Sequence[np.ndarray | None]
    message: str
    outputs: Sequence[Any] | None = None
    constants: Sequence[int] = ()
    quantization: dict[int | str, tuple[Any, ...]] | None = None


def content(case: Case | Refuse) -> bytes:
    """The file of a model that consists of the case's operator."""
    tensors, inputs = [], []
    for i, array in enumerate(case.inputs):
        if array is None:
            inputs.append(-1)
            continue
        inputs.append(len(tensors))
        data = np.ascontiguousarray(array).reshape(array.shape) if i in case.constants else None
        tensors.append(_tensor(f"in{i}", array.dtype, array.shape, case, i, data))
    first = next(array for array in case.inputs if array is not None)
    outputs = []
    for i, dtype in enumerate(case.outputs or [first.dtype]):
        outputs.append(len(tensors))
        tensors.append(_tensor(f"out{i}", np.dtype(dtype), (), case, f"out{i}"))
    inputs_given = [t for i, t in enumerate(inputs) if t >= 0 and i not in case.constants]
    step = model.Operator(case.op, inputs, outputs, options_record(case.op, case.options))
    graph = model.Subgraph("main", tensors, inputs_given, outputs, [step])
    file = model.Model([graph])
    update_versions(file)
    return model.save(file)


def _tensor(name, dtype, shape, case, key, data=None):
    quantization = _quantization(*(case.quantization or {}).get(key, ()))
    kind = tables.name_of("TensorType", tensor_type(dtype))
    return model.Tensor(name, tuple(shape), kind, data, quantization=quantization)


def _quantization(scales=None, zero_point=0, axis=0):
    if scales is None:
        return None
    scales = np.atleast_1d(np.asarray(scales, np.float32))
    return model.Quantization(scales, np.full(scales.shape, zero_point, np.int64), axis)


def options_record(op: str, options: dict[str, Any]):
    """The options record of an operator, None when it has none."""
    record = options_class(op)
    if record is None:
        return None
    types = {name: kind for name, kind, *_ in tables.TABLES[record.__name__]}
    fields = {}
    for name, value in options.items():
        members = tables.ENUMS.get(types[name])
        fields[name] = members[value] if members and isinstance(value, str) else value
    return record(**fields)


@lru_cache(1)
def all_cases() -> tuple[Case | Refuse, ...]:
    """The cases of every file of cases/."""
    cases = []
    for path in sorted((Path(__file__).parents[1] / "cases").glob("*.py")):
        spec = importlib.util.spec_from_file_location(f"cases_{path.stem}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        cases += module.CASES
    names = [case.name for case in cases]
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        raise ValueError(f"case names must be unique, got {sorted(repeated)} twice")
    return tuple(cases)


def floats(*shape: int, low: float = -1.0, high: float = 1.0, seed: int = 0) -> np.ndarray:
    """Uniform float32 numbers, the same at each call."""
    return np.random.default_rng((seed, *shape)).uniform(low, high, shape).astype(np.float32)


def f32(values) -> np.ndarray:
    """`values` as float32."""
    return np.asarray(values, np.float32)


def i32(values) -> np.ndarray:
    """`values` as int32."""
    return np.asarray(values, np.int32)


def i64(values) -> np.ndarray:
    """`values` as int64."""
    return np.asarray(values, np.int64)


def every(dtype) -> np.ndarray:
    """All numbers of an integer type."""
    known = np.iinfo(dtype)
    return np.arange(known.min, known.max + 1).astype(dtype)


def counting(shape, dtype="float32") -> np.ndarray:
    """0, 1, 2, ...: every element tells where it was."""
    count = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    return count % 2 == 1 if dtype == "bool" else count.astype(dtype)


def steps(h, w=None, **options) -> dict[str, Any]:
    """The options of an operator whose window moves by h rows and w columns."""
    return {"stride_h": h, "stride_w": h if w is None else w, **options}
