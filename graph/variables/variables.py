"""Variables: tensors that keep their value from run to run of a Session."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias, cast, overload

from ...schema import proto
from ..core.arrays import type_name
from ..core.create import append, convert_to_tensor, output, register_conversion
from ..core.dtype import DType
from ..core.function_graph import outermost
from ..core.graph import Graph, Operation, Tensor
from ..core.hooks import implementation
from ..core.reference import Reference
from ..core.scopes import (
    GraphKeys,
    get_default_graph,
    get_default_session,
    graph_colocation,
    name_scope,
)
from ..core.shapes import Shape, is_static
from ..core.signatures.operands import Operands
from ..core.tensor_shape import TensorShape
from .creators import Created
from .distribution import (
    VariableAggregation,
    VariableSynchronization,
    checked_aggregation,
    checked_synchronization,
)
from .guarded import guarded
from .scatter_updates import ScatterUpdates
from .slice_info import SaveSliceInfo

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ..core.protocols import AttrValue, DeviceSpec, Evaluated
    from ..core.typing import DTypeLike, ShapeLike, TensorLike
    from ..format.messages import VariableDef
    from ..session.session import Session
    from .kinds import UnreadVariable

InitialValue: TypeAlias = "TensorLike | Callable[[], TensorLike]"
"""A value, or a function that makes it."""
Constraint: TypeAlias = "Callable[[Tensor], TensorLike]"
"""What an optimizer applies to a variable's new value."""

Updated: TypeAlias = "Tensor | UnreadVariable"
"""The new value of a variable: its reference, or what stands for it behind a handle."""

_DEFAULTS = {"use_resource": False}


def use_resources(yes: bool | None = None) -> bool:
    """Whether variables are resource variables by default; set when `yes` is given."""
    if yes is not None:
        _DEFAULTS["use_resource"] = yes
    return _DEFAULTS["use_resource"]


