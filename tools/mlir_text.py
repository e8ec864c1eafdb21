"""Models as the text of MLIR's `tfl` dialect, as TensorFlow's analyzer prints them.

Operators with subgraphs, custom ones and StableHLO's have other forms there, and are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..schema import operators, tables
from ..schema.dtypes import TENSOR_TYPES
from ..schema.model import load

_MOST_ELEMENTS = 16
"""Of a constant that is written out."""
_MOST_ZEROS = 3
"""Before a number's first digit, or after its last one."""
_PRECISIONS = {"float16": 5, "bfloat16": 4, "float32": 9, "float64": 17}
"""Digits that LLVM writes of a number: 2 + bits of its significand * 59 / 196."""
_TYPES = {
    "FLOAT32": "f32", "FLOAT16": "f16", "BFLOAT16": "bf16", "FLOAT64": "f64", "INT4": "i4",
    "INT8": "i8", "INT16": "i16", "INT32": "i32", "INT64": "i64", "UINT8": "ui8", "UINT16": "ui16",
    "UINT32": "ui32", "UINT64": "ui64", "BOOL": "i1", "STRING": "!tf_type.string",
    "COMPLEX64": "complex<f32>", "COMPLEX128": "complex<f64>", "RESOURCE": "!tf_type.resource",
    "VARIANT": "!tf_type.variant",
}  # fmt: skip
_STORED_AS = {"i64": "i32"}
"""What integers with scales are said to be."""
_SHORT = ("ADD", "DIV", "FLOOR_DIV", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL",
          "LOGICAL_AND", "LOGICAL_OR", "MUL", "NOT_EQUAL", "POW", "SQUARED_DIFFERENCE",
          "SUB")  # fmt: skip
"""Operators with a form of their own."""
_DROPPED = frozenset(
    ("idx_out_type", "in_data_type", "new_shape", "out_data_type", "out_type", "output_type")
) | frozenset(("pot_scale_int16", "quant_spec", "quantized_bias_type", "validate_indices"))
"""Options that the types of results say already, or that nothing reads."""
_NAMED_RESULTS = {
    "NON_MAX_SUPPRESSION_V4": ("%selected_indices", "%valid_outputs"),
    "NON_MAX_SUPPRESSION_V5": ("%selected_indices", "%selected_scores", "%valid_outputs"),
    "TOPK_V2": ("%values", "%indices"),
    "UNIQUE": ("%output", "%idx"),
}
_WEIGHTS = ("CONV_2D", "DEPTHWISE_CONV_2D", "EMBEDDING_LOOKUP", "FULLY_CONNECTED", "TRANSPOSE_CONV")
"""Operators whose second operand is weights, without the lowest number of int8."""
_OPTIONAL = {"CONV_3D_TRANSPOSE": 4, "TRANSPOSE_CONV": 4, "FULLY_CONNECTED": 3}
"""Operands of operators whose last may be left out."""


def mlir_text(content: Any) -> str:
    """A model's bytes as the text of MLIR.

    Raises ValueError, naming the operator, where one has a form that is not written here.
    """
    model = load(content)
    head = _module_attributes(model)
    lines = [f"module attributes {{{head}}} {{"]
    for index, graph in enumerate(model.subgraphs):
        signatures = [s for s in model.signatures if s.subgraph == index]
        lines += _Function(graph, signatures[0] if signatures else None).lines()
    return "\n".join([*lines, "}", ""])


def _module_attributes(model: Any) -> str:
    pairs = [("tfl.schema_version", "3 : i32")]
    if model.description:
        pairs.append(("tfl.description", _quoted(model.description.encode())))
    if model.metadata:
        values = sorted((name, bytes(value)) for name, value in dict(model.metadata).items())
        inside = ", ".join(f"{name} = {_quoted(value)}" for name, value in values)
        pairs.append(("tfl.metadata", f"{{{inside}}}"))
    words = [f"{name} = {value}" for name, value in sorted(pairs)]
    return ", ".join(["tf_saved_model.semantics", *words] if model.signatures else words)


