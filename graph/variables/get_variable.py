"""`get_variable`: variables made once, and found again by name."""

from __future__ import annotations

import functools
import inspect
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypedDict, cast

import numpy as np

from ..core.arrays import type_name
from ..core.call_stack import summary_of
from ..core.create import convert_to_tensor, output
from ..core.dtype import as_dtype, as_numpy
from ..core.function_graph import outermost
from ..core.graph import Tensor
from ..core.hooks import hook
from ..core.scopes import GraphKeys, get_default_graph, name_scope
from ..core.shapes import is_static
from ..core.tensor_shape import TensorShape
from .distribution import (
    VariableSynchronization,
    checked_aggregation,
    checked_synchronization,
)
from .kinds import ReferenceVariable
from .partition_info import PartitionInfo
from .partitioned import (
    PartitionedVariable,
    partitions_of,
    parts_of,
    split_axis,
)
from .slice_info import SaveSliceInfo
from .variable_scope import (
    Getter,
    Regularizer,
    Reuse,
    get_variable_scope,
    store_of,
    variable_scope,
)
from .variables import Constraint, Variable, use_resources

if TYPE_CHECKING:
    from ..core.protocols import DeviceSpec
    from ..core.typing import DTypeLike, ShapeLike, TensorLike
    from .initializers import Initializer
    from .partitioned import Partitioner
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
    caching_device: DeviceSpec
    partitioner: object
    validate_shape: bool
    use_resource: bool | None
    constraint: Constraint | None
    synchronization: object
    aggregation: object


