"""`variable_scope`: prefixes and defaults for the variables within."""

from __future__ import annotations

import contextlib
import copy
import functools
import threading
from collections.abc import Callable, Generator, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeAlias

import numpy as np

from ..core.dtype import as_numpy
from ..core.graph import Graph
from ..core.hooks import implementation
from ..core.scopes import GraphKeys, get_default_graph, graph_of
from .creators import creators_of
from .variables import Constraint, Variable

if TYPE_CHECKING:
    from ..core.graph import Tensor
    from ..core.protocols import Collection, DeviceSpec
    from ..core.typing import DTypeLike, ShapeLike, TensorLike
    from .initializers import Initializer
    from .partitioned import PartitionedVariable, Partitioner

P = ParamSpec("P")
InitializerLike: TypeAlias = (
    "Initializer | type[Initializer] | Callable[..., TensorLike] | TensorLike"
)
"""A function of a shape and dtype, one without arguments, or a value."""
Regularizer: TypeAlias = "Callable[[Variable], Tensor | None]"
"""The loss of a variable."""
Getter: TypeAlias = "Callable[..., Variable]"
"""Called as `getter(getter=, name=, **arguments of get_variable)`."""


class _AutoReuse:
    """`tf.AUTO_REUSE`: variables are made when there are none, found again else."""

    def __repr__(self) -> str:
        return "AUTO_REUSE"


AUTO_REUSE = _AutoReuse()
Reuse: TypeAlias = "bool | _AutoReuse | None"


class VariableScope:
    """What `get_variable` takes over from the `variable_scope` blocks around it.

    Attributes:
        name: The prefix of variables' names, without a slash at its end.
        reuse: False, True or AUTO_REUSE.
        original_name_scope: The name scope that was opened with it, with its slash.
        initializer, regularizer, dtype, use_resource, constraint, custom_getter, caching_device:
            Defaults of the variables within.
    """

    def __init__(
        self,
        reuse: Reuse,
        name: str = "",
        initializer: InitializerLike | None = None,
        regularizer: Regularizer | None = None,
        caching_device: DeviceSpec = None,
        partitioner: Partitioner | None = None,
        custom_getter: Getter | None = None,
        name_scope: str = "",
        dtype: DTypeLike = np.float32,
        use_resource: bool | None = None,
        constraint: Constraint | None = None,
    ):
        self.reuse: bool | _AutoReuse = reuse or False
        self.name = name
        self.original_name_scope = name_scope
        self.initializer = initializer
        self.regularizer = regularizer
        self.dtype: np.dtype = as_numpy(dtype)
        self.use_resource = use_resource
        self.constraint = constraint
        self.custom_getter = custom_getter
        self.caching_device = caching_device
        self.partitioner = partitioner

    @property
    def name_scope(self) -> str:
        """The name scope that was opened with it, with its slash."""
        return self.original_name_scope

    def get_variable(
        self,
        var_store: object,
        name: str,
        shape: ShapeLike | None = None,
        dtype: DTypeLike | None = None,
        initializer: InitializerLike | None = None,
        regularizer: Regularizer | None = None,
        reuse: Reuse = None,
        trainable: bool | None = None,
        collections: Iterable[str] | None = None,
        caching_device: DeviceSpec = None,
        partitioner: Partitioner | None = None,
        validate_shape: bool = True,
        use_resource: bool | None = None,
        custom_getter: Getter | None = None,
        constraint: Constraint | None = None,
        synchronization: object = None,
        aggregation: object = None,
    ) -> Variable:
        """What `get_variable` gives within this scope.

        Args:
            var_store: Taken for TensorFlow's sake: it is the graph's.
            reuse: As of `variable_scope`.
            name, shape, dtype, initializer, regularizer, trainable, collections, caching_device,
            partitioner, validate_shape, use_resource, custom_getter, constraint, synchronization,
            aggregation: As of `get_variable`.

        Raises ValueError as `get_variable` does.
        """
        with variable_scope(self, reuse=reuse, auxiliary_name_scope=False):
            return implementation("get_variable")(
                name, shape, dtype, initializer, regularizer, trainable, collections,
                caching_device, partitioner, validate_shape, use_resource, custom_getter,
                constraint, synchronization, aggregation,
            )  # fmt: skip

    def reuse_variables(self) -> None:
        """Lets variables only be found again from now on."""
        self.reuse = True

    def set_initializer(self, initializer: InitializerLike | None) -> None:
        """The default initializer of the variables within."""
        self.initializer = initializer

    def set_regularizer(self, regularizer: Regularizer | None) -> None:
        """The default regularizer of the variables within."""
        self.regularizer = regularizer

    def set_caching_device(self, caching_device: DeviceSpec) -> None:
        """Noted; nothing has a place here."""
        self.caching_device = caching_device

    def set_custom_getter(self, custom_getter: Getter | None) -> None:
        """What is called in place of the usual getter within."""
        self.custom_getter = custom_getter

    def set_partitioner(self, partitioner: Partitioner | None) -> None:
        """The default partitioner of the variables within."""
        self.partitioner = partitioner

    def set_dtype(self, dtype: DTypeLike) -> None:
        """The default dtype of the variables within."""
        self.dtype = as_numpy(dtype)

    def set_use_resource(self, use_resource: bool) -> None:
        """Whether the variables within are resource variables by default."""
        self.use_resource = use_resource

    def get_collection(self, name: str) -> Collection:
        """The items of a collection whose names start with the scope's."""
        return get_default_graph().get_collection(name, f"{self.name}/" if self.name else "")

    def trainable_variables(self) -> list[Variable]:
        """The trainable variables within."""
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self) -> list[Variable]:
        """The global variables within."""
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self) -> list[Variable]:
        """The local variables within."""
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)