class _Function:
    """One subgraph as a function."""

    def __init__(self, graph: Any, signature: Any):
        self._graph, self._signature = graph, signature
        self._names: dict[int, str] = {t: f"%arg{i}" for i, t in enumerate(graph.inputs)}
        self._body: list[str] = []
        self._n = 0
        self._narrow = {
            step.inputs[1]
            for step in graph.operators
            if step.op in _WEIGHTS and step.inputs[1] >= 0
        }

    def lines(self) -> Iterator[str]:
        """Its text, line by line."""
        graph = self._graph
        for step in graph.operators:
            self._add(step)
        for tensor in graph.outputs:
            self._operand(tensor)
        by_tensor = [{}, {}] if self._signature is None else [
            {t: n for n, t in ends.items()}
            for ends in (self._signature.inputs, self._signature.outputs)
        ]  # fmt: skip

        def indexed(tensor: int, side: int) -> str:
            path = by_tensor[side].get(tensor)
            return "" if path is None else f' {{tf_saved_model.index_path = ["{path}"]}}'

        arguments = ", ".join(
            f"{self._names[t]}: {self._type(t)}{indexed(t, 0)}" for t in graph.inputs
        )
        ends = [(self._type(t), indexed(t, 1)) for t in graph.outputs]
        results = ", ".join(kind + path for kind, path in ends)
        if len(ends) != 1 or ends[0][1]:
            results = f"({results})"
        names = [",".join(graph.tensors[t].name for t in x) for x in (graph.inputs, graph.outputs)]
        named = zip(("inputs", "outputs"), names, (graph.inputs, graph.outputs), strict=True)
        listed = ", ".join(f'{side} = "{text}"' for side, text, tensors in named if len(tensors))
        entry = f"tf.entry_function = {{{listed}}}"
        if self._signature is not None:
            entry += f', tf_saved_model.exported_names = ["{self._signature.key}"]'
        name = graph.name or "main"
        yield f"  func.func @{name}({arguments}) -> {results} attributes {{{entry}}} {{"
        yield from self._body
        values = ", ".join(self._names[t] for t in graph.outputs)
        kinds = ", ".join(self._type(t) for t in graph.outputs)
        yield f"    return {values} : {kinds}" if values else "    return"
        yield "  }"

    def _add(self, step: Any) -> None:
        row = None if step.custom_code else operators.operator(step.op)
        if row is None or row.calls or step.op.startswith("STABLEHLO_"):
            raise ValueError(
                f"operator '{step.custom_code or step.op}' has a form in MLIR that flatlite does "
                "not write; without experimental_use_mlir the model is printed as operators"
            )
        positions = [*step.inputs, *[-1] * (_OPTIONAL.get(step.op, 0) - len(step.inputs))]
        operands = [self._operand(t) for t in positions]
        kinds = ["none" if t < 0 else self._type(t) for t in positions]
        if step.op == "RESHAPE" and len(positions) == 1:
            shape = np.asarray(step.options.new_shape, np.int32)
            kinds.append(f"tensor<{shape.size}xi32>")
            operands.append(self._constant(shape, kinds[-1]))
        names = _NAMED_RESULTS.get(step.op, ())
        if len(names) == len(step.outputs):
            left = ", ".join(names)
            self._names.update(zip(step.outputs, names, strict=True))
        else:
            left = self._next()
            n = len(step.outputs)
            parts = [left] if n == 1 else [f"{left}#{i}" for i in range(n)]
            self._names.update(zip(step.outputs, parts, strict=True))
            left += f":{n}" if n > 1 else ""
        results = [self._type(t) for t in step.outputs]
        attributes = ", ".join(self._attributes(step))
        name = f"tfl.{step.op.lower()}"
        if step.op in _SHORT and len({*kinds, *results}) == 1:
            dictionary = f" {{{attributes}}}" if attributes else ""
            text = f"{name} {', '.join(operands)}{dictionary} : {results[0]}"
        else:
            shown = name if step.op in _SHORT else f'"{name}"'
            properties = f" <{{{attributes}}}>" if attributes else ""
            types = f"({', '.join(kinds)}) -> " + _listed(results)
            text = f"{shown}({', '.join(operands)}){properties} : {types}"
        self._body.append(f"    {left} = {text}")

    def _next(self) -> str:
        self._n += 1
        return f"%{self._n - 1}"

    def _operand(self, tensor: int) -> str:
        """The name of a value; a constant is added before it is read first."""
        if tensor in self._names:
            return self._names[tensor]
        name = self._names[tensor] = self._next()
        if tensor < 0:
            self._body.append(f'    {name} = "tfl.no_value"() <{{value}}> : () -> none')
            return name
        declared, kind = self._graph.tensors[tensor], self._type(tensor)
        dtype = TENSOR_TYPES[declared.dtype]
        data = np.zeros(declared.shape, dtype) if declared.data is None else declared.data
        element = _TYPES[declared.dtype]
        if "!quant" in kind:
            element = _STORED_AS.get(element, element)
        plain = f"tensor<{_dimensions(declared)}{element}>"
        value = f"{_dense(np.asarray(data).reshape(declared.shape))} : {plain}"
        if kind == plain:
            operation = f'"tfl.pseudo_const"() <{{value = {value}}}>'
        else:
            operation = f'"tfl.pseudo_qconst"() <{{qtype = {kind}, value = {value}}}>'
        if declared.is_variable:
            operation += " {tfl.is_variable}"
        self._body.append(f"    {name} = {operation} : () -> {kind}")
        return name

    def _constant(self, value: np.ndarray, kind: str) -> str:
        name = self._next()
        operation = f'"tfl.pseudo_const"() <{{value = {_dense(value)} : {kind}}}>'
        self._body.append(f"    {name} = {operation} : () -> {kind}")
        return name

    def _type(self, tensor: int) -> str:
        declared = self._graph.tensors[tensor]
        element = _TYPES.get(declared.dtype)
        if element is None:
            raise ValueError(f"tensor '{declared.name}' is {declared.dtype}, which is not written")
        scheme = declared.quantization
        if scheme is not None and scheme.scales is not None and np.size(scheme.scales):
            narrow = (
                tensor in self._narrow and declared.dtype == "INT8" and declared.data is not None
            )
            element = _quantized(_STORED_AS.get(element, element), scheme, narrow)
        return f"tensor<{_dimensions(declared)}{element}>"

    def _attributes(self, step: Any) -> Iterator[str]:
        """The options, by name."""
        if step.op == "QUANTIZE":
            yield f"qtype = {self._type(step.outputs[0])}"
            return
        options = step.options
        fields = () if options is None else tables.TABLES[type(options).__name__]
        for name, kind, *_ in sorted(fields):
            if name not in _DROPPED:
                yield f"{name} = {_attribute(kind, getattr(options, name))}"