@hook("get_variable")
def get_variable(
    name: str,
    shape: ShapeLike | None = None,
    dtype: DTypeLike | None = None,
    initializer: InitializerLike | None = None,
    regularizer: Regularizer | None = None,
    trainable: bool | None = None,
    collections: Collection[str] | None = None,
    caching_device: DeviceSpec = None,
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
        custom_getter: Called in place of the usual one, and of the scope's, as
            `custom_getter(getter=, name=, shape=, ...)`: all arguments by name, `trainable` as True
            or False, `constraint` alone where it takes one.
        partitioner: A function of shape and dtype that gives the number of parts along each
            dimension; then the result is a PartitionedVariable.
        synchronization, aggregation: As of Variable.
        caching_device: Taken for TensorFlow's sake.

    Raises:
        ValueError: The variable is there though it should not be reused, or is not though it
            should, or was made with another shape or dtype; or the shape is not known.
    """
    scope = get_variable_scope()
    full_name = f"{scope.name}/{name}" if scope.name else name
    reuse = scope.reuse
    if custom_getter is not None and not callable(custom_getter):
        raise ValueError(f"Passed a custom_getter which is not callable: {custom_getter}")
    if dtype is not None and isinstance(initializer, Tensor) and initializer.dtype != dtype:
        raise ValueError(
            f"Initializer type '<dtype: '{type_name(initializer.dtype)}'>' and explicit dtype "
            f"'<dtype: '{type_name(as_numpy(dtype))}'>' don't match."
        )
    getter = scope.custom_getter if custom_getter is None else custom_getter
    synchronization = checked_synchronization(synchronization, full_name)
    if trainable is None:
        trainable = synchronization is not VariableSynchronization.ON_READ
    arguments: Arguments = {
        "shape": shape,
        "dtype": scope.dtype if dtype is None else as_numpy(dtype),
        "initializer": scope.initializer if initializer is None else initializer,
        "regularizer": scope.regularizer if regularizer is None else regularizer,
        "reuse": reuse,
        "trainable": trainable,
        "collections": collections,
        "caching_device": caching_device or scope.caching_device,
        "partitioner": scope.partitioner if partitioner is None else partitioner,
        "validate_shape": validate_shape,
        "use_resource": scope.use_resource if use_resource is None else use_resource,
        "constraint": scope.constraint if constraint is None else constraint,
        "synchronization": synchronization,
        "aggregation": checked_aggregation(aggregation, full_name),
    }
    if full_name in store_of(get_default_graph()).variables and dtype is None:
        arguments["dtype"] = None
    with outermost(get_default_graph()).as_default(), name_scope(None):
        if getter is None:
            return _variable(full_name, **arguments)
        parameters = inspect.signature(getter).parameters.values()
        has_constraint = any(p.name == "constraint" or p.kind is p.VAR_KEYWORD for p in parameters)
        named = {key: x for key, x in arguments.items() if has_constraint or key != "constraint"}
        return getter(getter=_variable, name=full_name, **named)


def get_local_variable(
    name: str,
    shape: ShapeLike | None = None,
    dtype: DTypeLike | None = None,
    initializer: InitializerLike | None = None,
    regularizer: Regularizer | None = None,
    trainable: bool | None = False,
    collections: Collection[str] | None = None,
    caching_device: DeviceSpec = None,
    partitioner: object = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Getter | None = None,
    constraint: Constraint | None = None,
    synchronization: object = None,
    aggregation: object = None,
) -> Variable:
    """`get_variable` for a variable of this process: in LOCAL_VARIABLES, not trained, not saved.

    It is initialized by `local_variables_initializer`. Arguments and errors are those of
    `get_variable`.
    """
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
    caching_device: DeviceSpec = None,
    partitioner: object = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    constraint: Constraint | None = None,
    synchronization: object = None,
    aggregation: object = None,
) -> Variable:
    """The variable of this full name, found or made."""
    is_value = initializer is not None and not callable(initializer)
    sizes = None if shape is None else TensorShape(shape)
    store = store_of(get_default_graph())
    is_number = sizes is not None and sizes.ndims == 0
    is_split = partitioner is not None and not is_number
    if is_split or (reuse is True and name in store.partitioned):
        request = _Request(
            name.removesuffix("/"),
            sizes,
            dtype,
            initializer,
            regularizer,
            reuse,
            trainable,
            collections,
            validate_shape,
            use_resource,
            constraint,
            synchronization,
            aggregation,
        )
        return cast("Variable", _partitioned(request, partitioner))
    if shape is not None and is_value:
        raise ValueError("If initializer is a constant, do not specify shape.")
    if f"{name}/part_0" in store.variables:
        raise ValueError(
            "No partitioner was provided, but a partitioned version of the variable was found: "
            f"{name}/part_0. Perhaps a variable of the same name was already created with "
            "partitioning?"
        )
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
    is_trained = synchronization is not VariableSynchronization.ON_READ
    variable = Variable(
        value,
        is_trained if trainable is None else trainable,
        collections,
        validate_shape,
        caching_device,
        name,
        dtype=None if is_value or dtype is None else as_dtype(dtype),
        constraint=constraint,
        use_resource=use_resources() if use_resource is None else use_resource,
        synchronization=synchronization,
        aggregation=aggregation,
        shape=None if is_value or sizes is None else TensorShape(sizes),
    )
    store.variables[name] = variable
    if regularizer is not None:
        with name_scope(f"{name}/Regularizer/"):
            loss = regularizer(variable)
        if loss is not None:
            get_default_graph().add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
    return variable


class _Request(NamedTuple):
    """What a variable in parts is asked for with."""

    name: str
    shape: TensorShape | None
    dtype: np.dtype | None
    initializer: InitializerLike | None
    regularizer: Regularizer | None
    reuse: Reuse
    trainable: bool | None
    collections: Collection[str] | None
    validate_shape: bool
    use_resource: bool | None
    constraint: Constraint | None
    synchronization: object
    aggregation: object


def _partitioned(request: _Request, partitioner: object) -> PartitionedVariable:
    """The variable in parts of this full name, found or made."""
    name, reuse = request.name, request.reuse
    store = store_of(get_default_graph())
    if name in store.variables:
        raise ValueError(
            "A partitioner was provided, but an unpartitioned version of the variable was found: "
            f"{name}.  Perhaps a variable of the same name was already created without "
            "partitioning?"
        )
    if partitioner is not None and not callable(partitioner):
        raise ValueError(f"Partitioner must be callable, but received: {partitioner}")
    value = request.initializer
    is_value = value is not None and not callable(value)
    start = convert_to_tensor(cast("TensorLike", value), request.dtype) if is_value else None
    shape = request.shape
    if start is not None:
        shape = TensorShape(None if shape is None else shape.as_shape())
        shape = shape.merge_with(start.get_shape())
    dtype = request.dtype or np.dtype(np.float32 if start is None else start.dtype)
    partitions = None
    if callable(partitioner):
        checked_partitioner = cast("Partitioner", partitioner)
        partitions = partitions_of(checked_partitioner, TensorShape(shape), dtype)
    existing = store.partitioned.get(name)
    if existing is not None:
        return _same_parts(existing, request, shape, partitions)
    if reuse is True or shape is None or partitions is None:
        raise ValueError(
            f"PartitionedVariable {name} does not exist, or was not created with "
            "tf.get_variable(). Did you mean to set reuse=False or reuse=tf.AUTO_REUSE in VarScope?"
        )
    whole = cast("list[int]", shape.as_list())
    _require_same_parts(store.variables, name, split_axis(partitions)[1])
    make = _default_initializer(name, dtype) if value is None else value
    parts = [
        _part(request, i, make if start is None else start, dtype, whole, offset, sizes)
        for i, (offset, sizes) in enumerate(parts_of(whole, partitions))
    ]
    variable = PartitionedVariable(name, shape, dtype, parts, partitions)
    store.partitioned[name] = variable
    return variable


def _part(
    request: _Request,
    i: int,
    make: InitializerLike,
    dtype: np.dtype,
    whole: list[int],
    offset: list[int],
    sizes: list[int],
) -> Variable:
    """One part of a variable; its initializer is told which, if it wants to know."""
    full_name = f"{request.name}/part_{i}"
    info = PartitionInfo(whole, offset)
    info.require_inside()
    with name_scope(f"{full_name}/PartitionedInitializer"):
        start: InitializerLike
        if isinstance(make, Tensor):
            start = output("Slice", [make, np.array(offset, np.int32), np.array(sizes, np.int32)])
        else:
            start = _where_created(make, info)
    with name_scope(None):
        variable = _variable(
            full_name,
            None if isinstance(make, Tensor) else sizes,
            dtype,
            start,
            request.regularizer,
            request.reuse,
            request.trainable,
            request.collections,
            validate_shape=request.validate_shape,
            use_resource=request.use_resource,
            constraint=request.constraint,
            synchronization=request.synchronization,
            aggregation=request.aggregation,
        )
    variable.save_slice_info = SaveSliceInfo(request.name, whole, offset, sizes)
    return variable


def _where_created(make: InitializerLike, info: PartitionInfo) -> InitializerLike:
    function = cast("Callable[..., TensorLike]", make() if inspect.isclass(make) else make)
    if "partition_info" in inspect.signature(function).parameters:
        return functools.partial(function, partition_info=info)
    return function


def _require_same_parts(variables: Mapping[str, Variable], name: str, n_parts: int) -> None:
    """Raises ValueError when there are parts of this name, and more or fewer of them."""
    if f"{name}/part_0" not in variables:
        return
    start = (
        "Partitioner returned a different partitioning than what was already found.  Partitioner "
        f"returned {n_parts} shards, and shard {name}/part_0 was found, but "
    )
    if f"{name}/part_{n_parts - 1}" not in variables:
        raise ValueError(f"{start}{name}/part_{n_parts - 1} was not.")
    if f"{name}/part_{n_parts}" in variables:
        raise ValueError(f"{start}so was the extra shard {name}/part_{n_parts}.")


def _same_parts(
    variable: PartitionedVariable,
    request: _Request,
    shape: TensorShape | None,
    partitions: list[int] | None,
) -> PartitionedVariable:
    """`variable`, after it was compared with what is asked for."""
    name = request.name
    if request.reuse is False:
        raise ValueError(
            f"Partitioned variable with name {name} already exists. Did you mean to set reuse=True "
            "or reuse=tf.AUTO_REUSE in VarScope?"
        )
    start = f"Trying to reuse partitioned variable {name}, but specified "
    if shape is not None and not shape.is_compatible_with(variable.get_shape()):
        raise ValueError(f"{start}shape {shape} and found shape {variable.get_shape()}.")
    if request.dtype is not None and request.dtype != variable.dtype:
        raise ValueError(
            f"{start}dtype {request.dtype.name} and found dtype {variable.dtype.name}."
        )
    if partitions is not None and partitions != variable.partitions:
        raise ValueError(
            f"{start}partitions {partitions} and found partitions {variable.partitions}."
        )
    return variable


def _definition(variable: Variable) -> str:
    """Where a variable was made, as the end of an error; resources do not say."""
    if not isinstance(variable, ReferenceVariable):
        return ""
    frames = reversed(summary_of(variable.op.frames[:5]))
    return f" Originally defined at:\n\n{''.join(traceback.format_list(frames))}"


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
            f"reuse=tf.AUTO_REUSE in VarScope?{_definition(variable)}"
        )
    if shape is not None and not shape.is_compatible_with(variable.get_shape()):
        raise ValueError(
            f"Trying to share variable {name}, but specified shape {shape} and found shape "
            f"{variable.get_shape()}."
        )
    if dtype is not None and variable.dtype != dtype:
        raise ValueError(
            f"Trying to share variable {name}, but specified dtype {dtype.name} and found dtype "
            f"{variable.dtype.name}{'_ref' if isinstance(variable, ReferenceVariable) else ''}."
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


def no_regularizer(_: Variable) -> None:
    """Lets variables have no regularizer where the scope around has one."""
    return None


def create_partitioned_variables(
    shape: Sequence[int],
    slicing: Sequence[int],
    initializer: InitializerLike,
    dtype: DTypeLike = np.float32,
    trainable: bool = True,
    collections: Collection[str] | None = None,
    name: str | None = None,
    reuse: Reuse = None,
) -> list[Variable]:
    """The parts of a new variable: `slicing` says how many there are along each dimension.

    A tensor as `initializer` says the dtype, too.

    Raises ValueError when shape and numbers of parts do not go together.
    """
    if len(shape) != len(slicing):
        raise ValueError(
            "The 'shape' and 'slicing' of a partitioned Variable must have the length: shape: "
            f"{shape}, slicing: {slicing}"
        )
    if len(shape) < 1:
        raise ValueError(f"A partitioned Variable must have rank at least 1: shape: {shape}")

    def partitioner(shape: TensorShape, dtype: DTypeLike) -> Sequence[int]:
        return slicing

    if isinstance(initializer, (Tensor, Variable)):
        dtype = initializer.dtype
    with variable_scope(name, "PartitionedVariable", reuse=reuse):
        whole = get_variable(
            "",
            shape,
            dtype,
            initializer,
            trainable=trainable,
            collections=collections,
            partitioner=partitioner,
        )
    return list(cast("PartitionedVariable", whole))