class Variable(ScatterUpdates, Operands, metaclass=Created):
    """A tensor that keeps its value between runs of a Session.

    It must be initialised before it is read: run its `initializer`, or `load` a value.

    Args:
        initial_value: A number, array or tensor, or a function without arguments that gives one.
        trainable: Whether optimizers change it by default; it is then in the collection
            TRAINABLE_VARIABLES.
        collections: Where it is filed, [GLOBAL_VARIABLES] by default.
        validate_shape: Whether its shape is that of `initial_value` for good, which then must be
            known.
        name: "Variable" by default, made unique.
        dtype: Of the variable; by default that of the initial value.
        constraint: What optimizers apply to its value after an update.
        use_resource: Whether reads see just the writes they come after (VarHandleOp); by default
            it is a reference (VariableV2), as in TF1.
        shape: Of the variable; by default that of the initial value.
        synchronization, aggregation: How copies are kept alike; there is one. What has the
            synchronization ON_READ is not trained by default.
        variable_def: A VariableDef: the variable of the graph that it describes.
        import_scope: The name scope that one lies in.
        caching_device: Noted on the reads that `value` gives.
        expected_shape: Taken for TensorFlow's sake.

    Raises:
        ValueError: There is no initial value, or its shape is not known.
    """

    def __new__(
        cls,
        initial_value: InitialValue | None = None,
        trainable: bool | None = None,
        collections: Collection[str] | None = None,
        validate_shape: bool = True,
        caching_device: DeviceSpec = None,
        name: str | None = None,
        variable_def: object = None,
        dtype: DTypeLike | None = None,
        expected_shape: object = None,
        import_scope: str | None = None,
        constraint: Constraint | None = None,
        use_resource: bool | None = None,
        synchronization: object = None,
        aggregation: object = None,
        shape: ShapeLike | None = None,
    ) -> Variable:
        """A variable of the kind that is asked for."""
        if cls is Variable:
            use_resource = use_resources() if use_resource is None else use_resource
            cls = implementation("variable_kind")(bool(use_resource))
        return object.__new__(cls)

    def __init__(
        self,
        initial_value: InitialValue | None = None,
        trainable: bool | None = None,
        collections: Collection[str] | None = None,
        validate_shape: bool = True,
        caching_device: DeviceSpec = None,
        name: str | None = None,
        variable_def: object = None,
        dtype: DTypeLike | None = None,
        expected_shape: object = None,
        import_scope: str | None = None,
        constraint: Constraint | None = None,
        use_resource: bool | None = None,
        synchronization: object = VariableSynchronization.AUTO,
        aggregation: object = VariableAggregation.NONE,
        shape: ShapeLike | None = None,
    ):
        if initial_value is None:
            raise ValueError("initial_value must be specified.")
        if collections is None:
            collections = [GraphKeys.GLOBAL_VARIABLES]
        if not isinstance(collections, (list, tuple, set)):
            raise ValueError(
                "collections argument to Variable constructor must be a list, tuple, or set. "
                f"Got {collections} of type {type(collections)}"
            )
        if constraint is not None and not callable(constraint):
            raise ValueError("The `constraint` argument must be a callable.")
        self.synchronization = checked_synchronization(synchronization, name)
        self.aggregation = checked_aggregation(aggregation, name)
        if trainable is None and self.synchronization is VariableSynchronization.ON_READ:
            trainable = False
        self.trainable = True if trainable is None else bool(trainable)
        self.constraint = constraint
        if self.trainable and GraphKeys.TRAINABLE_VARIABLES not in collections:
            collections = [*collections, GraphKeys.TRAINABLE_VARIABLES]
        inner = get_default_graph()
        graph = outermost(inner)
        if isinstance(initial_value, Tensor) and initial_value.graph is not graph is not inner:
            raise ValueError(
                f"Initializer for variable {name} is from inside a control-flow construct, such as "
                "a loop or conditional. When creating a variable inside a loop or conditional, use "
                "a lambda as the initializer: its initial_value must be made outside."
            )
        values = [] if callable(initial_value) else [initial_value]
        outside = graph.as_default(), graph.control_dependencies(None)
        with outside[0], outside[1], name_scope(name, "Variable", values) as scope:
            initial = self._initial_tensor(initial_value, dtype)
            self.initial_value: Tensor | None = initial
            known = initial.sizes
            if validate_shape and not is_static(known):
                raise ValueError(f"initial_value must have a shape specified: {initial!r}")
            known = _declared(shape, known if validate_shape or not self._is_reference else None)
            self.sizes: Shape = known
            self.dtype: DType = initial.dtype
            self._build(graph, scope, validate_shape, caching_device)
        graph.add_to_collections(collections, self)

    _is_reference = True

    def _initial_tensor(self, value: InitialValue, dtype: DTypeLike | None) -> Tensor:
        """The initial value; what a function makes for it goes to `<name>/Initializer`."""
        if callable(value):
            with self._initializing():
                return convert_to_tensor(value(), dtype, "initial_value")
        return convert_to_tensor(value, dtype, "initial_value")

    @contextlib.contextmanager
    def _initializing(self) -> Generator[None]:
        """A block whose operations stand with the variable, wherever that will be."""
        graph = get_default_graph()
        self._group = b"loc:@" + graph.scopes.name.encode()
        place = graph_colocation(graph, self._group)
        with graph.name_scope("Initializer"), graph.device(None), place:
            yield

    _group: bytes | None = None

    def _guarded(self, name: str) -> Tensor | None:
        """The initial value, for which other variables need not be initialised."""
        initial = self.initial_value
        return initial if initial is None or self._group else guarded(initial, name)

    def _create_op(
        self, graph: Graph, kind: str, name: str, attrs: Mapping[str, AttrValue]
    ) -> Operation:
        """The operation of the variable, in the group of what initialises it."""
        if self._group is None:
            return append(graph, kind, name, (), attrs)
        with graph_colocation(graph, self._group):
            return append(graph, kind, name, (), attrs)

    def _build(
        self, graph: Graph, scope: str, validate_shape: bool, caching_device: DeviceSpec
    ) -> None:
        raise NotImplementedError

    SaveSliceInfo = SaveSliceInfo
    save_slice_info: SaveSliceInfo | None = None
    synchronization: VariableSynchronization
    aggregation: VariableAggregation

    # Set by _build.
    op: Operation
    initializer: Operation
    _snapshot: Tensor

    @property
    def name(self) -> str:
        """`w:0`."""
        return f"{self.op.name}:0"

    @property
    def graph(self) -> Graph:
        """The graph it belongs to."""
        return self.op.graph

    @property
    def device(self) -> str:
        """The device that was noted when it was made."""
        return self.op.device

    @property
    def shape(self) -> TensorShape:
        """What is known of its shape."""
        return TensorShape.of(self.sizes)

    def get_shape(self) -> TensorShape:
        """What is known of its shape."""
        return TensorShape.of(self.sizes)

    def value(self) -> Tensor:
        """The tensor that holds its value."""
        raise NotImplementedError

    def read_value(self) -> Tensor:
        """A tensor with the value it has when that tensor is computed."""
        raise NotImplementedError

    def as_graph_element(self) -> Tensor:
        """What a Session fetches for it."""
        raise NotImplementedError

    def is_initialized(self, name: str | None = None) -> Tensor:
        """Whether it has a value."""
        raise NotImplementedError

    def initialized_value(self) -> Tensor:
        """Its value if it has one, else what it is initialised with: for other variables' sake."""
        from ..functions.flow.conditional import cond

        initial = self.initial_value
        if initial is None:
            raise ValueError(f"variable '{self.name}' was imported without its initial value")
        with outermost(get_default_graph()).as_default(), self.graph.control_dependencies(None):
            value = cond(
                self.is_initialized(), self.read_value, lambda: output("Identity", [initial])
            )
        return cast("Tensor", value)

    def eval(self, session: Session | None = None) -> Evaluated:
        """Its value in `session`, by default the default one."""
        return self.as_graph_element().eval(session=session)

    def load(self, value: npt.ArrayLike, session: Session | None = None) -> None:
        """Gives it a value in `session`, by default the default one, without new operations."""
        session = get_default_session() if session is None else session
        if session is None:
            raise ValueError(
                "Either session argument should be provided or default session should be "
                "established"
            )
        session.run(self.initializer, {self.initializer.inputs[1]: value})

    @overload
    def assign(
        self,
        value: TensorLike,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: Literal[True] = True,
    ) -> Updated: ...
    @overload
    def assign(
        self,
        value: TensorLike,
        use_locking: bool | None = None,
        name: str | None = None,
        *,
        read_value: bool,
    ) -> Updated | Operation: ...
    def assign(
        self,
        value: TensorLike,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Updated | Operation:
        """Gives it a value; the new one, or the operation that does so."""
        return self._update("assign", value, use_locking, name, read_value)

    @overload
    def assign_add(
        self,
        delta: TensorLike,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: Literal[True] = True,
    ) -> Updated: ...
    @overload
    def assign_add(
        self,
        delta: TensorLike,
        use_locking: bool | None = None,
        name: str | None = None,
        *,
        read_value: bool,
    ) -> Updated | Operation: ...
    def assign_add(
        self,
        delta: TensorLike,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Updated | Operation:
        """Adds `delta`, of the variable's type and shape; the new value, or the operation."""
        return self._update("assign_add", delta, use_locking, name, read_value)

    @overload
    def assign_sub(
        self,
        delta: TensorLike,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: Literal[True] = True,
    ) -> Updated: ...
    @overload
    def assign_sub(
        self,
        delta: TensorLike,
        use_locking: bool | None = None,
        name: str | None = None,
        *,
        read_value: bool,
    ) -> Updated | Operation: ...
    def assign_sub(
        self,
        delta: TensorLike,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Updated | Operation:
        """Subtracts `delta`, of the variable's type and shape; the new value, or the operation."""
        return self._update("assign_sub", delta, use_locking, name, read_value)

    def _update(
        self,
        method: str,
        value: TensorLike,
        use_locking: bool | None,
        name: str | None,
        read_value: bool,
    ) -> Updated | Operation:
        """Adds the operation of one of the methods above."""
        raise NotImplementedError

    def _change(
        self,
        kind: str,
        indices: TensorLike,
        updates: TensorLike,
        use_locking: bool | None,
        name: str | None,
    ) -> Updated:
        """Adds the operation `kind`, as it is called for references; gives the new value."""
        raise NotImplementedError

    def assign_slice(
        self,
        bounds: Sequence[Tensor],
        masks: Mapping[str, int],
        value: TensorLike,
        name: str | None = None,
    ) -> Updated:
        """Gives the part that StridedSlice takes with `bounds` and `masks` a `value`."""
        raise NotImplementedError

    def sparse_read(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """The rows at `indices`."""
        raise NotImplementedError

    def gather_nd(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """The parts at index tuples, the last dimension of `indices`; see `tf.gather_nd`."""
        return output("GatherNd", [self, indices], name=name)

    def count_up_to(self, limit: int, name: str | None = None) -> Tensor:
        """Adds 1, gives the value before; OutOfRangeError from `limit` on; see `tf.count_up_to`."""
        raise NotImplementedError

    def ref(self) -> Reference[Variable]:
        """What stands for the variable in sets and dicts, and compares by identity."""
        return Reference(self)

    experimental_ref = ref

    def _get_save_slice_info(self) -> SaveSliceInfo | None:
        """Which part of a larger variable it is; None when it is none."""
        return self.save_slice_info

    def _set_save_slice_info(self, save_slice_info: SaveSliceInfo | None) -> None:
        """Says which part of a larger variable it is: it is saved as such."""
        self.save_slice_info = save_slice_info

    @property
    def _save_slice_info(self) -> SaveSliceInfo | None:
        return self.save_slice_info

    def to_proto(self, export_scope: str | None = None) -> VariableDef:
        """The VariableDef message that describes it, names without the scope `export_scope`."""
        outside = f"{export_scope}/" if export_scope else ""
        initial = "" if self.initial_value is None else self.initial_value.name
        message = proto.VariableDef(
            variable_name=self.name.removeprefix(outside),
            initial_value_name=initial.removeprefix(outside),
            initializer_name=self.initializer.name.removeprefix(outside),
            snapshot_name=self._snapshot.name.removeprefix(outside),
            is_resource=not self._is_reference,
            trainable=self.trainable,
            synchronization=self.synchronization.value,
            aggregation=self.aggregation.value,
        )
        if self.save_slice_info is not None:
            part = self.save_slice_info.to_proto(export_scope)
            message.save_slice_info_def.CopyFrom(part)
        return cast("VariableDef", message)

    @staticmethod
    def from_proto(variable_def: VariableDef, import_scope: str | None = None) -> Variable:
        """The variable of the default graph that a VariableDef message describes.

        Raises KeyError when the graph lacks one of its operations.
        """
        graph, inside = get_default_graph(), f"{import_scope}/" if import_scope else ""
        variable = object.__new__(implementation("variable_kind")(variable_def.is_resource))
        variable.op = graph.get_tensor_by_name(inside + variable_def.variable_name).op
        variable.initializer = graph.get_operation_by_name(inside + variable_def.initializer_name)
        variable._snapshot = graph.get_tensor_by_name(inside + variable_def.snapshot_name)
        initial = variable_def.initial_value_name
        variable.initial_value = graph.get_tensor_by_name(inside + initial) if initial else None
        variable.trainable, variable.constraint = variable_def.trainable, None
        variable.synchronization = VariableSynchronization(variable_def.synchronization)
        variable.aggregation = VariableAggregation(variable_def.aggregation)
        if variable_def.HasField("save_slice_info_def"):
            part = variable_def.save_slice_info_def
            variable.save_slice_info = SaveSliceInfo(
                save_slice_info_def=part, import_scope=import_scope
            )
        variable.dtype = DType(variable.op.get_attr("dtype"))
        variable.sizes = variable.op.get_attr("shape")
        return variable

    def set_shape(self, shape: Iterable[int | None]) -> None:
        """Adds what the caller knows of its shape."""
        self.value().set_shape(tuple(shape))

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        kind = "tf.Variable"
        dtype = type_name(self.dtype) + ("_ref" if self._is_reference else "")
        return f"<{kind} '{self.name}' shape={self.shape} dtype={dtype}>"


def _declared(shape: ShapeLike | None, known: Shape) -> Shape:
    if shape is None:
        return known
    declared = TensorShape(shape)
    if not declared.is_compatible_with(known):
        raise ValueError(
            f"The initial value's shape ({TensorShape(known)}) is not compatible with the "
            f"explicitly supplied `shape` argument ({declared})."
        )
    return declared.as_shape()


def _as_tensor(
    variable: Variable, dtype: np.dtype | None, name: str | None, reference: bool
) -> Tensor:
    if dtype is not None and variable.dtype != dtype:
        raise ValueError(
            f"Incompatible type conversion requested to type '{type_name(dtype)}' for variable of "
            f"type '{type_name(variable.dtype)}'"
        )
    if reference:
        return variable.as_graph_element()
    return variable.value()


register_conversion(Variable, _as_tensor)
