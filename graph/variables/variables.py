"""Variables: tensors that keep their value from run to run of a Session."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Literal, TypeAlias, cast, overload

from ...schema import proto
from ..core.create import append, convert_to_tensor, create, output, register_conversion, type_name
from ..core.dtype import DType
from ..core.function_graph import outermost
from ..core.graph import Graph, Operation, Tensor
from ..core.operands import Operands
from ..core.scopes import (
    GraphKeys,
    get_default_graph,
    get_default_session,
    name_scope,
)
from ..core.shapes import Dim, Shape, is_static
from ..core.sizes import Sizes

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ..core.indexed_slices import IndexedSlices
    from ..core.protocols import Evaluated
    from ..core.tensor_shape import TensorShape
    from ..core.typing import DTypeLike, ShapeLike, TensorLike
    from ..format.messages import VariableDef
    from ..session.session import Session

InitialValue: TypeAlias = "TensorLike | Callable[[], TensorLike]"
"""A value, or a function that makes it."""
Constraint: TypeAlias = "Callable[[Tensor], TensorLike]"
"""What an optimizer applies to a variable's new value."""

_DEFAULTS = {"use_resource": False}


def use_resources(yes: bool | None = None) -> bool:
    """Whether variables are resource variables by default; set when `yes` is given."""
    if yes is not None:
        _DEFAULTS["use_resource"] = yes
    return _DEFAULTS["use_resource"]