class _Open(threading.local):
    """The scope that is open in this thread, and how often each name was opened."""

    def __init__(self) -> None:
        self.scope = VariableScope(False)
        self.counts: dict[str, int] = {}


class _Store:
    """The variables that `get_variable` made in a graph, and the scope that is open."""

    def __init__(self) -> None:
        self.variables: dict[str, Variable] = {}
        self.partitioned: dict[str, PartitionedVariable] = {}
        self._open = _Open()

    @property
    def scope(self) -> VariableScope:
        """The innermost scope that is open in this thread."""
        return self._open.scope

    @scope.setter
    def scope(self, scope: VariableScope) -> None:
        self._open.scope = scope

    @property
    def counts(self) -> dict[str, int]:
        """How often scopes were opened in this thread, by name."""
        return self._open.counts

    @counts.setter
    def counts(self, counts: dict[str, int]) -> None:
        self._open.counts = counts

    def open(self, name: str) -> None:
        """Counts the scopes of a name."""
        self.counts[name] = self.counts.get(name, 0) + 1

    def forget_inner(self, name: str) -> None:
        """Lets default names within a scope start from the beginning when it is opened again."""
        for key in self.counts:
            if not name or key.startswith(f"{name}/"):
                self.counts[key] = 0

    def unique(self, prefix: str) -> str:
        """`prefix`, or `prefix_1`, ... when a scope of that name was opened here."""
        outer = self.scope.name
        name = f"{outer}/{prefix}" if outer else prefix
        if not self.counts.get(name):
            return prefix
        i = 1
        while self.counts.get(f"{name}_{i}"):
            i += 1
        return f"{prefix}_{i}"


def store_of(graph: Graph) -> _Store:
    """The variables by name, and the open scope, of a graph."""
    return graph.scopes.extras.setdefault("variable scopes", _Store())


def get_variable_scope() -> VariableScope:
    """The innermost open variable scope."""
    return store_of(get_default_graph()).scope


