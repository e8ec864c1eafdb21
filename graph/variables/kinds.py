"""The two kinds of variables: references to memory, and handles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Literal, NoReturn, cast, overload

from ..core.create import convert_to_tensor, create, output
from ..core.hooks import hook
from ..core.scopes import (
    get_default_graph,
    graph_colocation,
    graph_control_dependencies,
    has_default_graph,
    name_scope,
)
from ..core.shapes import is_static
from .distribution import VariableAggregation, VariableSynchronization
from .variables import InitialValue, Variable

if TYPE_CHECKING:
    from ..core.graph import Graph, Operation, Tensor
    from ..core.protocols import DeviceSpec
    from ..core.shapes import Dim
    from ..core.typing import DTypeLike, TensorLike


class ReferenceVariable(Variable):
    """A variable whose operation gives a reference to its memory, as those of TF1."""

    def _build(
        self, graph: Graph, scope: str, validate_shape: bool, caching_device: DeviceSpec
    ) -> None:
        attrs = {"shape": self.sizes, "dtype": self.dtype}
        name = scope[:-1]
        self.op = self._create_op(graph, "VariableV2", name, attrs)
        assign = {"validate_shape": validate_shape}
        inputs = [self.reference, self._guarded(name)]
        self.initializer = create("Assign", inputs, assign)
        place = graph.device(caching_device) if caching_device else graph.colocate_with(self.op)
        with place:
            self._snapshot = output("Identity", [self.reference], name="read")

    @property
    def reference(self) -> Tensor:
        """The tensor that stands for its memory."""
        return self.op.outputs[0]

    def value(self) -> Tensor:
        """The tensor that holds its value."""
        return self._snapshot

    def read_value(self) -> Tensor:
        """A tensor with the value it has when that tensor is computed."""
        return output("Identity", [self.reference], name="read")

    def as_graph_element(self) -> Tensor:
        """What a Session fetches for it."""
        return self.reference

    def _update(
        self,
        method: str,
        value: TensorLike,
        use_locking: bool | None,
        name: str | None,
        read_value: bool,
    ) -> Tensor | Operation:
        kinds = {"assign": "Assign", "assign_add": "AssignAdd", "assign_sub": "AssignSub"}
        attrs = {"use_locking": bool(use_locking)}
        op = create(kinds[method], [self.reference, value], attrs, name)
        return op.outputs[0] if read_value else op

    def _change(
        self,
        kind: str,
        indices: TensorLike,
        updates: TensorLike,
        use_locking: bool | None,
        name: str | None,
    ) -> Tensor:
        attrs = {"use_locking": bool(use_locking)}
        return output(kind, [self.reference, indices, updates], attrs, name)

    def assign_slice(
        self,
        bounds: Sequence[Tensor],
        masks: Mapping[str, int],
        value: TensorLike,
        name: str | None = None,
    ) -> Tensor:
        """Gives the part that a StridedSlice with these inputs and masks takes a value."""
        inputs = [self.reference, *bounds, convert_to_tensor(value, self.dtype)]
        return output("StridedSliceAssign", inputs, masks, name)

    def sparse_read(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """The rows at `indices`."""
        return output("GatherV2", [self, indices, 0], name=name)

    def count_up_to(self, limit: int, name: str | None = None) -> Tensor:
        """A tensor that adds 1 and gives the value before; OutOfRangeError from `limit` on."""
        return output("CountUpTo", [self.reference], {"limit": limit}, name)

    def is_initialized(self, name: str | None = None) -> Tensor:
        """Whether it has a value."""
        return output("IsVariableInitialized", [self.reference], name=name)


class ResourceVariable(Variable):
    """A variable behind a handle: each read sees just the writes it comes after."""

    _is_reference = False

    def __deepcopy__(self, memo: dict[int, object]) -> ResourceVariable:
        raise NotImplementedError(
            "__deepcopy__() is only available when eager execution is enabled."
        )

    def _initial_tensor(self, value: InitialValue, dtype: DTypeLike | None) -> Tensor:
        with self._initializing() if callable(value) else name_scope("Initializer"):
            return convert_to_tensor(value() if callable(value) else value, dtype, "initial_value")

    def _build(
        self, graph: Graph, scope: str, validate_shape: bool, caching_device: DeviceSpec
    ) -> None:
        name = scope[:-1]
        attrs = {"shape": self.sizes, "dtype": self.dtype, "shared_name": name.encode()}
        self.op = self._create_op(graph, "VarHandleOp", name, attrs)
        with name_scope("IsInitialized"):
            output("VarIsInitializedOp", [self.handle])
        place, device = self.op.device, graph.device
        with name_scope("Assign") as inner:
            inputs = [self.handle, self._guarded(name)]
            with graph_colocation(graph, None, ignore_existing=True), device(None), device(place):
                self.initializer = create("AssignVariableOp", inputs, None, inner)
        with name_scope("Read"):
            with device(place):
                self._snapshot = self._read()
            if caching_device:
                place = graph_colocation(graph, None, ignore_existing=True)
                with place, graph.device(None), graph.device(caching_device):
                    self._cached = output("Identity", [self._snapshot])

    _cached: Tensor | None = None

    @property
    def handle(self) -> Tensor:
        """The tensor that stands for it."""
        return self.op.outputs[0]

    @property
    def create(self) -> Operation:
        """The operation that gives it its initial value."""
        return self.initializer

    def numpy(self) -> NoReturn:
        """Raises NotImplementedError, as in TensorFlow: in a graph only a Session has values."""
        raise NotImplementedError("numpy() is only available when eager execution is enabled.")

    def _read(self) -> Tensor:
        tensor = output("ReadVariableOp", [self.handle], {"dtype": self.dtype})
        tensor.set_shape(self.sizes)
        return tensor

    def value(self) -> Tensor:
        """The tensor that holds its value; of a variable with a caching device, the copy there."""
        return self._read() if self._cached is None else self._cached

    def read_value(self) -> Tensor:
        """A tensor with the value it has when that tensor is computed."""
        with name_scope("Read"):
            read = self._read()
        return output("Identity", [read])

    def read_value_no_copy(self) -> Tensor:
        """`read_value`: what is read is never a second copy here."""
        return self.read_value()

    def as_graph_element(self) -> Tensor:
        """What a Session fetches for it."""
        return self._snapshot

    def _update(
        self,
        method: str,
        value: TensorLike,
        use_locking: bool | None,
        name: str | None,
        read_value: bool,
    ) -> UnreadVariable | Operation:
        kinds = {
            "assign": "AssignVariableOp",
            "assign_add": "AssignAddVariableOp",
            "assign_sub": "AssignSubVariableOp",
        }
        with nullcontext() if has_default_graph() else self.graph.as_default():
            tensor = convert_to_tensor(value, self.dtype)
            if method == "assign" and self.sizes is not None and tensor.sizes is not None:
                self._check_shape(tensor.sizes)
            attrs = {"validate_shape": is_static(self.sizes)} if method == "assign" else None
            op = create(kinds[method], [self.handle, tensor], attrs, name)
            return self.after(op, read_value)

    @overload
    def after(self, op: Operation, read_value: Literal[True] = True) -> UnreadVariable: ...
    @overload
    def after(self, op: Operation, read_value: bool) -> UnreadVariable | Operation: ...
    def after(self, op: Operation, read_value: bool = True) -> UnreadVariable | Operation:
        """What it holds after `op`, which changes it; or just `op`."""
        return UnreadVariable.of(self, op) if read_value else op

    def _check_shape(self, shape: tuple[Dim, ...]) -> None:
        sizes = self.sizes or ()
        fits = len(shape) == len(sizes) and all(
            None in (a, b) or a == b for a, b in zip(shape, sizes, strict=True)
        )
        if not fits:
            raise ValueError(
                f"Cannot assign value to variable '{self.name}': Shape mismatch.The variable "
                f"shape {self.sizes}, and the assigned value shape {shape} are incompatible."
            )

    def _change(
        self,
        kind: str,
        indices: TensorLike,
        updates: TensorLike,
        use_locking: bool | None,
        name: str | None,
    ) -> UnreadVariable:
        return self.after(self.scatter(kind, indices, updates, name))

    def scatter(
        self, kind: str, indices: TensorLike, updates: TensorLike, name: str | None
    ) -> Operation:
        """The operation on handles that does what `kind` does for references."""
        tensor = convert_to_tensor(updates, self.dtype)
        return create(f"Resource{kind}", [self.handle, indices, tensor], None, name)

    def assign_slice(
        self,
        bounds: Sequence[Tensor],
        masks: Mapping[str, int],
        value: TensorLike,
        name: str | None = None,
    ) -> UnreadVariable:
        """Gives the part that a StridedSlice with these inputs and masks takes a value."""
        inputs = [self.handle, *bounds, convert_to_tensor(value, self.dtype)]
        return self.after(create("ResourceStridedSliceAssign", inputs, masks, name))

    def gather_nd(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """The parts at index tuples."""
        return output("ResourceGatherNd", [self.handle, indices], {"dtype": self.dtype}, name)

    def sparse_read(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """The rows at `indices`."""
        with name_scope(name, "Gather") as scope:
            return output("ResourceGather", [self.handle, indices], {"dtype": self.dtype}, scope)

    def count_up_to(self, limit: int, name: str | None = None) -> Tensor:
        """A tensor that adds 1 and gives the value before; OutOfRangeError from `limit` on."""
        return output("ResourceCountUpTo", [self.handle], {"limit": limit, "T": self.dtype}, name)

    def is_initialized(self, name: str | None = None) -> Tensor:
        """Whether it has a value."""
        return output("VarIsInitializedOp", [self.handle], name=name)


class UnreadVariable(ResourceVariable):
    """A resource variable after an operation that changes it: its reads come after that one.

    What `assign` and its like give: it stands for the new value wherever a tensor is taken, and
    can be changed further. It has the operation's name and is in no collection.
    """

    @staticmethod
    def of(variable: ResourceVariable, op: Operation) -> UnreadVariable:
        """`variable` after `op`."""
        unread: UnreadVariable = object.__new__(UnreadVariable)
        unread.op, unread._handle = op, variable.handle
        unread.sizes, unread.dtype = variable.sizes, variable.dtype
        unread.initial_value, unread.constraint = None, None
        unread.initializer = cast("Operation", None)  # as TensorFlow's
        unread.trainable = True
        unread.synchronization = VariableSynchronization.AUTO
        unread.aggregation = VariableAggregation.NONE
        unread._snapshot = unread._read()
        return unread

    _handle: Tensor

    @property
    def handle(self) -> Tensor:
        """The tensor that stands for the variable."""
        return self._handle

    @property
    def name(self) -> str:
        """That of the operation."""
        return self.op.name

    def _read(self) -> Tensor:
        with self._after_op():
            return super()._read()

    def read_value(self) -> Tensor:
        """A tensor with the value it has when that tensor is computed."""
        return self._read()

    def initialized_value(self) -> Tensor:
        """What only the variable itself has: NotImplementedError."""
        raise NotImplementedError(f"'{self.name}' is no variable that is initialised by itself")

    def _update(
        self,
        method: str,
        value: TensorLike,
        use_locking: bool | None,
        name: str | None,
        read_value: bool,
    ) -> UnreadVariable | Operation:
        with self._after_op():
            return super()._update(method, value, use_locking, name, read_value)

    def _change(
        self,
        kind: str,
        indices: TensorLike,
        updates: TensorLike,
        use_locking: bool | None,
        name: str | None,
    ) -> UnreadVariable:
        with self._after_op():
            return super()._change(kind, indices, updates, use_locking, name)

    def _after_op(self) -> AbstractContextManager[None]:
        return graph_control_dependencies(get_default_graph(), [self.op])


@hook("variable_kind")
def variable_kind(is_resource: bool) -> type[Variable]:
    """The class of variables behind handles, or of those that are references."""
    return ResourceVariable if is_resource else ReferenceVariable
