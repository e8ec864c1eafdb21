"""Appends operators to a graph; what they result in comes from the interpreter's own `prepare`.

    b = Builder(graph)
    x = b.input("x", np.float32, (None, 28, 28, 1))
    y = b.CONV_2D(x, weights, bias, padding="SAME", stride_h=1, stride_w=1)

Every builtin of the schema is a method; keywords are the fields of its options record. An unknown
dimension of an input becomes a symbol of the graph's scope (sizes.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...schema import tables
from ...schema.dtypes import tensor_type
from ...schema.errors import ConverterError
from .dims import Extent
from .graph import Graph, Op, Sizes, Tensor
from .infer import dynamic_tensor, infer
from .integers import integer_formula
from .legal_types import runs_here, widened
from .prepare import count_outputs
from .pseudo import PSEUDO, operator, options_class

AXES = {4: "nhwc", 5: "ndhwc"}
"""Names of the dimensions of images, by rank; those of others are numbered."""


class Builder:
    """Puts operators into `graph`, at its end or before the op `before`.

    Args:
        graph: where operators go.
        before: an op of the graph; None appends.

    Attributes:
        origin_name: the source node of what is built now; `origin` sets it.
    """

    def __init__(self, graph: Graph, before: Op | None = None) -> None:
        self.graph = graph
        self.before = before
        self.origin_name = before.origin if before is not None else ""

    def __getattr__(self, kind: str) -> Callable:
        if kind not in tables.BUILTIN_OPERATOR and kind not in PSEUDO:
            raise AttributeError(f"TFLite has no operator {kind!r}")
        return partial(self.op, kind)

    def origin(self, source: Tensor | str) -> None:
        """Names the source node of what is built from here on, for names and messages."""
        self.origin_name = source if isinstance(source, str) else source.name

    @staticmethod
    def tensor_type(dtype: Any) -> int:
        """The schema's TensorType number of a numpy dtype, for options that hold one."""
        return tensor_type(np.dtype(dtype))

    def input(
        self,
        name: str,
        dtype: Any,
        shape: Sequence[int | None] | None,
        names: Sequence[str | None] | None = None,
    ) -> Tensor:
        """A model input; None stands for what is unknown until the model runs: a dimension, or all.

        Unknown dimensions to which `names` gives one name are equal.
        """
        tensor = Tensor(name, np.dtype(dtype), None if shape is None else self._sizes(shape, names))
        self.graph.inputs.append(tensor)
        return tensor

    def _sizes(self, shape: Sequence[int | None], names: Sequence[str | None] | None) -> Sizes:
        names = names or [None] * len(shape)
        return tuple(
            self._dimension(i, len(shape), names[i]) if n is None else int(n)
            for i, n in enumerate(shape)
        )

    def _dimension(self, axis: int, rank: int, name: str | None) -> Extent:
        """The symbol of an unknown dimension of an input."""
        scope = self.graph.scope
        if name is not None:
            return scope.named(name, axis == 0)
        label = AXES[rank][axis] if rank in AXES else "n" if axis == 0 else f"s{axis}"
        return scope.batch(label) if axis == 0 else scope.length(label)

    def constant(self, value: Any, name: str = "") -> Tensor:
        """Data of the model. Python ints become int32, floats float32; arrays keep their type."""
        array = as_array(value)
        return Tensor(name or self.origin_name, array.dtype, array.shape, array)

    def custom(
        self,
        code: str,
        *inputs: Any,
        outputs: Sequence[tuple[Any, Sequence[int | None] | None]],
        options: bytes = b"",
    ) -> tuple[Tensor, ...]:
        """A custom operator; `outputs` are (dtype, shape) of its results, None for any rank."""
        tensors = [self._tensor(value) for value in inputs]
        results = [
            dynamic_tensor(self.graph, self.origin_name, np.dtype(dtype), shape)
            for dtype, shape in outputs
        ]
        op = Op("CUSTOM", tensors, results, custom_code=code, custom_options=options)
        return tuple(self._insert(op).outputs)

    def op(
        self,
        kind: str,
        *inputs: Any,
        dtype: Any = None,
        n_outputs: int | None = None,
        graphs: Sequence[Graph] = (),
        shapes: Sequence[Sequence[int]] = (),
        **options: Any,
    ) -> Any:
        """The result of a builtin operator, a tuple where it may have several.

        Args:
            kind: name in the schema.
            inputs: Tensors, None for an omitted one; arrays and numbers become constants.
            dtype: type of the result, for ops that do not imply it (CAST); a list of types where
                there are several results.
            n_outputs: number of results, where options do not say it.
            graphs: what it calls.
            shapes: of the results, for ops whose operands do not tell.
            options: fields of its options record; enums by name or number.

        Raises:
            ConverterError: the op cannot take these inputs, or the interpreter lacks it.
        """
        tensors = [self._tensor(value) for value in inputs]
        op = Op(
            kind, tensors, [], make_options(kind, options), graphs=graphs, origin=self.origin_name
        )
        if isinstance(dtype, list | tuple):
            dtypes = list(dtype)
        else:
            dtypes = [dtype] * (count_outputs(op) if n_outputs is None else n_outputs)
        declared = [None if dtype is None else np.dtype(dtype) for dtype in dtypes]
        op.outputs = [
            Tensor("", np.dtype(d), tuple(s)) for d, s in zip(dtypes, shapes, strict=False)
        ]
        try:
            op.outputs = infer(self.graph, op, declared)
        except ConverterError:
            wider = widened(self, kind, tensors, dtypes, n_outputs=len(dtypes), **options)
            if wider is None:
                integers = integer_formula(self, kind, tensors)
                if integers is None:
                    raise
                wider = [integers]
            op.outputs = wider
        else:
            wider = None
            if not runs_here(op):
                wider = widened(self, kind, tensors, dtypes, n_outputs=len(dtypes), **options)
            if wider is None:
                self._insert(op)
            else:
                op.outputs = wider
        result_rows = operator(kind).results
        is_single = len(result_rows) == len(op.outputs) == 1 and not result_rows[0].is_variadic
        return op.outputs[0] if is_single else tuple(op.outputs)

    def _tensor(self, value: Any) -> Tensor | None:
        return value if value is None or isinstance(value, Tensor) else self.constant(value)

    def _insert(self, op: Op) -> Op:
        if self.before is None:
            return self.graph.append(op)
        return self.graph.insert_before(self.before, op)