class variable_scope:
    """`with tf.variable_scope("conv1", reuse=tf.AUTO_REUSE):`: a prefix of variables' names.

    It also opens a name scope of the same last part.

    Args:
        name_or_scope: A name, a VariableScope to enter again, or None for a made up name.
        default_name: The made up name, made unique among the scopes that are open around.
        values: Tensors that must be of the graph.
        initializer, regularizer, caching_device, partitioner, custom_getter, dtype, use_resource,
        constraint: Defaults of the variables within.
        reuse: True to find variables again, AUTO_REUSE to make those that are missing; else as
            in the scope around.
        auxiliary_name_scope: Whether a name scope is opened.

    Raises:
        ValueError: There is no name, or `reuse` is set without one.
        TypeError: The name is neither a string nor a VariableScope.
    """

    def __init__(
        self,
        name_or_scope: str | VariableScope | None,
        default_name: str | None = None,
        values: Iterable[object] | None = None,
        initializer: InitializerLike | None = None,
        regularizer: Regularizer | None = None,
        caching_device: DeviceSpec = None,
        partitioner: object = None,
        custom_getter: Getter | None = None,
        reuse: Reuse = None,
        dtype: DTypeLike | None = None,
        use_resource: bool | None = None,
        constraint: Constraint | None = None,
        auxiliary_name_scope: bool = True,
    ):
        if default_name is None and name_or_scope is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        if reuse is False:
            reuse = None
        if not (reuse is None or reuse is True or reuse is AUTO_REUSE):
            raise ValueError(f"The reuse parameter must be True or False or None, got {reuse!r}")
        if name_or_scope is not None and not isinstance(name_or_scope, (str, VariableScope)):
            raise TypeError("VariableScope: name_or_scope must be a string or VariableScope.")
        if name_or_scope is None and reuse:
            raise ValueError("reuse=True cannot be used without a name_or_scope")
        if custom_getter is not None and not callable(custom_getter):
            raise ValueError(f"Passed a custom_getter which is not callable: {custom_getter}")
        if not isinstance(auxiliary_name_scope, bool):
            raise TypeError(
                "The auxiliary_name_scope must be `True` or `False`, while get "
                f"{auxiliary_name_scope}"
            )
        self._name_or_scope = name_or_scope
        self._default_name = default_name
        self._graph = graph_of(values or ())
        self._reuse = reuse
        self._opens_names = auxiliary_name_scope
        defaults = {
            "initializer": initializer,
            "regularizer": regularizer,
            "caching_device": caching_device,
            "partitioner": partitioner,
            "dtype": None if dtype is None else as_numpy(dtype),
            "use_resource": use_resource,
        }
        self._defaults = {key: value for key, value in defaults.items() if value is not None}
        self._scope: VariableScope | None = None
        self._custom_getter = custom_getter
        self._constraint = constraint
        self._blocks = contextlib.ExitStack()

    def __enter__(self) -> VariableScope:
        with contextlib.ExitStack() as blocks:
            blocks.enter_context(self._graph.as_default())
            prefix = self._enter_names(blocks)
            scope = self._scope = blocks.enter_context(self._variables(prefix))
            self._blocks = blocks.pop_all()
        return scope

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if store_of(self._graph).scope is not self._scope:
            raise RuntimeError("Improper nesting of variable_scope.")
        self._blocks.__exit__(kind, error, trace)

    def _enter_names(self, blocks: contextlib.ExitStack) -> str:
        """Opens the name scope; gives its prefix."""
        if not self._opens_names:
            inner = self._graph.scopes.name
            return blocks.enter_context(self._graph.name_scope(f"{inner}/" if inner else None))
        name = self._name_or_scope
        if isinstance(name, VariableScope):
            name = name.name.rpartition("/")[2]
        elif name is None:
            name = self._default_name
        if not name:
            return ""
        return blocks.enter_context(self._graph.name_scope(name))

    @contextlib.contextmanager
    def _variables(self, prefix: str) -> Generator[VariableScope]:
        store = store_of(self._graph)
        outer, named = store.scope, self._name_or_scope
        counts = dict(store.counts)
        if isinstance(named, VariableScope):
            scope = copy.copy(named)
            scope.reuse = self._reuse or named.reuse
        else:
            name = store.unique(str(self._default_name)) if named is None else named
            scope = copy.copy(outer)
            scope.name = f"{outer.name}/{name}" if outer.name else name
            scope.reuse = self._reuse or outer.reuse
            scope.original_name_scope = prefix
        self._override(scope)
        store.open(scope.name)
        if isinstance(named, VariableScope):
            counts[scope.name] = store.counts[scope.name]
            counts_inside = dict(store.counts)
            store.counts = counts_inside
        store.scope = scope
        try:
            yield scope
        finally:
            if isinstance(named, VariableScope):
                store.counts = counts
            else:
                store.forget_inner(scope.name)
            store.scope = outer

    def _override(self, scope: VariableScope) -> None:
        """Puts the defaults of this block into its scope."""
        scope.constraint = self._constraint
        for key, value in self._defaults.items():
            setattr(scope, key, value)
        if self._custom_getter is not None and scope.custom_getter is not None:
            scope.custom_getter = chained(self._custom_getter, scope.custom_getter)
        elif self._custom_getter is not None:
            scope.custom_getter = self._custom_getter


def chained(
    inner: Callable[Concatenate[Getter, P], Variable], outer: Getter
) -> Callable[Concatenate[Getter, P], Variable]:
    """A custom getter within another one's scope calls that one."""

    def getter(getter: Getter, *args: P.args, **kwargs: P.kwargs) -> Variable:
        return inner(functools.partial(outer, getter), *args, **kwargs)

    return getter


@contextlib.contextmanager
def variable_op_scope(
    values: Iterable[object],
    name_or_scope: str | VariableScope | None,
    default_name: str | None = None,
    initializer: InitializerLike | None = None,
    regularizer: Regularizer | None = None,
    caching_device: DeviceSpec = None,
    partitioner: object = None,
    custom_getter: Getter | None = None,
    reuse: Reuse = None,
    dtype: DTypeLike | None = None,
    use_resource: bool | None = None,
    constraint: Constraint | None = None,
) -> Generator[VariableScope]:
    """`variable_scope` with its arguments in another order."""
    with variable_scope(
        name_or_scope,
        default_name,
        values,
        initializer,
        regularizer,
        caching_device,
        partitioner,
        custom_getter,
        reuse,
        dtype,
        use_resource,
        constraint,
    ) as scope:
        yield scope


@contextlib.contextmanager
def variable_creator_scope(variable_creator: Callable[..., Variable]) -> Generator[None]:
    """A block in which `variable_creator(next_creator, **kwargs)` makes the variables.

    It may change the keyword arguments, those of Variable, and gives a variable, most often what
    `next_creator(**kwargs)` gives; inner blocks come first.
    """
    creators = creators_of(get_default_graph())
    creators.append(variable_creator)
    try:
        yield
    finally:
        creators.pop()