class Variable(Operands):
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
        caching_device, expected_shape, import_scope, synchronization, aggregation, variable_def:
            Taken for TensorFlow's sake.

    Raises:
        ValueError: There is no initial value, or its shape is not known.
    """

    def __new__(
        cls,
        initial_value: InitialValue | None = None,
        trainable: bool | None = None,
        collections: Collection[str] | None = None,
        validate_shape: bool = True,
        caching_device: object = None,
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
            cls = ResourceVariable if use_resource else ReferenceVariable
        return object.__new__(cls)

    def __init__(
        self,
        initial_value: InitialValue | None = None,
        trainable: bool | None = None,
        collections: Collection[str] | None = None,
        validate_shape: bool = True,
        caching_device: object = None,
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
        self.trainable = True if trainable is None else bool(trainable)
        self.constraint = constraint
        if self.trainable and GraphKeys.TRAINABLE_VARIABLES not in collections:
            collections = [*collections, GraphKeys.TRAINABLE_VARIABLES]
        graph = outermost(get_default_graph())
        values = [] if callable(initial_value) else [initial_value]
        outside = graph.as_default(), graph.control_dependencies(None)
        with outside[0], outside[1], name_scope(name, "Variable", values) as scope:
            initial = self._initial_tensor(initial_value, dtype)
            self.initial_value: Tensor | None = initial
            known = initial.shape
            if validate_shape and not is_static(known):
                raise ValueError(f"initial_value must have a shape specified: {initial!r}")
            known = _declared(shape, known if validate_shape else None)
            self.shape: Shape = None if known is None else Sizes(known)
            self.dtype: DType = initial.dtype
            self._build(graph, scope, validate_shape)
        graph.add_to_collections(collections, self)

    _inner_scope = True

    def _initial_tensor(self, value: InitialValue, dtype: DTypeLike | None) -> Tensor:
        """The initial value; what a function makes for it goes to `<name>/Initializer`."""
        if callable(value):
            with name_scope("Initializer"):
                return convert_to_tensor(value(), dtype, "initial_value")
        return convert_to_tensor(value, dtype, "initial_value")

    def _build(self, graph: Graph, scope: str, validate_shape: bool) -> None:
        raise NotImplementedError

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

    def get_shape(self) -> TensorShape:
        """The shape as TF1's object."""
        from ..core.tensor_shape import TensorShape

        return TensorShape(self.shape)

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
        """The value it is initialised with, to initialise other variables from."""
        if self.initial_value is None:
            raise ValueError(f"variable '{self.name}' was imported without its initial value")
        return self.initial_value

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
    ) -> Tensor: ...
    @overload
    def assign(
        self,
        value: TensorLike,
        use_locking: bool | None = None,
        name: str | None = None,
        *,
        read_value: bool,
    ) -> Tensor | Operation: ...
    def assign(
        self,
        value: TensorLike,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Tensor | Operation:
        """Gives it a value; a tensor with the new one, or the operation that does so."""
        return self._update("assign", value, use_locking, name, read_value)

    @overload
    def assign_add(
        self,
        delta: TensorLike,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: Literal[True] = True,
    ) -> Tensor: ...
    @overload
    def assign_add(
        self,
        delta: TensorLike,
        use_locking: bool | None = None,
        name: str | None = None,
        *,
        read_value: bool,
    ) -> Tensor | Operation: ...
    def assign_add(
        self,
        delta: TensorLike,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Tensor | Operation:
        """Adds to its value; a tensor with the new one, or the operation that does so."""
        return self._update("assign_add", delta, use_locking, name, read_value)

    @overload
    def assign_sub(
        self,
        delta: TensorLike,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: Literal[True] = True,
    ) -> Tensor: ...
    @overload
    def assign_sub(
        self,
        delta: TensorLike,
        use_locking: bool | None = None,
        name: str | None = None,
        *,
        read_value: bool,
    ) -> Tensor | Operation: ...
    def assign_sub(
        self,
        delta: TensorLike,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Tensor | Operation:
        """Subtracts from its value; a tensor with the new one, or the operation that does so."""
        return self._update("assign_sub", delta, use_locking, name, read_value)

    def _update(
        self,
        method: str,
        value: TensorLike,
        use_locking: bool | None,
        name: str | None,
        read_value: bool,
    ) -> Tensor | Operation:
        """Adds the operation of one of the methods above."""
        raise NotImplementedError

    def scatter_add(
        self, sparse_delta: IndexedSlices, use_locking: bool | None = None, name: str | None = None
    ) -> Tensor:
        """Adds IndexedSlices; a tensor with the new value."""
        raise NotImplementedError

    def scatter_sub(
        self, sparse_delta: IndexedSlices, use_locking: bool | None = None, name: str | None = None
    ) -> Tensor:
        """Subtracts IndexedSlices; a tensor with the new value."""
        raise NotImplementedError

    def count_up_to(self, limit: int) -> Tensor:
        """A tensor that adds 1 and gives the value before; OutOfRangeError from `limit` on."""
        raise NotImplementedError("count_up_to is not supported; use assign_add")

    def to_proto(self, export_scope: str | None = None) -> VariableDef:
        """The VariableDef message that describes it, names without the scope `export_scope`."""
        outside = f"{export_scope}/" if export_scope else ""
        initial = "" if self.initial_value is None else self.initial_value.name
        message = proto.VariableDef(
            variable_name=self.name.removeprefix(outside),
            initial_value_name=initial.removeprefix(outside),
            initializer_name=self.initializer.name.removeprefix(outside),
            snapshot_name=self._snapshot.name.removeprefix(outside),
            is_resource=isinstance(self, ResourceVariable),
            trainable=self.trainable,
        )
        return cast("VariableDef", message)

    @staticmethod
    def from_proto(variable_def: VariableDef, import_scope: str | None = None) -> Variable:
        """The variable of the default graph that a VariableDef message describes.

        Raises KeyError when the graph lacks one of its operations.
        """
        graph, inside = get_default_graph(), f"{import_scope}/" if import_scope else ""
        cls = ResourceVariable if variable_def.is_resource else ReferenceVariable
        variable = object.__new__(cls)
        variable.op = graph.get_tensor_by_name(inside + variable_def.variable_name).op
        variable.initializer = graph.get_operation_by_name(inside + variable_def.initializer_name)
        variable._snapshot = graph.get_tensor_by_name(inside + variable_def.snapshot_name)
        initial = variable_def.initial_value_name
        variable.initial_value = graph.get_tensor_by_name(inside + initial) if initial else None
        variable.trainable, variable.constraint = variable_def.trainable, None
        variable.dtype = DType(variable.op.get_attr("dtype"))
        variable.shape = variable.op.get_attr("shape")
        return variable

    def set_shape(self, shape: Iterable[int | None]) -> None:
        """Adds what the caller knows of its shape."""
        self.value().set_shape(tuple(shape))

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        kind = "tf.Variable"
        shape = "<unknown>" if self.shape is None else self.shape
        dtype = type_name(self.dtype) + ("_ref" if isinstance(self, ReferenceVariable) else "")
        return f"<{kind} '{self.name}' shape={shape} dtype={dtype}>"


class ReferenceVariable(Variable):
    """A variable whose operation gives a reference to its memory, as those of TF1."""

    def _build(self, graph: Graph, scope: str, validate_shape: bool) -> None:
        attrs = {"shape": self.shape, "dtype": self.dtype}
        self.op = append(graph, "VariableV2", scope[:-1], (), attrs)
        where = [f"loc:@{self.op.name}".encode()]
        assign = {"validate_shape": validate_shape, "_class": where}
        self.initializer = create("Assign", [self.reference, self.initial_value], assign)
        self._snapshot = output("Identity", [self.reference], {"_class": where}, "read")

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

    def _scatter(
        self, kind: str, slices: IndexedSlices, use_locking: bool | None, name: str | None
    ) -> Tensor:
        require_slices(slices)
        inputs = [self.reference, slices.indices, slices.values]
        return output(kind, inputs, {"use_locking": bool(use_locking)}, name)

    def scatter_sub(
        self, sparse_delta: IndexedSlices, use_locking: bool | None = None, name: str | None = None
    ) -> Tensor:
        """Subtracts IndexedSlices."""
        return self._scatter("ScatterSub", sparse_delta, use_locking, name)

    def scatter_add(
        self, sparse_delta: IndexedSlices, use_locking: bool | None = None, name: str | None = None
    ) -> Tensor:
        """Adds IndexedSlices."""
        return self._scatter("ScatterAdd", sparse_delta, use_locking, name)

    def scatter_update(
        self, sparse_delta: IndexedSlices, use_locking: bool | None = None, name: str | None = None
    ) -> Tensor:
        """Sets the rows that IndexedSlices name."""
        return self._scatter("ScatterUpdate", sparse_delta, use_locking, name)

    def is_initialized(self, name: str | None = None) -> Tensor:
        """Whether it has a value."""
        return output("IsVariableInitialized", [self.reference], name=name)


class ResourceVariable(Variable):
    """A variable behind a handle: each read sees just the writes it comes after."""

    def _initial_tensor(self, value: InitialValue, dtype: DTypeLike | None) -> Tensor:
        with name_scope("Initializer"):
            return convert_to_tensor(value() if callable(value) else value, dtype, "initial_value")

    def _build(self, graph: Graph, scope: str, validate_shape: bool) -> None:
        name = scope[:-1]
        attrs = {"shape": self.shape, "dtype": self.dtype, "shared_name": name.encode()}
        self.op = append(graph, "VarHandleOp", name, (), attrs)
        with name_scope("IsInitialized"):
            output("VarIsInitializedOp", [self.handle])
        with name_scope("Assign") as inner:
            inputs = [self.handle, self.initial_value]
            self.initializer = create("AssignVariableOp", inputs, None, inner)
        with name_scope("Read"):
            self._snapshot = self._read()

    @property
    def handle(self) -> Tensor:
        """The tensor that stands for it."""
        return self.op.outputs[0]

    def _read(self) -> Tensor:
        tensor = output("ReadVariableOp", [self.handle], {"dtype": self.dtype})
        tensor.set_shape(self.shape)
        return tensor

    def value(self) -> Tensor:
        """The tensor that holds its value."""
        return self._read()

    def read_value(self) -> Tensor:
        """A tensor with the value it has when that tensor is computed."""
        with name_scope("Read"):
            read = self._read()
        return output("Identity", [read])

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
    ) -> Tensor | Operation:
        kinds = {
            "assign": "AssignVariableOp",
            "assign_add": "AssignAddVariableOp",
            "assign_sub": "AssignSubVariableOp",
        }
        tensor = convert_to_tensor(value, self.dtype)
        if self.shape is not None and tensor.shape is not None:
            self._check_shape(tensor.shape)
        return self.after(create(kinds[method], [self.handle, tensor], None, name), read_value)

    @overload
    def after(self, op: Operation, read_value: Literal[True] = True) -> Tensor: ...
    @overload
    def after(self, op: Operation, read_value: bool) -> Tensor | Operation: ...
    def after(self, op: Operation, read_value: bool = True) -> Tensor | Operation:
        """The value after `op`, which changed it; or just `op`."""
        if not read_value:
            return op
        with op.graph.control_dependencies([op]):
            return self._read()

    def _check_shape(self, shape: tuple[Dim, ...]) -> None:
        sizes = self.shape or ()
        fits = len(shape) == len(sizes) and all(
            None in (a, b) or a == b for a, b in zip(shape, sizes, strict=True)
        )
        if not fits:
            raise ValueError(
                f"Cannot assign value to variable '{self.name}': Shape mismatch.The variable "
                f"shape {self.shape}, and the assigned value shape {shape} are incompatible."
            )

    def _scatter(self, kind: str, slices: IndexedSlices, name: str | None) -> Tensor:
        require_slices(slices)
        inputs = [self.handle, slices.indices, slices.values]
        return self.after(create(kind, inputs, None, name))

    def scatter_sub(
        self, sparse_delta: IndexedSlices, use_locking: bool | None = None, name: str | None = None
    ) -> Tensor:
        """Subtracts IndexedSlices."""
        return self._scatter("ResourceScatterSub", sparse_delta, name)

    def scatter_add(
        self, sparse_delta: IndexedSlices, use_locking: bool | None = None, name: str | None = None
    ) -> Tensor:
        """Adds IndexedSlices."""
        return self._scatter("ResourceScatterAdd", sparse_delta, name)

    def scatter_update(
        self, sparse_delta: IndexedSlices, use_locking: bool | None = None, name: str | None = None
    ) -> Tensor:
        """Sets the rows that IndexedSlices name."""
        return self._scatter("ResourceScatterUpdate", sparse_delta, name)

    def is_initialized(self, name: str | None = None) -> Tensor:
        """Whether it has a value."""
        return output("VarIsInitializedOp", [self.handle], name=name)


def require_slices(slices: IndexedSlices) -> None:
    """Raises TypeError unless `slices` has indices and values."""
    if not (hasattr(slices, "indices") and hasattr(slices, "values")):
        raise TypeError(f"sparse_delta is not IndexedSlices: {slices}")


def _declared(shape: ShapeLike | None, known: Shape) -> Shape:
    if shape is None:
        return known
    sizes = getattr(shape, "as_shape", None)
    return sizes() if sizes else tuple(cast("Iterable[Dim]", shape))


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
