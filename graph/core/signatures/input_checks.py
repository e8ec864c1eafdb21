"""The dtypes of an operation's outputs, after its inputs and attributes were checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from ....schema.dtypes import tf_name
from .signatures import Signature

if TYPE_CHECKING:
    from ..elements import Operation
    from ..protocols import DTypeAttr


def output_dtypes(op: Operation, n_outputs: int) -> Sequence[DTypeAttr | None]:
    """The dtypes of an operation's outputs, after its inputs were checked."""
    signature = op.signature
    if signature is not None:
        _derive_attrs(op, signature)
        _check_inputs(op, signature)
        return signature.output_dtypes(op.get_attr)
    declared = op.attrs.get("_output_types")
    if isinstance(declared, list):
        return [*cast("list[DTypeAttr | None]", declared)]
    return [None] * n_outputs


_WORDS = {"float32": "float", "float64": "double", "float16": "half"}


def runtime_words(dtype: DTypeAttr) -> str:
    """A type as the runtime's messages have it."""
    name = tf_name(dtype)
    return _WORDS.get(name, name)


def _derive_attrs(op: Operation, signature: Signature) -> None:
    """Gives the attributes their values that the inputs determine; refuses missing others."""
    if not op.attrs.keys() >= signature.inferred:
        _infer_attrs(op, signature)
    for name in signature.required:
        if name not in op.attrs:
            raise ValueError(f"attribute {name} is missing")


def _infer_attrs(op: Operation, signature: Signature) -> None:
    """Gives the attributes their values that the inputs determine."""
    remaining = op.all_inputs
    n_lists = sum(argument.is_list or bool(argument.count) for argument in signature.inputs)
    n_listed = (len(remaining) - len(signature.inputs) + n_lists) // max(n_lists, 1)
    for argument in signature.inputs:
        count = 1
        if argument.count:
            count = cast("int", op.attrs.setdefault(argument.count, n_listed))
        elif argument.is_list:
            listed_dtypes = cast("list[DTypeAttr] | None", op.attrs.get(str(argument.dtype)))
            count = n_listed if listed_dtypes is None else len(listed_dtypes)
        tensors, remaining = remaining[: max(count, 0)], remaining[max(count, 0) :]
        dtypes = [tensor.dtype for tensor in tensors if tensor is not None]
        if argument.is_list:
            op.attrs.setdefault(str(argument.dtype), dtypes)
        elif isinstance(argument.dtype, str) and dtypes and dtypes[0] is not None:
            op.attrs.setdefault(argument.dtype, dtypes[0])


def _check_inputs(op: Operation, signature: Signature) -> None:
    """Raises ValueError when number or dtypes of the inputs are not those of the signature."""
    expected = signature.input_dtypes(op.get_attr)
    inputs = op.all_inputs
    if len(expected) != len(inputs):
        names = ", ".join(map(runtime_words, expected))
        raise ValueError(
            f"NodeDef expected inputs '{names}' do not match {len(inputs)} inputs specified"
        )
    for i, (dtype, tensor) in enumerate(zip(expected, inputs, strict=True)):
        if tensor is None:
            if op.type != "Merge":
                raise ValueError(f"input {i} is missing")
        elif tensor.dtype is not None and tensor.dtype != dtype:
            raise ValueError(
                f"Input {i} of node {op.name} was passed {runtime_words(tensor.dtype)} from "
                f"{tensor.name} incompatible with expected {runtime_words(dtype)}."
            )
