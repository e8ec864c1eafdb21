"""How operations are made: values become constants, names are made unique, scopes apply."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import (
    TYPE_CHECKING,
    Any,
    NoReturn,
    Protocol,
    SupportsIndex,
    TypeAlias,
    TypeGuard,
    TypeVar,
    cast,
)

import numpy as np

from .arrays import as_array, filled, flat_items, narrowed, type_name
from .call_stack import calling_frames
from .dtype import as_numpy
from .graph import Graph, Operation, Tensor
from .infer import values_read
from .node_words import node_words
from .scopes import graph_colocation, graph_name_scope, graph_of
from .signatures.attribute_checks import checked_attrs, require_limits
from .signatures.op_limits import allowed_types, attribute_limit
from .signatures.signatures import REQUIRED, Argument, Signature, signature_of
from .tensor_shape import Dimension, TensorShape

if TYPE_CHECKING:
    from ..variables.variables import Variable
    from .protocols import AttrValue, DTypeAttr, MaybeDType
    from .typing import DTypeLike, TensorLike

    Value = TypeVar("Value")
    Conversion: TypeAlias = Callable[[Value, np.dtype | None, str | None, bool], Tensor]


class _Convertible(Protocol):
    """What says itself which tensor it stands for."""

    def __tf_tensor__(self, dtype: DTypeLike | None, name: str | None) -> Tensor: ...


_CONVERSIONS: list[tuple[type[object], int, Conversion[Any]]] = []  # pyright: ignore[reportExplicitAny] - each of its type
_WIDER_FLOAT = ("float64", True)
_LARGEST_SHOWN = 100


def create(
    kind: str,
    inputs: Sequence[TensorLike | None] = (),
    attrs: Mapping[str, AttrValue] | None = None,
    name: str | None = None,
    graph: Graph | None = None,
) -> Operation:
    """Appends an operation as TF's Python functions do.

    Args:
        kind: The op type.
        inputs: One item for each argument of the op: a tensor or what converts to one; a list of
            them where the argument is a list. Values become constants named after the argument.
        attrs: Those that cannot be derived from the inputs.
        name: Put into the current name scope and made unique; taken as it is when it ends with
            "/"; the op type by default.
        graph: That of the inputs, else the default graph.

    Raises:
        TypeError: the inputs' dtypes do not go together.
        ValueError: the inputs do not fit the op, or are of several graphs.
        RuntimeError: the graph is finalized.
    """
    signature = signature_of(kind)
    if signature is None:
        raise ValueError(f"Op type not registered '{kind}'")
    if len(inputs) != len(signature.inputs):
        raise ValueError(f"{kind} takes {len(signature.inputs)} arguments, got {len(inputs)}")
    graph = graph_of(flat_items(inputs), name or kind) if graph is None else graph
    all_attrs = checked_attrs(signature, attrs or {})
    with graph.as_default(), graph_name_scope(graph, name or kind) as scope:
        tensors = _convert_inputs(kind, signature, inputs, all_attrs)
    require_limits(signature, all_attrs)
    with contextlib.ExitStack() as blocks:
        for argument, tensor in zip(signature.inputs, tensors, strict=False):
            if argument.is_reference:
                if not tensor.is_reference:
                    raise TypeError(
                        f"'{kind}' Op requires that input '{argument.name}' be a mutable tensor "
                        f"(e.g.: a tf.Variable), got {tensor.name}"
                    )
                blocks.enter_context(graph_colocation(graph, graph.capture(tensor)))
        return append(graph, kind, scope[:-1], tensors, all_attrs)


def append(
    graph: Graph,
    kind: str,
    name: str,
    tensors: Sequence[Tensor],
    attrs: Mapping[str, AttrValue],
    controls: Iterable[Operation] = (),
) -> Operation:
    """Adds an operation of just this name under the current control dependencies and device."""
    if graph.finalized:
        raise RuntimeError("Graph is finalized and cannot be modified.")
    scopes = graph.scopes
    tensors = [graph.capture(tensor, name) for tensor in tensors]
    controls = [*scopes.controls_for(tensor.op for tensor in tensors), *controls]
    try:
        op = graph.add(kind, name, tensors, attrs, controls)
    except ValueError as error:
        words = str(error)
        if not words.startswith(f"{kind} '{name}': "):
            raise
        words = words.removeprefix(f"{kind} '{name}': ").split(", input shapes: ")[0]
        signature = signature_of(kind) or Signature(kind, (), (), {}, False)
        refused = Operation(graph, kind, name, list(tensors), dict(attrs), (), "")
        node = node_words(name, signature, tensors, attrs, values_read(refused))
        raise ValueError(f"{words} for {node}") from None
    op.frames = calling_frames()
    scopes.surround(op)
    return op


def output(
    kind: str,
    inputs: Sequence[TensorLike | None] = (),
    attrs: Mapping[str, AttrValue] | None = None,
    name: str | None = None,
) -> Tensor:
    """The only output of the operation that `create` makes."""
    return create(kind, inputs, attrs, name).outputs[0]


def register_conversion(kind: type[Value], convert: Conversion[Value], priority: int = 100) -> None:
    """Lets objects of a type stand for tensors: `convert(value, dtype, name, reference)`.

    `reference` asks for the variable itself rather than what it holds. Of several conversions for
    an object that with the lowest `priority`, then the first one registered, is used.
    """
    _CONVERSIONS.append((kind, priority, convert))
    _CONVERSIONS.sort(key=lambda row: row[1])


def convert_to_tensor(
    value: TensorLike | None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    preferred_dtype: DTypeLike | None = None,
    reference: bool = False,
    dtype_hint: DTypeLike | None = None,
) -> Tensor:
    """`value` as a tensor of the default graph: itself, what a variable holds, or a constant.

    Python floats become float32, integers int32 when they fit, numpy values keep their dtype.
    A list with tensors among its items is packed. `preferred_dtype`, also called `dtype_hint`, is
    tried first.

    Raises:
        TypeError: the elements are not of `dtype`.
        ValueError: `value` is None, ragged, or a tensor of another dtype.
    """
    if dtype_hint is not None:
        if preferred_dtype is not None:
            raise ValueError("Cannot specify both 'preferred_dtype' and 'dtype_hint'.")
        preferred_dtype = dtype_hint
    numpy_dtype = None if dtype is None else as_numpy(dtype)
    if isinstance(value, Tensor):
        if numpy_dtype is not None and value.dtype != numpy_dtype:
            prefix = "" if name is None else f"{name}: "
            raise ValueError(
                f"{prefix}Tensor conversion requested dtype {type_name(numpy_dtype)} for Tensor "
                f"with dtype "
                f"{type_name(value.dtype)}: {value!r}"
            )
        return value
    if isinstance(value, (TensorShape, Dimension)):
        return _of_shape(value, numpy_dtype, name)
    for kind, _, convert in _CONVERSIONS:
        if isinstance(value, kind):
            result = convert(value, numpy_dtype, name, reference)
            if result is not NotImplemented:
                return result
    if isinstance(value, Operation):
        raise TypeError(f"can't convert Operation '{value.name}' to Tensor")
    if hasattr(value, "__tf_tensor__"):
        return cast("_Convertible", value).__tf_tensor__(dtype, name)
    if numpy_dtype is None and preferred_dtype is not None:
        try:
            if not _is_too_large(value, as_numpy(preferred_dtype)):
                return convert_to_tensor(value, preferred_dtype, name)
        except (TypeError, ValueError):
            pass
    if isinstance(value, (list, tuple)) and any(map(is_tensor_like, flat_items(value))):
        return _packed(value, numpy_dtype, name or "packed")
    return constant(value, numpy_dtype, name=name)


def _is_too_large(value: TensorLike | None, dtype: np.dtype) -> bool:
    """Whether integers have one that a type cannot hold."""
    if dtype.kind not in "iu":
        return False
    limits = np.iinfo(dtype)
    if isinstance(value, (np.ndarray, np.generic)):
        is_integer = value.dtype.kind in "iu" and value.size > 0
        return is_integer and not limits.min <= value.min() <= value.max() <= limits.max
    items = flat_items([value]) if isinstance(value, (int, list, tuple)) else []
    return any(isinstance(item, int) and not limits.min <= item <= limits.max for item in items)


def _of_shape(value: TensorShape | Dimension, dtype: np.dtype | None, name: str | None) -> Tensor:
    """Sizes as a constant of int32, or of int64 where one is large."""
    sizes = value.value if isinstance(value, Dimension) else value.as_shape()
    if sizes is None or (isinstance(sizes, tuple) and None in sizes):
        what = "unknown Dimension" if isinstance(value, Dimension) else "a partially known"
        words = f"{what} {'' if isinstance(value, Dimension) else 'TensorShape '}{value}"
        raise ValueError(f"Cannot convert {words} to a Tensor.")
    if dtype is not None and dtype not in (np.dtype(np.int32), np.dtype(np.int64)):
        words = f"Cannot convert {type(value).__name__} {value} to dtype"
        raise TypeError(
            f"{words} <dtype: '{type_name(dtype)}'>. Allowed dtypes are tf.int32 and tf.int64."
        )
    if dtype is None:
        dtype = narrowed(np.array(sizes, np.int64)).dtype
    if np.any(np.array(sizes, np.int64) > np.iinfo(dtype).max):
        raise ValueError(
            f"Cannot convert {type(value).__name__} {value} to dtype {type_name(dtype)}; a "
            "dimension is too large. Consider using tf.int64."
        )
    return constant(np.array(sizes, dtype), name=name or "shape_as_tensor")


def is_tensor_like(value: object) -> TypeGuard[Tensor | Variable]:
    """Whether `value` is a tensor or, as a variable does, stands for one."""
    return isinstance(value, (Tensor, *(kind for kind, _, _ in _CONVERSIONS)))


def constant(
    value: TensorLike | None,
    dtype: DTypeLike | None = None,
    shape: Iterable[SupportsIndex] | None = None,
    name: str | None = "Const",
    verify_shape: bool = False,
) -> Tensor:
    """A tensor that always has `value`.

    Args:
        value: A number, string, array or nested list. With `shape`, its last element is repeated
            where there are too few, 0 where there are none; nothing is read of a value of Python
            for a shape without elements.
        dtype: By default that of an array, float32 where nothing is read, else float32, int32
            (int64 for large integers), bool,
            string or complex128.
        shape: Of the tensor.
        name: Of the operation.
        verify_shape: Refuses a value of another shape.

    Raises:
        TypeError: the elements are not of `dtype`.
        ValueError: the value has too many elements for `shape`.
    """
    _require_no_tensor(value, dtype)
    array = _constant_array(value, dtype, shape, verify_shape)
    if not array.flags.writeable or array is not value:
        array = array if array.flags.c_contiguous else np.ascontiguousarray(array)
    else:
        array = array.copy()
    graph = graph_of(())
    attrs = {"value": array, "dtype": array.dtype}
    full_name = graph.operation_name("Const" if name is None else name)
    return append(graph, "Const", full_name, (), attrs).outputs[0]


def _constant_array(
    value: TensorLike | None,
    dtype: DTypeLike | None,
    shape: Iterable[SupportsIndex] | None,
    verify_shape: bool,
) -> np.ndarray:
    """The array of a constant. A value of Python is not read for a shape without elements."""
    if shape is None or value is None:
        return as_array(value, dtype)
    sizes = tuple(int(size) for size in shape)
    if 0 in sizes and not isinstance(value, (np.ndarray, np.generic)):
        return np.empty(sizes, np.float32 if dtype is None else as_numpy(dtype))
    return filled(as_array(value, dtype), sizes, verify_shape)


def _require_no_tensor(value: TensorLike | None, dtype: DTypeLike | None) -> None:
    if not isinstance(value, Tensor):
        return
    if dtype is None:
        raise TypeError("Expected any non-tensor type, but got a tensor instead.")
    expected = type_name(as_numpy(dtype))
    raise TypeError(f"Expected {expected}, but got {value} of type '{type(value).__name__}'.")


def _packed(values: Sequence[TensorLike], dtype: np.dtype | None, name: str) -> Tensor:
    """A nested list with tensors in it as one tensor; TypeError when they are of several types."""
    common = as_numpy(next(v.dtype for v in flat_items(values) if is_tensor_like(v)))
    if dtype is None:
        return _pack(values, common, False, name)
    return _pack(values, dtype, dtype != common, name)


def _pack(values: Sequence[TensorLike], dtype: np.dtype, casts: bool, name: str) -> Tensor:
    """The items of a list, those that are tensors of another type cast, or refused."""
    graph = graph_of(flat_items(values))
    with graph_name_scope(graph, name) as scope:
        items: list[Tensor] = []
        for i, value in enumerate(values):
            if isinstance(value, (list, tuple)) and any(
                is_tensor_like(v) for v in flat_items(value)
            ):
                items.append(_pack(value, dtype, casts, str(i)))
                continue
            if is_tensor_like(value) and not casts and value.dtype != dtype:
                raise TypeError(
                    f"Cannot convert a list containing a tensor of dtype <dtype: "
                    f"'{type_name(value.dtype)}'> to <dtype: '{type_name(dtype)}'> "
                    f"(Tensor is: {value!r})"
                )
            if isinstance(value, Tensor) and value.dtype != dtype:
                items.append(create("Cast", [value], {"DstT": dtype}, str(i)).outputs[0])
            else:
                items.append(_item(value, dtype, str(i)))
    attrs = {"axis": 0, "N": len(items)}
    return append(graph, "Pack", scope[:-1], items, attrs).outputs[0]


def _item(value: TensorLike, dtype: np.dtype, name: str) -> Tensor:
    """An item of a list that is packed, in the type of the others."""
    if isinstance(value, np.generic) or (is_tensor_like(value) and value.dtype != dtype):
        tensor = convert_to_tensor(value, name=name)
        is_number = tensor.dtype.kind in "fiubcV" and dtype.kind in "fiubcV"
        if is_number and tensor.dtype != dtype and not tensor.dtype.names:
            attrs = {"SrcT": tensor.dtype.dtype, "DstT": dtype}
            return append(
                tensor.graph, "Cast", _unique(tensor.graph, "Cast"), [tensor], attrs
            ).outputs[0]
    return convert_to_tensor(value, dtype, name)


def _unique(graph: Graph, name: str) -> str:
    """A name in the current scope that no operation has."""
    with graph_name_scope(graph, name) as scope:
        return scope[:-1]


def _convert_inputs(
    kind: str,
    signature: Signature,
    inputs: Sequence[TensorLike | None],
    attrs: dict[str, AttrValue],
) -> list[Tensor]:
    """The inputs as tensors; adds to `attrs` the types and counts they determine."""
    tensors: list[Tensor] = []
    sources: dict[str, str] = {}
    for argument, value in zip(signature.inputs, inputs, strict=True):
        if argument.count or argument.is_list:
            items = _convert_list(kind, argument, value, attrs)
            if not argument.is_list and items:
                _require_allowed(kind, argument, items[0])
            tensors += items
            continue
        expected = _dtype_of(argument, attrs)
        tensor = _convert_one(kind, signature, argument, value, expected)
        if expected is not None and tensor.dtype != expected:
            _refuse_type(kind, argument, tensor, expected, sources.get(str(argument.dtype)))
        _require_allowed(kind, argument, tensor)
        if isinstance(argument.dtype, str):
            attrs.setdefault(argument.dtype, tensor.dtype)
            sources.setdefault(argument.dtype, argument.name)
        tensors.append(tensor)
    return tensors


def _require_allowed(kind: str, argument: Argument, tensor: Tensor) -> None:
    """Raises TypeError for an input of a type that TensorFlow's op does not take.

    float64 goes wherever float32 does: derivatives are checked in it.
    """
    if not isinstance(argument.dtype, str):
        return
    names, name = allowed_types(kind, argument.dtype), type_name(tensor.dtype)
    if names is not None and name not in names and (name, "float32" in names) != _WIDER_FLOAT:
        raise TypeError(
            f"Value passed to parameter '{argument.name}' has DataType {name} not in list of "
            f"allowed values: {', '.join(names)}"
        )


def _dtype_of(argument: Argument, attrs: Mapping[str, AttrValue]) -> DTypeAttr | None:
    """The dtype of an argument that is one tensor, None while no attribute says it."""
    if isinstance(argument.dtype, str):
        return cast("DTypeAttr | None", attrs.get(argument.dtype))
    return argument.dtype


def _convert_one(
    kind: str,
    signature: Signature,
    argument: Argument,
    value: TensorLike | None,
    expected: DTypeAttr | None,
) -> Tensor:
    if isinstance(value, Tensor):
        return value
    preferred = None
    if expected is None and isinstance(argument.dtype, str):
        default = signature.attrs[argument.dtype].default
        if default is not REQUIRED and not _keeps_dtype(kind, argument, value):
            preferred = cast("DTypeAttr", default)
    try:
        return convert_to_tensor(
            value,
            None if is_tensor_like(value) else expected,
            argument.name,
            preferred,
            argument.is_reference,
        )
    except TypeError as error:
        if expected is None:
            raise
        raise TypeError(
            f"Expected {type_name(expected)} passed to parameter '{argument.name}' of op '{kind}', "
            f"got {value!r:.{_LARGEST_SHOWN}} of type '{type(value).__name__}' instead. "
            f"Error: {error}"
        ) from None
    except ValueError as error:
        raise ValueError(
            f"Tried to convert '{argument.name}' to a tensor and failed. Error: {error}"
        ) from None


def _keeps_dtype(kind: str, argument: Argument, value: TensorLike | None) -> bool:
    """Whether the type that a value has by itself is one that the op takes."""
    names = allowed_types(kind, str(argument.dtype))
    if isinstance(value, (np.ndarray, np.generic)):
        return names is None or type_name(value.dtype) in names
    if names is None or not isinstance(value, (int, float, list, tuple)):
        return False
    if any(map(is_tensor_like, flat_items([value]))):
        return False
    try:
        return type_name(as_array(value).dtype) in names
    except (TypeError, ValueError):
        return False


def _refuse_type(
    kind: str, argument: Argument, tensor: Tensor, expected: DTypeAttr, source: str | None
) -> NoReturn:
    actual = type_name(tensor.dtype)
    start = f"Input '{argument.name}' of '{kind}' Op has type {actual} that does not match"
    if source is None:
        raise TypeError(f"{start} expected type of {type_name(expected)}.")
    raise TypeError(f"{start} type {type_name(expected)} of argument '{source}'.")


def _convert_list(
    kind: str, argument: Argument, values: TensorLike | None, attrs: dict[str, AttrValue]
) -> list[Tensor]:
    """The tensors of an argument that is a list."""
    if not isinstance(values, (list, tuple)):
        raise TypeError(
            f"Expected list for '{argument.name}' argument to '{kind}' Op, not {values!r}."
        )
    dtype: MaybeDType | DTypeAttr = None
    if argument.count:
        _require_count(kind, argument, len(values), attrs.setdefault(argument.count, len(values)))
        dtype = _dtype_of(argument, attrs)
        if dtype is None:
            dtype = next((v.dtype for v in values if is_tensor_like(v)), None)
    tensors: list[Tensor] = []
    for i, value in enumerate(values):
        expected = None if is_tensor_like(value) else dtype
        try:
            tensor = convert_to_tensor(value, expected, f"{argument.name}_{i}")
        except (TypeError, ValueError) as error:
            raise _refused_list(kind, argument, values, error) from None
        tensors.append(tensor)
    if dtype is None and argument.count and tensors:
        dtype = tensors[0].dtype
    if argument.count and any(tensor.dtype != dtype for tensor in tensors):
        raise _refused_list(kind, argument, tensors)
    if argument.count and isinstance(argument.dtype, str) and dtype is not None:
        attrs.setdefault(argument.dtype, dtype)
    if argument.is_list:
        attrs.setdefault(str(argument.dtype), [tensor.dtype for tensor in tensors])
    return tensors


def _require_count(kind: str, argument: Argument, n: int, expected: AttrValue) -> None:
    """Raises ValueError for a list that is too short, or not as long as the one before."""
    start = f"List argument '{argument.name}' to '{kind}' Op with length {n}"
    if n != expected:
        raise ValueError(f"{start} must match length {expected} of the lists before.")
    least = attribute_limit(kind, argument.count or "")
    if isinstance(least, int) and n < least:
        raise ValueError(f"{start} shorter than minimum length {least}.")


def _refused_list(
    kind: str,
    argument: Argument,
    values: Sequence[TensorLike | None],
    error: Exception | None = None,
) -> TypeError | ValueError:
    """What is wrong with a list of tensors: the types of its items, or the first one's `error`."""
    names = [_name_of_type(value) for value in values]
    if argument.is_list and _NO_TENSOR in names:
        words = f"that are invalid. Tensors: {values!r:.{_LARGEST_SHOWN}}"
    elif argument.count and len(set(names)) > 1:
        words = "that don't all match."
    elif argument.count and error is None:
        words = f"that do not match expected type {type_name(cast('DTypeAttr', argument.dtype))}."
    else:
        return error if isinstance(error, (TypeError, ValueError)) else TypeError(str(error))
    return TypeError(
        f"Tensors in list passed to '{argument.name}' of '{kind}' Op have types "
        f"[{', '.join(names)}] {words}"
    )


_NO_TENSOR = "<NOT CONVERTIBLE TO TENSOR>"


def _name_of_type(value: TensorLike | None) -> str:
    """The type of the tensor that a value becomes."""
    if is_tensor_like(value):
        return type_name(value.dtype)
    try:
        return type_name(as_array(value).dtype)
    except (TypeError, ValueError):
        return _NO_TENSOR
