"""Python functions of a program, which a Session calls with arrays."""

from __future__ import annotations

import operator
import traceback
from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, cast

import numpy as np

from ....schema import errors
from ...core.create import constant, convert_to_tensor
from ...core.evaluate import evaluate
from ...core.graph import Graph, Operation, Tensor
from ...core.node_words import type_word
from ...core.operation_errors import located
from ...functions.flow.functional import PY_FUNCTIONS
from ...variables.variables import Variable
from ..hosted import hosted
from ..side_by_side import Call

if TYPE_CHECKING:
    import numpy.typing as npt

    from ...core.protocols import DTypeAttr, Kernel, KernelResult
    from ...core.typing import TensorLike
    from ..state import State


ERRORS: tuple[tuple[type[Exception], type[errors.OpError]], ...] = (
    (ValueError, errors.InvalidArgumentError),
    (TypeError, errors.InvalidArgumentError),
    (StopIteration, errors.OutOfRangeError),
    (MemoryError, errors.ResourceExhaustedError),
    (NotImplementedError, errors.UnimplementedError),
    (Exception, errors.UnknownError),
)
"""What a function raises, and what its operation then does."""


def py_func_stateless(
    op: Operation, state: State, *arrays: np.ndarray
) -> np.ndarray | list[np.ndarray]:
    """What the function gives; one without arguments is called once, as it has no effects."""
    if arrays:
        return py_func(op, state, *arrays)
    origin = state.origin(op)
    if origin not in state.caches:
        state.caches[origin] = py_func(op, state)
    return cast("np.ndarray | list[np.ndarray]", state.caches[origin])


def py_func(op: Operation, state: State, *arrays: np.ndarray) -> np.ndarray | list[np.ndarray]:
    """What the function that was given to tf.py_func gives; one read from a file has none."""
    function = _function(op)
    # as in TensorFlow, numbers are those of numpy and strings are bytes
    arguments = [array.copy() if array.ndim else array[()] for array in arrays]
    returned = _called(op, function, arguments)
    results = [_as_array(op, i, *pair) for i, pair in enumerate(_pairs(op, returned))]
    return results[0] if len(results) == 1 else results


def py_function(op: Operation, state: State, *arrays: np.ndarray) -> np.ndarray | list[np.ndarray]:
    """What the function that was given to tf.py_function gives for tensors with these values."""
    function = _function(op)
    graph = ValueGraph(op.graph.functions)
    with graph.as_default():
        returned = _called(op, function, [constant(array.copy()) for array in arrays])
        if isinstance(returned, Variable):
            message = located(
                op, "Attempting to return a variable from an eagerly executed py_func."
            )
            raise errors.UnknownError(None, op, message)
        tensors = [
            convert_to_tensor(cast("TensorLike", item), dtype)
            for item, dtype in _pairs(op, returned)
        ]
    results = evaluate(graph, tensors, {})
    return results[0] if len(results) == 1 else results


KERNELS = {"EagerPyFunc": py_function, "PyFunc": py_func, "PyFuncStateless": py_func_stateless}


def start_function(op: Operation, state: State, *arrays: np.ndarray) -> None:
    """Starts the function of an operation that comes to its place in the run later."""
    if state.is_running:
        state.started[state.control, op] = _started(KERNELS[op.type], op, state, arrays)


def _started(kernel: Kernel, op: Operation, state: State, arrays: Sequence[np.ndarray]) -> Call:
    copies = [array.copy() for array in arrays]
    return Call(lambda: kernel(op, state, *copies))


def _side_by_side(kernel: Kernel) -> Kernel:
    """A kernel that takes the result of the call that was started, where one was.

    A run with a time limit leaves a function that takes longer: its thread goes on, and what it
    gives is dropped.
    """

    @wraps(kernel)
    def run(op: Operation, state: State, *arrays: np.ndarray) -> KernelResult:
        control = state.control
        call = state.started.pop((control, op), None)
        if call is None and control.is_limited:
            call = _started(kernel, op, state, arrays)
        return kernel(op, state, *arrays) if call is None else call.result(control.check)

    return run


