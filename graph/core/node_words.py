"""A node as TensorFlow's errors at graph building write it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from .dtype import as_dtype
from .shapes import shown
from .signatures.signatures import REQUIRED, Signature

if TYPE_CHECKING:
    from .graph import Tensor
    from .protocols import AttrValue
    from .shapes import Shape
    from .typing import DTypeLike

TYPE_WORDS = {"float32": "FLOAT", "float64": "DOUBLE", "float16": "HALF"}
"""Types that are not called as numpy's -> what they are called."""


SIZES = {
    **dict.fromkeys(("BroadcastTo", "Reshape", "SparseToDense", "Tile"), (1,)),
    **dict.fromkeys(("Empty", "Fill", "RandomStandardNormal", "RandomUniform"), (0,)),
    **dict.fromkeys(("RandomUniformInt", "TruncatedNormal", "Conv2DBackpropInput"), (0,)),
    "Conv2DBackpropFilter": (1,),
    "ScatterNd": (2,),
    "Slice": (1, 2),
}
"""Ops of which TensorFlow takes inputs for sizes that may be known in part."""


def node_words(
    name: str,
    signature: Signature,
    tensors: Sequence[Tensor],
    attrs: Mapping[str, AttrValue],
    read: Mapping[int, np.ndarray],
) -> str:
    """'{{node y}} = MatMul[T=DT_FLOAT, ...](a, b)', the shapes of the inputs, and values `read`."""
    defaults = {row.name: row.default for row in signature.attrs.values()}
    known = {key: value for key, value in defaults.items() if value is not REQUIRED}
    known |= _types(signature, tensors) | dict(attrs)
    shown_attrs = ", ".join(
        f"{key}={_shown(known[key], signature.attrs[key].kind)}"
        for key in sorted(known.keys() & signature.attrs.keys())
    )
    listed = f"[{shown_attrs}]" if shown_attrs else ""
    names = ", ".join(tensor.name.removesuffix(":0") for tensor in tensors)
    sizes = ", ".join(shown(tensor.sizes) for tensor in tensors)
    node = f"'{{{{node {name}}}}} = {signature.type}{listed}({names})' with input shapes: {sizes}"
    return f"{node}{_values(signature.type, read)}."


def _values(kind: str, read: Mapping[int, np.ndarray]) -> str:
    """The values of inputs that a shape was computed from."""
    is_shape = {i: i in SIZES.get(kind, ()) and value.ndim == 1 for i, value in read.items()}
    partial = [f"input[{i}] = {shown(_sizes(read[i]))}" for i, holds in is_shape.items() if holds]
    whole = [f"input[{i}] = <{_flat(read[i])}>" for i, holds in is_shape.items() if not holds]
    words = f" and with computed input tensors: {', '.join(whole)}" if whole else ""
    if partial:
        words += f" and with input tensors computed as partial shapes: {','.join(partial)}"
    return words


def _sizes(value: np.ndarray) -> Shape:
    return tuple(None if n is None or n < 0 else int(n) for n in value.tolist())


def _flat(value: np.ndarray) -> str:
    """The elements of a tensor, those of inner dimensions in brackets."""
    if value.ndim < 2:
        return " ".join(map(str, cast("list[object]", value.reshape(-1).tolist())))
    return "".join(f"[{_flat(row)}]" for row in value)


def type_word(dtype: DTypeLike) -> str:
    """A type as TensorFlow's errors of runs write it: float, double, half, int32."""
    name = as_dtype(dtype).name.removesuffix("_ref")
    return TYPE_WORDS.get(name, name).lower()


def _types(signature: Signature, tensors: Sequence[Tensor]) -> dict[str, AttrValue]:
    """The attributes that say how many inputs there are, and of which types, where that is one."""
    types: dict[str, AttrValue] = {}
    plain = [row for row in signature.inputs if row.count is None and not row.is_list]
    many = [row for row in signature.inputs if row.count is not None]
    if len(plain) + len(many) < len(signature.inputs) or len(many) > 1:
        return types
    position = 0
    for row in signature.inputs:
        if row.count is not None:
            types[row.count] = len(tensors) - len(plain)
        if isinstance(row.dtype, str) and position < len(tensors):
            types[row.dtype] = tensors[position].dtype
        position += 1 if row.count is None else len(tensors) - len(plain)
    return types


def _shown(value: object, kind: str) -> str:
    """An attribute's value, whose kind is TensorFlow's word for it."""
    if kind.startswith("list("):
        is_listed = isinstance(value, (list, tuple))
        items = cast("Sequence[object]", value) if is_listed else [value]
        return f"[{', '.join(_shown(item, kind[5:-1]) for item in items)}]"
    if kind == "type":
        return f"DT_{type_word(cast('DTypeLike', value)).upper()}"
    if kind == "bool":
        return "true" if value else "false"
    if kind == "string":
        return f'"{value.decode(errors="replace") if isinstance(value, bytes) else value}"'
    if kind == "shape":
        return shown(cast("Shape", value))
    if kind == "float":
        return f"{np.float32(cast('float', value)):.6g}"
    return str(value)
