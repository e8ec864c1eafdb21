"""The graph with integer tensors: operators that have a rule are quantized, the others stay float.

x:f32 -> CONV_2D -> y:f32 -> SIN -> z:f32        becomes

x:f32 -> QUANTIZE -> i8 -> CONV_2D -> y:i8 -> DEQUANTIZE -> f32 -> SIN -> z:f32

Where operators of two schemes meet, a QUANTIZE makes the integers of one those of the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from ...schema.quantization import Quantization
from ...schema.tables import TENSOR_TYPE
from ..ir.graph import Graph, Op, Tensor
from ..passes.rewrite import with_options
from .cell_rewrite import quantize_cell, scales_of_cell
from .ranges import Scales
from .recipe import Recipe
from .rules import (
    OPTIONS,
    Rule,
    is_float32,
    nonfinite_constant,
    rule_of,
    touches_float32,
)
from .scales import (
    as_uint8,
    constant,
    enlarged_for_bias,
    of_bias,
    of_constant,
    quantized,
    quantized_bias,
    quantized_weights,
)
from .scheme import dtype_of
from .variables import quantize_variable
from .weights import weights_of

FLOAT32, UINT8 = np.dtype(np.float32), np.dtype(np.uint8)
BIAS_TYPE = "quantized_bias_type"


def rewrite(
    graph: Graph,
    scales: Mapping[Op, Scales],
    main: Scales,
    recipe: Recipe,
    variables: Mapping[Op, Quantization] = MappingProxyType({}),
) -> list[Op]:
    """Quantizes `graph` in place.

    Args:
        graph: a float graph.
        scales: for each operator that is to be quantized the scales of the float32 tensors, in its
            scheme; those that have no kernel in it stay float.
        main: the scales of the graph's inputs and outputs.
        recipe: types of inputs and outputs, kinds of weights with one scale.
        variables: the operators that read and assign variables of integers, and their scales.

    Returns:
        The operators on float32 numbers that stay as they are.
    """
    rules = {op: rule for op in graph.ops if op in scales and (rule := quantizable(op, scales[op]))}
    integer_ops = rules.keys() | variables.keys()
    float_ops = [op for op in graph.ops if op not in integer_ops and touches_float32(op)]
    rewriter = Rewriter(graph, main, recipe.per_tensor)
    ops = list(graph.ops)
    if recipe.has_float_ends:
        rewriter.float_ends = {
            *(x for x in graph.inputs if not integer_ops & set(x.readers)),
            *(x for x in graph.outputs if x.producer not in integer_ops),
        }
    rewriter.inputs(recipe.input_type)
    for op in ops:
        if op in rules:
            rewriter.quantize(op, rules[op], scales[op])
        elif op in variables:
            quantize_variable(rewriter, op, variables[op])
        elif op.kind == "FAKE_QUANT" and integer_ops & set(op.output.readers):
            rewriter.quantize_rounded(op)
        else:
            rewriter.keep_float(op)
    rewriter.outputs(recipe.output_type)
    return [op for op in float_ops if op in graph.ops]


def quantizable(op: Op, scales: Scales) -> Rule | None:
    """The rule of `op` when the scales it needs are known, else None."""
    rule = rule_of(op, scales.scheme)
    if rule is None or op in scales.float_ops:
        return None
    if rule.cell is not None and scales_of_cell(op, rule.cell, scales) is None:
        return None
    bias = op.input(rule.bias) if rule.bias is not None else None
    if bias is not None and not bias.is_constant:
        return None
    has_scales = all(
        tensor.is_constant or scales.of_input(op, i) is not None
        for i, tensor in enumerate(op.inputs)
        if is_float32(tensor)
    ) and all(tensor in scales.of for tensor in op.outputs if is_float32(tensor))
    is_refused = (
        not has_scales or divides_by_zero(op, rule, scales) or nonfinite_constant(op) is not None
    )
    return None if is_refused else rule


def divides_by_zero(op: Op, rule: Rule, scales: Scales) -> bool:
    """Whether an element of a constant divisor would become the number that stands for 0."""
    tensor = op.inputs[rule.divisor] if rule.divisor is not None else None
    if tensor is None or not tensor.is_constant:
        return False
    integers = scales.scheme.integers
    params = of_constant(tensor.data, integers)
    return bool((quantized(tensor.data, params, integers) == params.zero_point).any())


class Rewriter:
    """The graph half rewritten: which forms of each float32 tensor there are.

    Attributes:
        scales: the scales of the graph's inputs and outputs.
        quantized: tensors that hold quantized numbers themselves.
        integer_forms: (tensor, type, scale) -> its form as integers of that type on that scale.
        float_forms: tensor -> its float32 form.
        float_ends: inputs and outputs of the graph that stay float32 whatever is asked for.
    """

    def __init__(self, graph: Graph, scales: Scales, per_tensor: frozenset[str]) -> None:
        self.graph = graph
        self.scales = scales
        self.dtype = scales.scheme.integers.dtype
        self.per_tensor = per_tensor
        self.quantized: set[Tensor] = set()
        self.integer_forms: dict[tuple[Tensor, np.dtype, Quantization], Tensor] = {}
        self.float_forms: dict[Tensor, Tensor] = {}
        self.float_ends: set[Tensor] = set()

    def inputs(self, dtype: np.dtype) -> None:
        """Gives the graph's float32 inputs another type."""
        for tensor in dict.fromkeys(self.graph.inputs):
            params = self.scales.of.get(tensor)
            if not is_float32(tensor) or params is None:
                continue
            if dtype == FLOAT32 or tensor in self.float_ends:
                self.float_forms[tensor] = tensor
            elif dtype == UINT8 != self.dtype:
                tensor.dtype, tensor.quantization = UINT8, as_uint8(params)
                self.quantized.add(tensor)
            else:
                self.make_integers(tensor, self.dtype, params)

    def make_integers(self, tensor: Tensor, dtype: np.dtype, params: Quantization) -> None:
        """Makes `tensor` itself one of integers."""
        tensor.dtype, tensor.quantization = dtype, params
        tensor.value = None
        self.integer_forms[tensor, dtype, params] = tensor
        self.quantized.add(tensor)

    def quantize(self, op: Op, rule: Rule, scales: Scales) -> None:
        """Lets `op` work on quantized numbers."""
        if rule.cell is not None:
            quantize_cell(self, op, rule.cell, scales)
            return
        integers = scales.scheme.integers
        weight_positions = self.quantize_weights(op, rule, scales)
        for i, tensor in enumerate(op.inputs):
            if tensor is None or i in weight_positions:
                continue
            if tensor.is_constant and is_float32(tensor):
                params = scales.required(op, i)
                array = quantized(tensor.data, params, integers)
                op.set_input(i, constant(tensor, array, params))
            elif tensor in self.quantized or is_float32(tensor):
                params = scales.required(op, i)
                op.set_input(i, self.as_integers(tensor, integers.dtype, params, op))
        for i, tensor in enumerate(op.outputs):
            if is_float32(tensor):
                self.quantize_result(op, i, tensor, scales)
        options = OPTIONS.get(scales.scheme.code, {}).get(op.kind)
        if options is not None:
            with_options(op, **options)

    def quantize_rounded(self, op: Op) -> None:
        """Makes integers by an operator that rounds what else is read unrounded."""
        x, rounded = op.inputs[0], op.output
        params = self.scales.of.get(x)
        if params is not None:
            op.set_input(0, self.as_integers(x, self.dtype, params, op))
        op.kind, op.options = "QUANTIZE", None
        self.make_integers(rounded, self.dtype, self.scales.of[rounded])

    def quantize_weights(self, op: Op, rule: Rule, scales: Scales) -> tuple[int, ...]:
        """Quantizes constant weights and the bias; their positions."""
        if rule.weights is None:
            return ()
        weights = op.inputs[rule.weights]
        bias = None if rule.bias is None else op.input(rule.bias)
        data, scheme = scales.required(op, rule.data), scales.scheme
        bias_dtype = dtype_of(scheme.bias or "i32")
        if not weights.is_constant:
            params = scales.required(op, rule.weights)
        else:
            params, integers = weights_of(op, weights, rule.axis, scheme, self.per_tensor)
            if bias is not None:
                params = enlarged_for_bias(data, params, bias.data, bias_dtype)
            array = quantized_weights(weights.data, params, integers)
            op.set_input(rule.weights, constant(weights, array, params))
        if bias is None or rule.bias is None:
            return (rule.weights,) if weights.is_constant else ()
        scale = of_bias(data, params)
        op.set_input(rule.bias, constant(bias, quantized_bias(bias.data, scale, bias_dtype), scale))
        if scheme.symmetric and scheme.bias == "i32" and hasattr(op.options, BIAS_TYPE):
            with_options(op, **{BIAS_TYPE: TENSOR_TYPE["INT32"]})  # LiteRT takes others for int64
        return (rule.weights, rule.bias) if weights.is_constant else (rule.bias,)

    def quantize_result(self, op: Op, i: int, tensor: Tensor, scales: Scales) -> None:
        """Makes result `i` one of integers, requantized where the readers need another scale."""
        dtype = scales.scheme.integers.dtype
        params, op_params = scales.of[tensor], scales.result(op, i)
        self.make_integers(tensor, dtype, params)
        if op_params != params:
            inner = like(tensor, dtype, op_params, tensor.name)
            op.outputs[i] = inner
            inner.producer = op
            self.graph.insert_after(op, Op("QUANTIZE", [inner], [tensor], origin=op.origin))

    def keep_float(self, op: Op) -> None:
        """Lets `op` work on float32 numbers."""
        for i, tensor in enumerate(op.inputs):
            if tensor is not None and tensor in self.quantized:
                op.set_input(i, self.as_float32(tensor, op))
        for tensor in op.outputs:
            if is_float32(tensor):
                self.float_forms[tensor] = tensor

    def as_integers(
        self, tensor: Tensor, dtype: np.dtype, params: Quantization, reader: Op | None
    ) -> Tensor:
        """`tensor` as integers on a scale, made before `reader` or at the end."""
        if (tensor, dtype, params) not in self.integer_forms:
            stated, source = self.scales.of.get(tensor), tensor
            if self.scales.are_stated and is_float32(tensor) and stated not in (None, params):
                source = self.as_integers(tensor, dtype, stated, reader)
            result = like(tensor, dtype, params, tensor.name)
            self.insert("QUANTIZE", source, result, reader)
            self.integer_forms[tensor, dtype, params] = result
        return self.integer_forms[tensor, dtype, params]

    def as_float32(self, tensor: Tensor, reader: Op | None) -> Tensor:
        """`tensor` as float32 numbers, made before `reader` or at the end."""
        if tensor not in self.float_forms:
            result = like(tensor, FLOAT32, None, tensor.name)
            self.insert("DEQUANTIZE", tensor, result, reader)
            self.float_forms[tensor] = result
        return self.float_forms[tensor]

    def insert(self, kind: str, source: Tensor, result: Tensor, reader: Op | None) -> None:
        """Puts an operator that makes `result` of `source` before `reader`, or at the end."""
        op = Op(kind, [source], [result], origin=source.name)
        if reader is None:
            self.graph.append(op)
        else:
            self.graph.insert_before(reader, op)

    def outputs(self, dtype: np.dtype) -> None:
        """Gives the graph's float32 outputs the type `dtype`; their names stay."""
        before = list(self.graph.outputs)
        if self.graph.output_names is None:
            self.graph.output_names = [tensor.name for tensor in before]
        after = [self.output(tensor, dtype) for tensor in before]
        self.graph.outputs = after

    def output(self, tensor: Tensor, dtype: np.dtype) -> Tensor:
        """The form of an output that has the type asked for."""
        params = self.scales.of.get(tensor)
        if params is None and is_float32(tensor) and tensor.is_constant and dtype != FLOAT32:
            integers = self.scales.scheme.integers
            params = of_constant(tensor.data, integers)
            tensor = constant(tensor, quantized(tensor.data, params, integers), params)
            self.quantized.add(tensor)
            self.integer_forms[tensor, integers.dtype, params] = tensor
        if params is None or (tensor in self.float_ends and is_float32(tensor)):
            return tensor
        if dtype == FLOAT32:
            return self.as_float32(tensor, None) if tensor in self.quantized else tensor
        if dtype == self.dtype:
            return self.as_integers(tensor, dtype, params, None)
        if tensor.dtype == UINT8:  # an input that leaves again
            return tensor
        result = like(tensor, UINT8, as_uint8(params), tensor.name)
        self.insert("QUANTIZE", tensor, result, None)
        return result


def like(tensor: Tensor, dtype: np.dtype, params: Quantization | None, name: str) -> Tensor:
    """A tensor of the shape of another, for the same values in another form."""
    return Tensor(name, dtype, tensor.sizes, origin=tensor.origin, quantization=params)