def _listed(kinds: Sequence[str]) -> str:
    return kinds[0] if len(kinds) == 1 else f"({', '.join(kinds)})"


def _attribute(kind: str, value: Any) -> str:
    if kind == "MirrorPadMode":
        return f"#tfl<mirror_pad_attr {tables.name_of(kind, value)}>"
    if kind in tables.ENUM_TYPES:
        return f'"{tables.name_of(kind, value)}"'
    if kind == "bool":
        return str(bool(value)).lower()
    if kind == "float":
        return f"{_float(np.float32(value))} : f32"
    if kind in ("int", "long"):
        return f"{value} : i{64 if kind == 'long' else 32}"
    if kind == "string":
        return f'"{value or ""}"'
    array = np.asarray([] if value is None else value)
    if array.dtype.kind == "f":
        return "[" + ", ".join(f"{_float(x)} : f32" for x in array) + "]"
    return "[" + ", ".join(map(str, array.tolist())) + "]"


def _dimensions(tensor: Any) -> str:
    if not tensor.shape and not tensor.has_rank and tensor.data is None:
        return "*x"
    sizes = tensor.shape if tensor.shape_signature is None else tensor.shape_signature
    return "".join(f"{'?' if size < 0 else size}x" for size in sizes)


def _quantized(element: str, scheme: Any, narrow: bool) -> str:
    """The type of integers with scales."""
    scales = np.atleast_1d(scheme.scales).astype(np.float64)
    zeros = np.zeros(len(scales), np.int64) if scheme.zero_points is None else scheme.zero_points
    pairs = [
        _float(scale) + (f":{zero}" if zero else "")
        for scale, zero in zip(scales, np.resize(zeros, len(scales)).tolist(), strict=True)
    ]
    kind = element.replace("ui", "u") + ("<-127:127>" if narrow else "")
    if len(pairs) == 1:
        return f"!quant.uniform<{kind}:f32, {pairs[0]}>"
    return f"!quant.uniform<{kind}:f32:{int(scheme.axis)}, {{{','.join(pairs)}}}>"


