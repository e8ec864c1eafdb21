"""How a model is quantized, as one record."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ..lowering.fake_quant import reads_dynamic_weights
from .accuracy.algorithms import Algorithm
from .scheme import FLOAT16, INT8, Scheme
from .statistics import MINMAX, Calibrator

if TYPE_CHECKING:
    from ..ir.graph import Graph, Op
    from .needs import Range

FLOAT32 = np.dtype(np.float32)
IO_TYPES = {
    "i8": (FLOAT32, np.dtype(np.int8), np.dtype(np.uint8)),
    "u8": (FLOAT32, np.dtype(np.uint8)),
    "i16": (FLOAT32, np.dtype(np.int16)),
}
"""Types that inputs and outputs may have, by the type of what is inside."""


@dataclass(frozen=True)
class Layers:
    """Operators, by the names of the source's layers, and how they are quantized.

    Attributes:
        pattern: a regular expression; a layer is meant when it is found in its name, or in the
            kind of its operator.
        scheme: None for operators that stay float.
        kind: the kind of operator that alone is meant; empty for all.
        may_miss: whether there need be none.
    """

    pattern: str
    scheme: Scheme | None
    kind: str = ""
    may_miss: bool = False

    def match(self, op: Op) -> bool:
        """Whether `op` comes from one of these layers."""
        if self.kind and op.kind != self.kind:
            return False
        origins = [tensor.origin.name for tensor in op.outputs if tensor.origin is not None]
        names = (op.kind, op.origin, *origins, *(tensor.name for tensor in op.outputs))
        return any(re.search(self.pattern, name) for name in names)


@dataclass(frozen=True)
class Recipe:
    """How a model is quantized.

    Attributes:
        schemes: an operator is quantized in the first of them that has a kernel for it, and stays
            float when none has.
        layers: exceptions; the first one that matches an operator holds.
        strict: whether operators without an integer kernel are an error.
        warns: whether they are a warning.
        input_type, output_type: of float32 inputs and outputs.
        per_tensor: the kinds of operators whose weights have one scale, not one for each channel.
        calibrator: how measured values become a range.
        ranges: a file with measured ranges, or these as `calibrated_ranges` has them; None to
            measure.
        states_ranges: whether the model states its ranges, so that nothing is measured.
        as_stated: whether the source is quantized: what it states no scale of is float32 there, and
            stays so.
        dynamic_only: whether only operators whose weights the source marks so are quantized.
        algorithms: what is done for its accuracy, in this order.
        variables: whether variables are integers, too; in int16x8 they are.
        has_float_ends: whether inputs and outputs that only operators in float touch stay float32,
            as the quantizer before TensorFlow 2.5 leaves them.
    """

    schemes: tuple[Scheme, ...] = (INT8,)
    layers: tuple[Layers, ...] = ()
    strict: bool = False
    warns: bool = False
    input_type: np.dtype = FLOAT32
    output_type: np.dtype = FLOAT32
    per_tensor: frozenset[str] = frozenset()
    calibrator: Calibrator = field(default=MINMAX)
    ranges: str | os.PathLike | Mapping[str, Mapping[str, Range]] | None = None
    states_ranges: bool = False
    as_stated: bool = False
    dynamic_only: bool = False
    algorithms: tuple[Algorithm, ...] = ()
    variables: bool = False
    has_float_ends: bool = False

    @property
    def quantizes_variables(self) -> bool:
        """Whether what variables hold is stored as integers, where its range is known."""
        by_recipe = self.variables or self.strict or self.main.symmetric
        return by_recipe and self.main.activations is not None

    @property
    def weights_only(self) -> bool:
        """Whether results stay float32 everywhere, so that nothing needs to be measured."""
        return all(scheme.activations is None for scheme in self._all_schemes)

    @property
    def numbers(self) -> str:
        """What is computed with, in the words of `optimize`."""
        if not self.weights_only:
            return "integers"
        is_float16 = all(scheme.weights == FLOAT16.weights for scheme in self._all_schemes)
        return "float16" if is_float16 else "float32"

    @property
    def _all_schemes(self) -> list[Scheme]:
        """Those of all layers."""
        return [*self.schemes, *(row.scheme for row in self.layers if row.scheme is not None)]

    @property
    def main(self) -> Scheme:
        """The scheme of the model's inputs and outputs."""
        return self.schemes[0]

    @property
    def calibrates(self) -> bool:
        """Whether the float model must run on samples."""
        is_measured = self.states_ranges or self.ranges is not None
        return not self.weights_only and not is_measured

    def schemes_of(self, op: Op) -> tuple[Scheme, ...]:
        """The schemes that `op` may be quantized in, the best first."""
        for row in self.layers:
            if row.match(op):
                return () if row.scheme is None else (row.scheme,)
        return self.schemes if not self.dynamic_only or reads_dynamic_weights(op) else ()

    def integer_schemes_of(self, op: Op) -> list[Scheme]:
        """Those of them in which its inputs and results are integers."""
        return [scheme for scheme in self.schemes_of(op) if scheme.activations is not None]

    def with_output_names(self, graphs: Sequence[Graph]) -> Recipe:
        """The recipe whose patterns mean outputs by the names that these have in the file, too."""
        rows = []
        for row in self.layers:
            rows.append(row)
            for graph in graphs:
                named = zip(graph.outputs, graph.output_names or (), strict=False)
                rows += [
                    replace(row, pattern=f"^{re.escape(tensor.name)}$")
                    for tensor, name in named
                    if tensor.producer is not None and re.search(row.pattern, name)
                ]
        return replace(self, layers=tuple(rows))

    def check_layers(self, graphs: Sequence[Graph]) -> None:
        """Raises ValueError for a pattern that no operator or output of `graphs` has, but must."""
        ops = [op for graph in graphs for called in graph.reachable() for op in called.ops]
        outputs = [name for graph in graphs for name in graph.output_names or ()]
        for row in self.layers:
            if row.may_miss:
                continue
            is_output = any(re.search(row.pattern, name) for name in outputs)
            if not is_output and not any(row.match(op) for op in ops):
                names = list(dict.fromkeys(op.origin for op in ops if op.origin))[:5]
                raise ValueError(
                    f"no layer is called '{row.pattern}'; layers are {', '.join(names)}, ..."
                )
