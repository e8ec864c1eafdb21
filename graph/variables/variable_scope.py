"""`variable_scope`: prefixes and defaults for the variables within."""

from __future__ import annotations

import contextlib
import copy
import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core.dtype import as_numpy
from ..core.graph import Graph
from ..core.scopes import GraphKeys, get_default_graph, graph_of
from .variables import Variable


class _AutoReuse:
    """`tf.AUTO_REUSE`: variables are made when there are none, found again else."""

    def __repr__(self) -> str:
        return "AUTO_REUSE"


AUTO_REUSE = _AutoReuse()


class VariableScope:
    """What `get_variable` takes over from the `variable_scope` blocks around it.

    Attributes:
        name: The prefix of variables' names, without a slash at its end.
        reuse: False, True or AUTO_REUSE.
        original_name_scope: The name scope that was opened with it, with its slash.
        initializer, regularizer, dtype, use_resource, constraint, custom_getter, caching_device:
            Defaults of the variables within.
    """

    def __init__(self, reuse, name: str = "", name_scope: str = "", **defaults):
        self.reuse = reuse or False
        self.name = name
        self.original_name_scope = name_scope
        self.initializer: Any = None
        self.regularizer: Callable | None = None
        self.dtype: Any = np.dtype(np.float32)
        self.use_resource: bool | None = None
        self.constraint: Callable | None = None
        self.custom_getter: Callable | None = None
        self.caching_device: Any = None
        self.partitioner: Any = None
        for key, value in defaults.items():
            setattr(self, key, value)

    def reuse_variables(self) -> None:
        """Lets variables only be found again from now on."""
        self.reuse = True

    def set_initializer(self, initializer) -> None:
        """The default initializer of the variables within."""
        self.initializer = initializer

    def set_regularizer(self, regularizer) -> None:
        """The default regularizer of the variables within."""
        self.regularizer = regularizer

    def set_dtype(self, dtype) -> None:
        """The default dtype of the variables within."""
        self.dtype = as_numpy(dtype)

    def set_use_resource(self, use_resource: bool) -> None:
        """Whether the variables within are resource variables by default."""
        self.use_resource = use_resource

    def get_collection(self, name: str) -> list:
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
        name_or_scope,
        default_name: str | None = None,
        values=None,
        initializer=None,
        regularizer=None,
        caching_device=None,
        partitioner=None,
        custom_getter=None,
        reuse=None,
        dtype=None,
        use_resource: bool | None = None,
        constraint=None,
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
        if not isinstance(auxiliary_name_scope, bool):
            raise TypeError(
                "The auxiliary_name_scope must be `True` or `False`, while get "
                f"{auxiliary_name_scope}"
            )
        self._name_or_scope = name_or_scope
        self._default_name = default_name
        self._graph = graph_of(values or ())
        self._reuse = reuse
        self._own_names = auxiliary_name_scope
        given = {
            "initializer": initializer,
            "regularizer": regularizer,
            "caching_device": caching_device,
            "partitioner": partitioner,
            "custom_getter": custom_getter,
            "dtype": None if dtype is None else as_numpy(dtype),
            "use_resource": use_resource,
        }
        self._given = {key: value for key, value in given.items() if value is not None}
        self._constraint = constraint
        self._blocks = contextlib.ExitStack()

    def __enter__(self) -> VariableScope:
        with contextlib.ExitStack() as blocks:
            blocks.enter_context(self._graph.as_default())
            prefix = self._enter_names(blocks)
            scope = blocks.enter_context(self._variables(prefix))
            self._blocks = blocks.pop_all()
        return scope

    def __exit__(self, *error) -> None:
        self._blocks.__exit__(*error)

    def _enter_names(self, blocks: contextlib.ExitStack) -> str:
        """Opens the name scope; gives its prefix."""
        if not self._own_names:
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
    def _variables(self, prefix: str) -> Iterator[VariableScope]:
        store = store_of(self._graph)
        outer, given = store.scope, self._name_or_scope
        counts = dict(store.counts)
        if isinstance(given, VariableScope):
            scope = copy.copy(given)
            scope.reuse = self._reuse or given.reuse
        else:
            own = store.unique(str(self._default_name)) if given is None else given
            scope = copy.copy(outer)
            scope.name = f"{outer.name}/{own}" if outer.name else own
            scope.reuse = self._reuse or outer.reuse
            scope.original_name_scope = prefix
        self._override(scope)
        store.open(scope.name)
        if isinstance(given, VariableScope):
            counts[scope.name] = store.counts[scope.name]
            counts_inside = dict(store.counts)
            store.counts = counts_inside
        store.scope = scope
        try:
            yield scope
        finally:
            if store.scope is not scope:
                raise RuntimeError("Improper nesting of variable_scope.")
            if isinstance(given, VariableScope):
                store.counts = counts
            else:
                store.forget_inner(scope.name)
            store.scope = outer

    def _override(self, scope: VariableScope) -> None:
        """Puts the defaults that were given to this block into its scope."""
        scope.constraint = self._constraint
        for key, value in self._given.items():
            if key == "custom_getter" and scope.custom_getter is not None:
                value = chained(value, scope.custom_getter)
            setattr(scope, key, value)


def chained(inner: Callable, outer: Callable) -> Callable:
    """A custom getter within another one's scope calls that one."""

    def getter(getter, *args, **kwargs):
        return inner(functools.partial(outer, getter), *args, **kwargs)

    return getter
