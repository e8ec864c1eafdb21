"""What annotations of graphs have in common beside typing.py; nothing imports it to run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Literal, Protocol, SupportsIndex, TypeAlias, overload

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ..variables.variables import Variable
    from .device_spec import DeviceSpec as DeviceFields
    from .dtype import DType
    from .graph import Graph, Operation, Tensor
    from .shapes import Shape
    from .signatures.attributes import FunctionAttr, FunctionRef
    from .signatures.signatures import Signature

MaybeDType: TypeAlias = "DType | Any"  # pyright: ignore[reportExplicitAny] - see below
"""A dtype; None for an output of an unknown op, for which few readers have to look."""

Collection: TypeAlias = "list[Any]"  # pyright: ignore[reportExplicitAny] - users put in anything
"""One of a graph's collections."""

Extras: TypeAlias = "dict[str, Any]"  # pyright: ignore[reportExplicitAny] - each key has its type
"""What is kept with a graph beside its operations."""

Evaluated: TypeAlias = "np.ndarray | Any"  # pyright: ignore[reportExplicitAny] - see below
"""What a Session gives for fetches: arrays, numbers and None in the structure of the fetches."""

DTypeAttr: TypeAlias = "np.dtype | DType"
AttrItem: TypeAlias = "bytes | str | bool | int | float | DTypeAttr | type[np.generic]"
AttrValue: TypeAlias = (
    "AttrItem | np.ndarray | FunctionRef | FunctionAttr | Sequence[AttrValue] | None"
)
"""What an attribute of an operation holds; see attributes.py for the kinds."""

AnyGetAttr: TypeAlias = "Callable[[str], AttrValue]"
"""The value of an attribute by its name."""

ElementLike: TypeAlias = "Tensor | Operation | Variable | str"
"""What stands for a tensor or operation of a graph: itself, a variable, or its name."""

DeviceSpec: TypeAlias = "str | Callable[[Operation], str | None] | DeviceFields | None"
"""A device's name or fields, what names one for an operation, or None."""

FeedKey: TypeAlias = "Tensor | Variable | str"
FeedDict: TypeAlias = "Mapping[FeedKey, npt.ArrayLike] | Mapping[Tensor, npt.ArrayLike]"
"""Values to take in place of tensors."""

Index: TypeAlias = (
    "SupportsIndex | slice | EllipsisType | Tensor | Variable | np.ndarray | Sequence[Index] | None"
)
"""What tensors are indexed with."""

StringAttr: TypeAlias = Literal[
    "align", "data_format", "equation", "frame_name", "message", "mode", "padding", "pattern"
]
IntAttr: TypeAlias = Literal[
    "axis", "batch_dims", "block_size", "k", "num", "num_partitions", "num_split", "seed", "seed2"
]
FloatAttr: TypeAlias = Literal["alpha", "epsilon"]
BoolAttr: TypeAlias = Literal[
    "adj_x",
    "adj_y",
    "adjoint",
    "delete_old_dirs",
    "exclusive",
    "incompatible_shape_error",
    "is_training",
    "keep_dims",
    "multiply_linear_by_lr",
    "reverse",
    "transpose_a",
    "transpose_b",
    "update_slots",
    "use_nesterov",
    "validate_shape",
]
TypeAttr: TypeAlias = Literal["DstT", "dtype", "out_type"]
ShapeAttr: TypeAlias = Literal["shape"]
TensorAttr: TypeAlias = Literal["value"]
FunctionRefAttr: TypeAlias = Literal["body", "cond", "else_branch", "f", "then_branch"]
IntsAttr: TypeAlias = Literal[
    "dilations", "explicit_paddings", "ksize", "ksizes", "rates", "squeeze_dims", "strides"
]
"""The attributes that are read by name; a test holds them against the signatures."""


class GetAttr(Protocol):
    """Operation.get_attr."""

    @overload
    def __call__(self, name: StringAttr) -> bytes: ...
    @overload
    def __call__(self, name: IntAttr) -> int: ...
    @overload
    def __call__(self, name: FloatAttr) -> float: ...
    @overload
    def __call__(self, name: BoolAttr) -> bool: ...
    @overload
    def __call__(self, name: TypeAttr) -> DTypeAttr: ...
    @overload
    def __call__(self, name: ShapeAttr) -> Shape: ...
    @overload
    def __call__(self, name: IntsAttr) -> Sequence[int]: ...
    @overload
    def __call__(self, name: TensorAttr) -> np.ndarray: ...
    @overload
    def __call__(self, name: FunctionRefAttr) -> FunctionRef: ...
    @overload
    def __call__(self, name: Literal["branches"]) -> Sequence[FunctionRef]: ...
    @overload
    def __call__(self, name: Literal["output_shapes", "Sout"]) -> Sequence[Shape]: ...
    @overload
    def __call__(self, name: str) -> AttrValue: ...


class TensorView(Protocol):
    """A tensor as shape functions see it."""

    @property
    def dtype(self) -> MaybeDType: ...
    @property
    def sizes(self) -> Shape: ...
    @property
    def value(self) -> np.ndarray | None: ...


class OperationView(Protocol):
    """An operation as shape functions see it: in a graph, or with the inputs of a run."""

    type: str
    name: str
    attrs: dict[str, AttrValue]
    graph: Graph
    signature: Signature | None
    outputs: list[Tensor]

    @property
    def inputs(self) -> Sequence[TensorView]: ...
    @property
    def get_attr(self) -> GetAttr: ...


ShapeFunction: TypeAlias = "Callable[[OperationView], Shape | Sequence[Shape]]"
"""The shape of the only output, or a list with one for each."""

StaticValue: TypeAlias = "int | np.ndarray | Sequence[int | None] | None"
StaticFunction: TypeAlias = "Callable[[OperationView], Sequence[StaticValue]]"
"""The numbers of each output that follow from shapes alone."""

KernelResult: TypeAlias = "npt.ArrayLike | Sequence[npt.ArrayLike] | None"
Kernel: TypeAlias = "Callable[..., KernelResult]"
"""A reference kernel: arrays, and attributes by keyword, to an array or one for each output."""

TensorFunction: TypeAlias = "Callable[..., Tensor]"
TensorsFunction: TypeAlias = "Callable[..., list[Tensor]]"
OperationFunction: TypeAlias = "Callable[..., Operation]"
"""Ops as functions: inputs by position, attributes and `name` by keyword."""
