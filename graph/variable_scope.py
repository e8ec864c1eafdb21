"""`variable_scope` and `get_variable`: variables found again by name."""

from __future__ import annotations

import contextlib
import copy
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .graph import Graph
from .scopes import GraphKeys, get_default_graph, graph_of, name_scope
from .shapes import is_static
from .tensor_shape import TensorShape
from .variables import ReferenceVariable, Variable


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
        self.dtype = np.dtype(dtype)

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


class _Store:
    """The variables that `get_variable` made in a graph, and the scope that is open."""

    def __init__(self) -> None:
        self.variables: dict[str, Variable] = {}
        self.scope = VariableScope(False)
        self.counts: dict[str, int] = {}

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


def _store_of(graph: Graph) -> _Store:
    return graph.scopes.extras.setdefault("variable scopes", _Store())


def get_variable_scope() -> VariableScope:
    """The innermost open variable scope."""
    return _store_of(get_default_graph()).scope


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
            "dtype": None if dtype is None else np.dtype(dtype),
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
        store = _store_of(self._graph)
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
                value = _chained(value, scope.custom_getter)
            setattr(scope, key, value)


def _chained(inner: Callable, outer: Callable) -> Callable:
    """A custom getter within another one's scope calls that one."""

    def getter(getter, *args, **kwargs):
        return inner(functools.partial(outer, getter), *args, **kwargs)

    return getter


def get_variable(
    name: str,
    shape=None,
    dtype=None,
    initializer=None,
    regularizer=None,
    trainable: bool | None = None,
    collections=None,
    caching_device=None,
    partitioner=None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Callable | None = None,
    constraint: Callable | None = None,
    synchronization=None,
    aggregation=None,
) -> Variable:
    """The variable `name` of the current variable scope, made when there is none.

    Args:
        name: Its name within the scope.
        shape: Must be known unless `initializer` is a value.
        dtype: float32 by default.
        initializer: A function of a shape and dtype, or a value; by default glorot_uniform for
            floats, zeros for integers, bool and strings.
        regularizer: A function of the variable; what it gives goes to REGULARIZATION_LOSSES.
        trainable, collections, validate_shape, use_resource, constraint: As of Variable.
        custom_getter: Called in place of the usual one, with that as first argument.
        caching_device, partitioner, synchronization, aggregation: Taken for TensorFlow's sake.

    Raises:
        ValueError: The variable is there though it should not be reused, or is not though it
            should, or was made with another shape or dtype; or the shape is not known.
    """
    scope = get_variable_scope()
    full_name = f"{scope.name}/{name}" if scope.name else name
    reuse = scope.reuse
    getter = scope.custom_getter if custom_getter is None else custom_getter
    if custom_getter is not None and scope.custom_getter is not None:
        getter = _chained(custom_getter, scope.custom_getter)
    arguments = {
        "shape": shape,
        "dtype": scope.dtype if dtype is None else np.dtype(dtype),
        "initializer": scope.initializer if initializer is None else initializer,
        "regularizer": scope.regularizer if regularizer is None else regularizer,
        "reuse": reuse,
        "trainable": trainable,
        "collections": collections,
        "caching_device": caching_device or scope.caching_device,
        "partitioner": partitioner,
        "validate_shape": validate_shape,
        "use_resource": scope.use_resource if use_resource is None else use_resource,
        "constraint": scope.constraint if constraint is None else constraint,
        "synchronization": synchronization,
        "aggregation": aggregation,
    }
    if full_name in _store_of(get_default_graph()).variables and dtype is None:
        arguments["dtype"] = None
    with name_scope(None):
        if getter is None:
            return _variable(full_name, **arguments)
        return getter(_variable, full_name, **arguments)


def get_local_variable(name: str, *args, **kwargs) -> Variable:
    """`get_variable` for a variable of this process: in LOCAL_VARIABLES, not trained, not saved."""
    collections = kwargs.pop("collections", None) or []
    kwargs["collections"] = [*collections, GraphKeys.LOCAL_VARIABLES]
    kwargs["trainable"] = False
    return get_variable(name, *args, **kwargs)


def _variable(
    name: str,
    shape=None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer=None,
    reuse=None,
    **rest,
):
    """The variable of this full name, found or made."""
    is_value = initializer is not None and not callable(initializer)
    if shape is not None and is_value:
        raise ValueError("If initializer is a constant, do not specify shape.")
    if rest.pop("partitioner", None) is not None:
        raise NotImplementedError(f"variable '{name}': partitioned variables are not supported")
    sizes = None if shape is None else TensorShape(shape)
    store = _store_of(get_default_graph())
    if name in store.variables:
        return _found(store.variables[name], name, sizes, dtype, reuse)
    if reuse is True:
        raise ValueError(
            f"Variable {name} does not exist, or was not created with tf.get_variable(). Did you "
            "mean to set reuse=tf.AUTO_REUSE in VarScope?"
        )
    if initializer is None:
        if sizes is None:
            raise ValueError(
                f"Variable {name} did not get an initializer, so its `shape` argument must be "
                "specified."
            )
        initializer = _default_initializer(name, dtype)
    value = initializer if is_value else _initial_value(name, initializer, sizes, dtype)
    variable = Variable(value, name=name, dtype=None if is_value else dtype, **rest)
    store.variables[name] = variable
    if regularizer is not None:
        with name_scope(f"{name}/Regularizer/"):
            loss = regularizer(variable)
        if loss is not None:
            get_default_graph().add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
    return variable


def _found(variable: Variable, name: str, shape: TensorShape | None, dtype, reuse) -> Variable:
    """`variable`, after it was compared with what is asked for."""
    if reuse is False:
        raise ValueError(
            f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or "
            "reuse=tf.AUTO_REUSE in VarScope?"
        )
    if shape is not None and not shape.is_compatible_with(variable.get_shape()):
        raise ValueError(
            f"Trying to share variable {name}, but specified shape {shape} and found shape "
            f"{variable.get_shape()}."
        )
    if dtype is not None and variable.dtype != dtype:
        raise ValueError(
            f"Trying to share variable {name}, but specified dtype {dtype} and found dtype "
            f"{variable.dtype}{'_ref' if isinstance(variable, ReferenceVariable) else ''}."
        )
    return variable


def _default_initializer(name: str, dtype: np.dtype):
    from . import initializers

    if dtype.kind in "fV":
        return initializers.glorot_uniform_initializer()
    if dtype.kind in "iubO":
        return initializers.zeros_initializer()
    raise ValueError(f"An initializer for variable {name} of {dtype} is required")


def _initial_value(name: str, initializer: Any, shape: TensorShape | None, dtype) -> Callable:
    """A function that makes the initial value."""
    if inspect.isclass(initializer):
        initializer = initializer()
    if shape is not None and is_static(shape.as_shape()):
        return functools.partial(initializer, shape.as_list(), dtype=dtype)
    if shape is not None:
        raise ValueError(
            f"Shape of a new variable ({name}) must be fully defined, but instead was {shape}."
        )
    try:
        inspect.signature(initializer).bind()
    except TypeError:
        raise ValueError(
            "The initializer passed is not valid. It should be a callable with no arguments and "
            "the shape should not be provided or an instance of `tf.keras.initializers.*' and "
            "`shape` should be fully defined."
        ) from None
    return initializer


def no_regularizer(_) -> None:
    """Lets variables have no regularizer where the scope around has one."""
    return None
