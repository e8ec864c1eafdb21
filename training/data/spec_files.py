"""The file `dataset_spec.pb` of a folder of elements: what is known of them."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from ...graph.core.composite.type_specs import RaggedTensorSpec, SparseTensorSpec, TensorSpec
from ...graph.core.dtype import as_dtype
from ...graph.core.tensor_shape import TensorShape
from ...schema import files, proto
from ...schema.errors import ModelError, NotFoundError
from . import structures
from .structures import DatasetSpec

if TYPE_CHECKING:
    from ...schema.proto import Message
    from .structures import Structure

NAME = "dataset_spec.pb"
_CLASSES = {1: SparseTensorSpec, 3: RaggedTensorSpec, 5: DatasetSpec}
"""What the numbers of classes in the file stand for."""


def write(folder: str, spec: Structure) -> None:
    """Writes what is known of elements into a folder, which is made where it is not there."""
    files.make_folder(folder)
    content = _message(spec).SerializeToString(deterministic=True)
    files.write_atomic(f"{folder}/{NAME}", content)


def read(folder: str) -> Structure:
    """What a folder says of its elements.

    Raises:
        NotFoundError: It says nothing.
        ModelError: What it says is spoilt, or is of classes that datasets do not have.
    """
    path = f"{folder}/{NAME}"
    if not files.is_file(path):
        words = f"tf.data snapshot element_spec file not found: {path}."
        raise NotFoundError(None, None, words)
    return _structure(cast("Message", proto.parse("StructuredValue", files.read_bytes(path))), path)


def _message(spec: Structure) -> Message:
    message = proto.StructuredValue()
    if not structures.is_nested(spec):
        _write_leaf(message, spec)
    elif isinstance(spec, Mapping):
        for key, item in sorted(cast("Mapping[str, object]", spec).items()):
            message.dict_value.fields[key].CopyFrom(_message(item))
    elif hasattr(spec, "_fields"):
        named = cast("Sequence[object]", spec)
        message.named_tuple_value.name = type(spec).__name__
        keys = cast("Sequence[str]", spec._fields)  # pyright: ignore[reportAttributeAccessIssue]
        for key, item in zip(keys, named, strict=True):
            message.named_tuple_value.values.add(key=key, value=_message(item))
    else:
        message.tuple_value.SetInParent()
        items = cast("Sequence[object]", spec)
        message.tuple_value.values.extend(_message(item) for item in items)
    return message


def _write_leaf(message: Message, spec: object) -> None:
    if isinstance(spec, TensorSpec):
        tensor = message.tensor_spec_value
        tensor.shape.CopyFrom(spec.shape.as_proto())
        tensor.dtype = spec.dtype.as_datatype_enum
        if spec.name:
            tensor.name = spec.name
        return
    value, state = message.type_spec_value, list[object]()
    if isinstance(spec, DatasetSpec):
        number, n_parts, state = 5, 1, [spec.element_spec, spec.shape]
    elif isinstance(spec, RaggedTensorSpec):
        number, n_parts = 3, spec.ragged_rank + 1
        state = [spec.shape, spec.dtype, spec.ragged_rank, spec.row_splits_dtype]
    elif isinstance(spec, SparseTensorSpec):
        number, n_parts, state = 1, 3, [spec.shape, spec.dtype]
    else:
        raise TypeError(f"elements of {spec!r} cannot be saved")
    value.type_spec_class, value.num_flat_components = number, n_parts
    value.type_spec_class_name = type(spec).__name__
    for item in state:
        _write_state(value.type_state.tuple_value.values.add(), item)


def _write_state(message: Message, item: object) -> None:
    if isinstance(item, TensorShape):
        message.tensor_shape_value.CopyFrom(item.as_proto())
    elif isinstance(item, int):
        message.int64_value = item
    elif isinstance(item, type(as_dtype("int32"))):
        message.tensor_dtype_value = item.as_datatype_enum
    else:
        message.CopyFrom(_message(item))


def _structure(message: Message, path: str) -> Structure:
    kind = message.WhichOneof("kind")
    if kind == "tensor_spec_value":
        value = message.tensor_spec_value
        return TensorSpec(TensorShape(value.shape), as_dtype(value.dtype), value.name or None)
    if kind == "type_spec_value":
        value = message.type_spec_value
        if value.type_spec_class not in _CLASSES:
            raise ModelError(f"{path}: elements of {value.type_spec_class_name} are not supported")
        state = [_state(item, path) for item in value.type_state.tuple_value.values]
        return _CLASSES[value.type_spec_class](*state)
    if kind == "dict_value":
        fields = message.dict_value.fields
        return {key: _structure(fields[key], path) for key in sorted(fields)}
    if kind == "tuple_value":
        return tuple(_structure(item, path) for item in message.tuple_value.values)
    if kind == "named_tuple_value":
        pairs = message.named_tuple_value.values
        class_ = namedtuple(message.named_tuple_value.name, [pair.key for pair in pairs])
        return class_(*(_structure(pair.value, path) for pair in pairs))
    raise ModelError(f"{path}: expected what is known of elements, got {kind}")


def _state(message: Message, path: str) -> object:
    kind = message.WhichOneof("kind")
    if kind == "tensor_shape_value":
        return TensorShape(message.tensor_shape_value)
    if kind == "tensor_dtype_value":
        return as_dtype(message.tensor_dtype_value)
    if kind == "int64_value":
        return message.int64_value
    return _structure(message, path)
