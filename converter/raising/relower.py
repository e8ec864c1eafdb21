"""Operators that a runtime lacks, written as what TensorFlow's operations for them become."""

from __future__ import annotations

from ...graph.core import graph as tf
from ...graph.core.build import ops
from ...graph.core.order import data_inputs, ordered
from ...schema.errors import ConverterError
from ..ir.builder import Builder
from ..ir.graph import Graph, Op, Tensor
from ..targets import Target
from ..tf.lower import Work, lowered_tensor
from .quantized import dtype_of
from .raiser import Raiser
from .registry import RAISES
from .trainable import WeightFilter


def relower(graph: Graph, target: Target) -> None:
    """Writes the operators of StableHLO that a target lacks as builtins, in place.

        x -> STABLEHLO_LOGISTIC -> y      becomes      x -> LOGISTIC -> y

    Holds off on quantized tensors, and on what has no such form; `Target.check` refuses it then.
    """
    for callee in graph.reachable():
        for op in list(callee.ops):
            if not op.kind.startswith("STABLEHLO_") or not target.reason_against(op):
                continue
            if RAISES.get(op.kind) is None or _is_quantized(op):
                continue
            try:
                results = relowered(op, Builder(callee, before=op))
            except ConverterError:
                continue
            for old, new in zip(op.outputs, results, strict=True):
                if new.origin is None and new.producer is not None:
                    new.origin, new.name = old.origin, old.name
                callee.replace(old, new)
            callee.remove(op)


def relowered(op: Op, b: Builder) -> list[Tensor]:
    """The results of an operator, by way of TensorFlow's operations.

    Raises ConverterError where there are none for it as it is.
    """
    b.origin(op.origin)
    computed = list(dict.fromkeys(x for x in op.present_inputs if not x.is_constant))
    inner = Graph(op.kind, b.graph.scope)
    inner.inputs = [Tensor(x.name, x.dtype, x.sizes) for x in computed]
    inside = dict(zip(computed, inner.inputs, strict=True))
    operands = [None if x is None else inside.get(x, x) for x in op.inputs]
    inner.outputs = [Tensor(x.name, x.dtype, x.sizes) for x in op.outputs]
    inner.ops = [
        Op(op.kind, operands, inner.outputs, op.options, graphs=op.graphs, origin=op.origin)
    ]
    graph = tf.Graph()
    raiser = Raiser(WeightFilter(None), inner.reachable(), unroll=False)
    with graph.as_default():
        arguments = [ops.Placeholder(dtype=dtype_of(x), shape=x.shape) for x in inner.inputs]
        results = raiser.run(inner, arguments)
    work = Work(arguments, results, ordered([x.op for x in results], data_inputs))
    tensors = dict(zip(arguments, computed, strict=True))
    for _ in work.lower(b, tensors):
        pass
    return [lowered_tensor(tensors, x) for x in results]


def _is_quantized(op: Op) -> bool:
    tensors = (*op.present_inputs, *op.outputs)
    return any(x.quantization is not None for x in tensors)