def _dense(array: np.ndarray) -> str:
    """The elements of a constant."""
    flat = array.ravel()
    alike = flat.tolist() if array.dtype.hasobject else [x.tobytes() for x in flat]
    if array.size and len(set(alike)) == 1:
        return f"dense<{_element(flat[0])}>"
    if array.size > _MOST_ELEMENTS:
        return "dense_resource<__elided__>"
    return f"dense<{_nested(array)}>" if array.size else "dense<>"


def _nested(array: np.ndarray) -> str:
    if not array.ndim:
        return _element(array[()])
    return "[" + ", ".join(map(_nested, array)) + "]"


def _element(value: Any) -> str:
    if isinstance(value, bytes):
        return _quoted(value)
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value)).lower()
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if np.iscomplexobj(value):
        return f"({_float(value.real)},{_float(value.imag)})"
    return _float(value)


def _float(value: Any) -> str:
    """A float as LLVM writes it: in six digits where these say it, else in all that it has.

    What would have no point then, and what is not finite, is written as its bits.
    """
    array, number = np.asarray(value), float(value)
    dtype = array.dtype
    bits = f"0x{array.view(f'u{dtype.itemsize}'):0{2 * dtype.itemsize}X}"
    if not np.isfinite(number):
        return bits
    sign = "-" if np.signbit(value) else ""
    digits, exponent = _digits(abs(number), 6) if number else ("0", 0)
    power = exponent + len(digits) - 1
    short = f"{sign}{digits[0]}.{digits[1:]:0<6}e{power:+03d}"
    if dtype.type(short) == value:
        return short
    precision = _PRECISIONS[dtype.name]
    digits, exponent = _digits(abs(number), precision)
    first = exponent + len(digits) - 1
    if exponent >= 0:
        scientific, text = exponent > _MOST_ZEROS or first >= precision, ""
    elif first >= 0:
        scientific, text = False, f"{digits[: first + 1]}.{digits[first + 1 :]}"
    else:
        scientific, text = -first > _MOST_ZEROS, f"0.{'0' * (-first - 1)}{digits}"
    if scientific:
        text = f"{digits[0]}.{digits[1:] or '0'}E{'+' if first >= 0 else '-'}{abs(first)}"
    return sign + text if text else bits


def _digits(number: float, count: int) -> tuple[str, int]:
    """At most `count` decimal digits and the exponent of the last one.

    Bits that these have no room for are cut off first, and what is left is rounded, as in LLVM.
    """
    numerator, denominator = number.as_integer_ratio()
    exponent = -(denominator.bit_length() - 1)
    significand = numerator * 5**-exponent
    surplus = (significand.bit_length() - (count * 196 + 58) // 59) * 59 // 196
    if surplus > 0:
        significand //= 10**surplus
        exponent += surplus
    text = str(significand)
    if len(text) > count:
        dropped = len(text) - count
        text = str((significand + 5 * 10 ** (dropped - 1)) // 10**dropped)
        exponent += dropped
    stripped = text.rstrip("0")
    return stripped, exponent + len(text) - len(stripped)


def _quoted(value: bytes) -> str:
    """Bytes in quotes, those that are no characters as two digits."""
    plain = (chr(b) if 32 <= b < 127 and b != 34 else f"\\{b:02X}" for b in value)
    return '"' + "".join("\\\\" if x == "\\" else x for x in plain) + '"'