def make_options(kind: str, fields: dict[str, Any]) -> Any:
    """The options record of a builtin; enum fields by name or number, None without options.

    An option that LiteRT insists on has the first value the table of operators lists.

    >>> make_options("CONV_2D", {"padding": "VALID", "stride_w": 2})
    Conv2DOptions(padding=1, stride_w=2)
    """
    cls = options_class(kind)
    if cls is None:
        if fields:
            raise TypeError(f"{kind} has no options, got {', '.join(fields)}")
        return None
    needed = operator(kind).options
    fields = {**{name: values[0] for name, values in needed.items()}, **fields}
    if not fields:
        return cls()
    types = {name: type_ for name, type_, *_ in tables.TABLES[cls.__name__]}
    return cls(**{name: _field(types.get(name), value) for name, value in fields.items()})


def _field(type_: str | None, value: Any) -> Any:
    if isinstance(value, str) and type_ in tables.ENUMS:
        return tables.ENUMS[type_][value]
    if isinstance(value, list | tuple):
        return np.asarray(value, np.int64 if type_ == "[long]" else np.int32)
    if isinstance(value, np.generic):
        return value.item()
    return value


LARGE = 1 << 20
"""Bytes of a constant from which on its elements are not moved before they are written."""


def as_array(value: Any) -> np.ndarray:
    """A read-only array; Python ints become int32, floats float32.

    Its elements are in C order unless it is a large view of others: the writer puts these in order.
    """
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value, order="C" if value.nbytes < LARGE else None).view()
    else:
        array = np.asarray(value)
        if array.dtype.kind in "if":
            array = array.astype(np.int32 if array.dtype.kind == "i" else np.float32)
    array.flags.writeable = False
    return array