for _kind, _kernel in KERNELS.items():
    hosted(_kind)(_side_by_side(_kernel))


def _function(op: Operation) -> Callable[..., object]:
    """The function of an operation."""
    token = cast("bytes", op.get_attr("token")).decode()
    functions = op.graph.scopes.extras.get(PY_FUNCTIONS, {})
    function = cast("Callable[..., object] | None", functions.get(token))
    if function is None:
        words = f"callback {token} is not found: it was not made in this process"
        raise errors.UnknownError(None, op, f"KeyError: {words}")
    return function


def _called(op: Operation, function: Callable[..., object], arguments: Sequence[object]) -> object:
    """What a function gives; what it raises as an error of the operation."""
    try:
        return function(*arguments)
    except errors.OpError:
        raise
    except Exception as error:  # of the user's own code, which may raise anything
        kind = next(error_type for raised, error_type in ERRORS if isinstance(error, raised))
        text = f"{type(error).__name__}: {error}\n{traceback.format_exc()}"
        raise kind(None, op, located(op, text)) from error


def _pairs(op: Operation, returned: object) -> list[tuple[object, DTypeAttr]]:
    """Results of a function, each with its type."""
    types = cast("list[DTypeAttr]", op.get_attr("Tout"))
    values = [] if returned is None else [returned]
    if isinstance(returned, (list, tuple)):
        values = list(cast("Sequence[object]", returned))
    if len(values) != len(types):
        token = cast("bytes", op.get_attr("token")).decode()
        raise ValueError(
            f"{token} returns {len(values)} values, but expects to see {len(types)} values."
        )
    return list(zip(values, types, strict=True))


def _as_array(op: Operation, position: int, item: object, dtype: DTypeAttr) -> np.ndarray:
    """One result in the type that was promised."""
    array = np.asarray(item)
    if array.dtype.kind == "S" and array is not item:
        array = np.array(item, object)  # numpy's own texts end with their last byte that is not 0
    if array.dtype.names:
        words = f"Unsupported numpy data type: {array.dtype}"
        raise errors.InternalError(None, op, located(op, words))
    if array.dtype.hasobject and not all(isinstance(x, (str, bytes)) for x in array.flat):
        words = f"Unsupported object type {type(array.flat[0]).__name__}"
        raise errors.InternalError(None, op, located(op, words))
    if dtype.hasobject:
        texts = np.empty(array.shape, object)
        for index, text in np.ndenumerate(array):
            texts[index] = text.encode() if isinstance(text, str) else bytes(text)
        return texts
    if array.dtype != dtype:
        token = cast("bytes", op.get_attr("token")).decode()
        raise ValueError(
            f"{position}-th value returned by {token} is {type_word(array.dtype)}, but expects "
            f"{type_word(np.dtype(dtype))}"
        )
    return array


class ValueTensor(Tensor):
    """A tensor whose value is at hand when somebody asks for it."""

    __slots__ = ()

    def numpy(self) -> np.ndarray | np.generic:
        """Its value: an array, or a number of numpy."""
        (value,) = evaluate(self.graph, [self], {})
        return value[()] if value.ndim == 0 else value

    def __array__(  # that of a Tensor raises  # pyright: ignore[reportIncompatibleMethodOverride]
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> np.ndarray:
        return np.array(self.numpy(), dtype)

    def __bool__(self) -> bool:
        return bool(self.numpy())

    def __float__(self) -> float:
        return float(self.numpy())

    def __int__(self) -> int:
        return int(self.numpy())

    def __index__(self) -> int:
        return operator.index(self.numpy())  # pyright: ignore[reportArgumentType]

    def __len__(self) -> int:
        return len(cast("np.ndarray", self.numpy()))

    def __str__(self) -> str:
        return str(self.numpy())


class ValueGraph(Graph):
    """A graph whose tensors have values."""

    def add(self, *arguments: object, **keywords: object) -> Operation:
        """As that of a Graph."""
        op = super().add(*arguments, **keywords)  # pyright: ignore[reportArgumentType]
        for tensor in op.outputs:
            tensor.__class__ = ValueTensor
        return op
