"""`get_variable`: variables made once, and found again by name."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, TypedDict, cast

import numpy as np

from ..core.dtype import as_numpy
from ..core.function_graph import outermost
from ..core.scopes import GraphKeys, get_default_graph, name_scope
from ..core.shapes import is_static
from ..core.tensor_shape import TensorShape
from .variable_scope import Getter, Regularizer, Reuse, chained, get_variable_scope, store_of
from .variables import Constraint, ReferenceVariable, Variable

if TYPE_CHECKING:
    from ..core.typing import DTypeLike, ShapeLike, TensorLike
    from .initializers import Initializer
    from .variable_scope import InitializerLike
    from .variables import InitialValue


class Arguments(TypedDict):
    """What getters get beside the name."""

    shape: ShapeLike | None
    dtype: np.dtype | None
    initializer: InitializerLike | None
    regularizer: Regularizer | None
    reuse: Reuse
    trainable: bool | None
    collections: Collection[str] | None
    caching_device: object
    partitioner: object
    validate_shape: bool
    use_resource: bool | None
    constraint: Constraint | None
    synchronization: object
    aggregation: object


def get_variable(
    name: str,
    shape: ShapeLike | None = None,
    dtype: DTypeLike | None = None,
    initializer: InitializerLike | None = None,
    regularizer: Regularizer | None = None,
    trainable: bool | None = None,
    collections: Collection[str] | None = None,
    caching_device: object = None,
    partitioner: object = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Getter | None = None,
    constraint: Constraint | None = None,
    synchronization: object = None,
    aggregation: object = None,
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
        getter = chained(custom_getter, scope.custom_getter)
    arguments: Arguments = {
        "shape": shape,
        "dtype": scope.dtype if dtype is None else as_numpy(dtype),
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
    if full_name in store_of(get_default_graph()).variables and dtype is None:
        arguments["dtype"] = None
    with outermost(get_default_graph()).as_default(), name_scope(None):
        if getter is None:
            return _variable(full_name, **arguments)
        return getter(_variable, full_name, **arguments)


def get_local_variable(
    name: str,
    shape: ShapeLike | None = None,
    dtype: DTypeLike | None = None,
    initializer: InitializerLike | None = None,
    regularizer: Regularizer | None = None,
    trainable: bool | None = False,
    collections: Collection[str] | None = None,
    caching_device: object = None,
    partitioner: object = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Getter | None = None,
    constraint: Constraint | None = None,
    synchronization: object = None,
    aggregation: object = None,
) -> Variable:
    """`get_variable` for a variable of this process: in LOCAL_VARIABLES, not trained, not saved."""
    return get_variable(
        name,
        shape,
        dtype,
        initializer,
        regularizer,
        False,
        [*(collections or ()), GraphKeys.LOCAL_VARIABLES],
        caching_device,
        partitioner,
        validate_shape,
        use_resource,
        custom_getter,
        constraint,
        synchronization,
        aggregation,
    )


def _variable(
    name: str,
    shape: ShapeLike | None = None,
    dtype: np.dtype | None = None,
    initializer: InitializerLike | None = None,
    regularizer: Regularizer | None = None,
    reuse: Reuse = None,
    trainable: bool | None = None,
    collections: Collection[str] | None = None,
    caching_device: object = None,
    partitioner: object = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    constraint: Constraint | None = None,
    synchronization: object = None,
    aggregation: object = None,
) -> Variable:
    """The variable of this full name, found or made."""
    is_value = initializer is not None and not callable(initializer)
    if shape is not None and is_value:
        raise ValueError("If initializer is a constant, do not specify shape.")
    if partitioner is not None:
        raise NotImplementedError(
            f"variable '{name}': the partitioner must be None; variables are kept in one piece"
        )
    sizes = None if shape is None else TensorShape(shape)
    store = store_of(get_default_graph())
    if name in store.variables:
        return _checked(store.variables[name], name, sizes, dtype, reuse)
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
        initializer = _default_initializer(name, cast("np.dtype", dtype))
    value: InitialValue
    if callable(initializer):
        value = _initial_value(name, initializer, sizes, dtype)
    else:
        value = initializer
    variable = Variable(
        value,
        trainable,
        collections,
        validate_shape,
        caching_device,
        name,
        dtype=None if is_value else dtype,
        constraint=constraint,
        use_resource=use_resource,
        synchronization=synchronization,
        aggregation=aggregation,
    )
    store.variables[name] = variable
    if regularizer is not None:
        with name_scope(f"{name}/Regularizer/"):
            loss = regularizer(variable)
        if loss is not None:
            get_default_graph().add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
    return variable


def _checked(
    variable: Variable,
    name: str,
    shape: TensorShape | None,
    dtype: np.dtype | None,
    reuse: Reuse,
) -> Variable:
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


def _default_initializer(name: str, dtype: np.dtype) -> Initializer:
    from . import initializers

    if dtype.kind in "fV":
        return initializers.glorot_uniform_initializer()
    if dtype.kind in "iubO":
        return initializers.zeros_initializer()
    raise ValueError(f"An initializer for variable {name} of {dtype} is required")


def _initial_value(
    name: str,
    initializer: Callable[..., TensorLike | Initializer],
    shape: TensorShape | None,
    dtype: np.dtype | None,
) -> Callable[[], TensorLike]:
    """A function that makes the initial value."""
    make = cast("Callable[..., TensorLike]", initializer)
    if inspect.isclass(initializer):
        make = cast("Callable[..., TensorLike]", initializer())
    if shape is not None and is_static(shape.as_shape()):
        return functools.partial(make, shape.as_list(), dtype=dtype)
    if shape is not None:
        raise ValueError(
            f"Shape of a new variable ({name}) must be fully defined, but instead was {shape}."
        )
    try:
        inspect.signature(make).bind()
    except TypeError:
        raise ValueError(
            "The initializer passed is not valid. It should be a callable with no arguments and "
            "the shape should not be provided or an instance of `tf.keras.initializers.*' and "
            "`shape` should be fully defined."
        ) from None
    return make


def no_regularizer(variable: Variable) -> None:
    """Lets variables have no regularizer where the scope around has one."""
    return None
