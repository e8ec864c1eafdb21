"""A function of all slices: `map_fn`, `scan`, `foldl`, `foldr`; of arrays: `py_func`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ...core.build import ops
from ...core.composite.ragged_tensor import RaggedTensor
from ...core.composite.row_partition import RowPartition
from ...core.composite.structure import Composite, flatten, pack, require_same_structure
from ...core.composite.type_specs import RaggedTensorSpec, Spec
from ...core.create import convert_to_tensor, create
from ...core.dtype import as_numpy
from ...core.graph import Tensor
from ...core.scopes import get_default_graph, name_scope
from ..ragged.operands import wrapped
from .loops import while_loop
from .slices import Slices, result_like, results_of, slices_of
from .tensor_array import TensorArray

if TYPE_CHECKING:
    from ...core.typing import DTypeLike, TensorLike

Function = Callable[..., object]
PY_FUNCTIONS = "Python functions"
"""The key of a graph's functions that its operations call."""


def _elements(elems: object) -> list[Slices]:
    slices = [slices_of(elem) for elem in flatten(elems)]
    if not slices:
        raise ValueError(
            "elems must be a Tensor or (possibly nested) sequence of Tensors, got none"
        )
    return slices


def _count(elements: Sequence[Slices]) -> Tensor | int:
    """How many slices there are: a number where it is known."""
    known = [size for size in (slices.size() for slices in elements) if size is not None]
    if known:
        if len(set(known)) > 1:
            raise ValueError(f"Dimensions {known[0]} and {known[1]} are not compatible")
        return known[0]
    return elements[0].count()


def map_fn(
    fn: Function,
    elems: object,
    dtype: object = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: object = None,
) -> object:
    """What `fn` gives for each slice of `elems` along the first axis, on top of one another.

    Args:
        fn: A function of a slice, or of slices in the structure of `elems`.
        elems: A tensor, ragged or sparse tensor, or a nested structure of them.
        dtype: The types of the results, in their structure, or the specs of single results
            (TensorSpec, RaggedTensorSpec, SparseTensorSpec); those of `elems` by default.
        parallel_iterations, back_prop, swap_memory: Taken for TensorFlow's sake.
        infer_shape: Whether all results have one shape.
        name: Of the operations.
        fn_output_signature: Newer name of `dtype`.

    Raises:
        TypeError: `fn` is no function.
        ValueError: `elems` has no slices, or `fn` gives another structure than `dtype`.
    """
    if not callable(fn):
        raise TypeError(f"The provided function {fn!r} is not callable.fn must be callable.")
    dtype = dtype if fn_output_signature is None else fn_output_signature
    with name_scope(name, "map", None):
        elements = _elements(elems)
        n = _count(elements)
        like = elems if dtype is None else dtype
        types = map(result_like, flatten(elems)) if dtype is None else flatten(dtype)
        results = [results_of(t, infer_shape) for t in types]

        def body(
            i: Tensor, written: list[list[TensorArray]]
        ) -> tuple[Tensor, list[list[TensorArray]]]:
            returned = fn(pack(elems, [slices.read(i) for slices in elements]))
            require_same_structure(like, returned)
            rows = zip(results, written, flatten(returned), strict=True)
            return i + 1, [result.write(arrays, i, x) for result, arrays, x in rows]

        _, written = cast(
            "tuple[Tensor, list[list[TensorArray]]]",
            while_loop(_below(n), body, (np.int32(0), [result.arrays(n) for result in results])),
        )
        return pack(
            like, [result.stack(arrays, n) for result, arrays in zip(results, written, strict=True)]
        )


def _below(n: Tensor | int) -> Callable[..., Tensor]:
    """The condition of a loop whose first variable counts to `n`."""

    def goes_on(i: Tensor, *variables: object) -> Tensor:
        return ops.Less(i, n)

    return goes_on


def _stacked(array: TensorArray, n: Tensor | int) -> Tensor:
    stacked = array.stack()
    if isinstance(n, int) and stacked.sizes is not None:
        stacked.set_shape((n, *stacked.sizes[1:]))
    return stacked


def scan(
    fn: Function,
    elems: object,
    initializer: object = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> object:
    """All `a = fn(a, slice)` over the slices of `elems`, on top of one another.

    Args:
        fn: A function of what has been accumulated and of a slice.
        elems: A tensor, or a nested structure of them.
        initializer: The first `a`, of which the result has the structure; the first slice by
            default, which is then the first result.
        parallel_iterations, back_prop, swap_memory: Taken for TensorFlow's sake.
        infer_shape: Whether all results have one shape.
        reverse: Whether the last slice comes first.
        name: Of the operations.
    """
    if not callable(fn):
        raise TypeError(f"The provided function {fn!r} is not callable.fn must be callable.")
    with name_scope(name, "scan", None):
        elements = _elements(elems)
        n = _count(elements)

        def place(i: Tensor) -> Tensor | int:
            return n - 1 - i if reverse else i

        like = elems if initializer is None else initializer
        first = np.int32(0 if initializer is not None else 1)
        start: list[Tensor]
        if initializer is None:
            at = n - 1 if reverse else 0
            start = [cast("Tensor", slices.read(at)) for slices in elements]
        else:
            start = [convert_to_tensor(cast("TensorLike", x)) for x in flatten(initializer)]
        results = [TensorArray(a.dtype, size=n, infer_shape=infer_shape) for a in start]
        if initializer is None:
            at = n - 1 if reverse else np.int32(0)
            results = [r.write(at, a) for r, a in zip(results, start, strict=True)]

        def body(
            i: Tensor, state: list[Tensor], written: list[TensorArray]
        ) -> tuple[Tensor, list[object], list[TensorArray]]:
            at = place(i)
            slices = pack(elems, [slices.read(at) for slices in elements])
            returned = fn(pack(like, state), slices)
            require_same_structure(like, returned)
            leaves = flatten(returned)
            pairs = zip(written, leaves, strict=True)
            return i + 1, leaves, [array.write(at, cast("TensorLike", x)) for array, x in pairs]

        _, _, written = cast(
            "tuple[Tensor, list[Tensor], list[TensorArray]]",
            while_loop(_below(n), body, (first, start, results)),
        )
        return pack(like, [_stacked(array, n) for array in written])


def _fold(fn: Function, elems: object, initializer: object, is_right: bool) -> object:
    if not callable(fn):
        raise TypeError(f"{fn!r} is not callable.fn must be callable.")
    elements = _elements(elems)
    n = _count(elements)
    like = elems if initializer is None else initializer
    if initializer is None:
        at = n - 1 if is_right else 0
        start = [cast("Tensor", slices.read(at)) for slices in elements]
    else:
        start = [convert_to_tensor(cast("TensorLike", x)) for x in flatten(initializer)]
    first = np.int32(0 if initializer is not None else 1)

    def body(i: Tensor, state: list[Tensor]) -> tuple[Tensor, list[object]]:
        at = n - 1 - i if is_right else i
        slices = pack(elems, [slices.read(at) for slices in elements])
        return i + 1, flatten(fn(pack(like, state), slices))

    _, state = cast("tuple[Tensor, list[Tensor]]", while_loop(_below(n), body, (first, start)))
    return pack(like, state)


def foldl(
    fn: Function,
    elems: object,
    initializer: object = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> object:
    """The last `a = fn(a, slice)` over the slices of `elems`, from the first one on.

    Without an initializer the first slice is the first `a`.
    """
    with name_scope(name, "foldl", None):
        return _fold(fn, elems, initializer, is_right=False)


def foldr(
    fn: Function,
    elems: object,
    initializer: object = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> object:
    """The last `a = fn(a, slice)` over the slices of `elems`, from the last one on.

    Without an initializer the last slice is the first `a`.
    """
    with name_scope(name, "foldr", None):
        return _fold(fn, elems, initializer, is_right=True)


def _call(
    kind: str,
    func: Callable[..., object],
    inp: Sequence[TensorLike],
    Tout: DTypeLike | Sequence[DTypeLike],
    name: str | None,
) -> object:
    """The tensors of an operation that calls `func`; the operation itself where there are none."""
    functions = get_default_graph().scopes.extras.setdefault(PY_FUNCTIONS, {})
    token = f"pyfunc_{len(functions)}"
    functions[token] = func
    is_list = isinstance(Tout, (list, tuple))
    types = [as_numpy(t) for t in cast("Sequence[DTypeLike]", Tout if is_list else [Tout])]
    attrs = {"token": token.encode(), "Tout": types}
    op = create(kind, [list(inp)], attrs, name)
    if not types:
        return [] if kind == "PyFuncStateless" else op
    return list(op.outputs) if is_list else op.outputs[0]


def py_func(
    func: Callable[..., object],
    inp: Sequence[TensorLike],
    Tout: DTypeLike | Sequence[DTypeLike],
    stateful: bool = True,
    name: str | None = None,
) -> object:
    """What a Python function gives for arrays, as tensors.

    The function stays with this process: it is not written with the graph. Functions of a run that
    do not need one another's results run side by side, in threads of their own, where they take
    more than 20 ms, and may wait for one another. A timeout ends the run while it waits for one,
    whose thread goes on; what it gives then is dropped.

    Args:
        func: A function of arrays that gives arrays.
        inp: The tensors it gets.
        Tout: The type of the result, or a list of types.
        stateful: Whether it may give something else for the same arrays.
        name: Of the operation.
    """
    if not callable(func):
        raise ValueError(
            f"Expected func to be callable. Received func={func} of type {type(func)}."
        )
    return _call("PyFunc" if stateful else "PyFuncStateless", func, inp, Tout, name)


def _decorates(
    call: Callable[..., object],
    func: Callable[..., object] | None,
    inp: Sequence[TensorLike] | None,
    Tout: object,
    *more: object,
) -> Callable[..., object] | None:
    """What turns a function into one of tensors, where there are no tensors yet; else None.

    Raises:
        TypeError: Arguments are missing, or there are tensors without a function.
        ValueError: The function is none.
    """
    if Tout is None:
        raise TypeError("Missing required argument: 'Tout'")
    if func is None:
        if inp is not None:
            raise TypeError(
                "Don't set the `inp` argument when using it as a decorator (`func=None`)."
            )

        def decorate(function: Callable[..., object]) -> Callable[..., object]:
            def called(*tensors: TensorLike) -> object:
                return call(function, list(tensors), Tout, *more)

            return called

        return decorate
    if inp is None:
        raise TypeError("Missing argument `inp`: the tensors that the function gets")
    if not callable(func):
        raise ValueError(
            f"Expected func to be callable. Received func={func} of type {type(func)}."
        )
    return None


def numpy_function(
    func: Callable[..., object] | None = None,
    inp: Sequence[TensorLike] | None = None,
    Tout: DTypeLike | Sequence[DTypeLike] | None = None,
    stateful: bool = True,
    name: str | None = None,
) -> object:
    """A Python function of arrays as an operation; without `func` a decorator of such functions.

    Args:
        func: Takes an array for each of `inp`, and gives arrays of the types `Tout`.
        inp: A list of tensors of any types and shapes.
        Tout: A type, or a list of them.
        stateful: Whether it may give other results for the same arrays.
        name: Of the operation.

    Returns what `py_func` does, and raises it.
    """
    decorated = _decorates(numpy_function, func, inp, Tout, stateful, name)
    if decorated is not None:
        return decorated
    kind = "PyFunc" if stateful else "PyFuncStateless"
    assert func is not None and inp is not None and Tout is not None
    return _call(kind, func, inp, Tout, name)


def py_function(
    func: Callable[..., object] | None = None,
    inp: Sequence[TensorLike] | None = None,
    Tout: DTypeLike | Sequence[DTypeLike] | None = None,
    name: str | None = None,
) -> object:
    """What a Python function of tensors gives, which is called anew in every run.

    The tensors have values: `x.numpy()`, `float(x)`, `if x > 0`. Gradients flow through what
    it does with them. Without `func` it is a decorator, which gives a function of tensors.

    Args:
        func: The function; it gives a tensor, array or number, or a list of those.
        inp: The tensors it gets.
        Tout: The type of the result, or a list of types.
        name: Of the operation.

    Raises:
        TypeError: Arguments are missing, or `inp` is there without a function.
        ValueError: `func` is no function.

    >>> import flatlite.compat.v1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     x = tf.constant(3.0)
    ...     y = tf.py_function(lambda x: x**2 if x > 0 else -x, [x], tf.float32)
    ...     print(session.run([y, *tf.gradients(y, x)]))
    [np.float32(9.0), np.float32(6.0)]
    """
    decorated = _decorates(py_function, func, inp, Tout, name)
    if decorated is not None:
        return decorated
    assert func is not None and inp is not None and Tout is not None
    is_list = isinstance(Tout, (list, tuple))
    types = list(cast("Sequence[object]", Tout)) if is_list else [Tout]
    parts = [x if isinstance(x, Composite) else convert_to_tensor(x) for x in inp]
    if any(isinstance(x, Composite) for x in parts) or any(isinstance(t, Spec) for t in types):
        results = _call_with_components(func, parts, types, name)
        return results if is_list or not types else cast("Sequence[object]", results)[0]
    return _call("EagerPyFunc", func, inp, Tout, name)


def _call_with_components(
    func: Callable[..., object], inp: Sequence[object], types: Sequence[object], name: str | None
) -> object:
    """As _call, where ragged tensors and the like are among what the function takes and gives."""

    def called(*components: object) -> list[object]:
        returned = func(*cast("Sequence[object]", pack(list(inp), components, expand=True)))
        values = [] if returned is None else [returned]
        if isinstance(returned, (list, tuple)):
            values = list(cast("Sequence[object]", returned))
        is_right = len(values) == len(types) and all(
            isinstance(value, RaggedTensor)
            == (isinstance(spec, RaggedTensorSpec) and spec.ragged_rank > 0)
            for value, spec in zip(values, types, strict=True)
        )
        if not is_right:
            raise ValueError(
                f"py_function: func={func} returned {returned}, which did not match Tout={types}"
            )
        return flatten(values, expand=True)

    dtypes: list[DTypeLike] = []
    for spec in types:
        dtypes.append(spec.dtype if isinstance(spec, Spec) else cast("DTypeLike", spec))
        if isinstance(spec, RaggedTensorSpec):
            dtypes += [spec.row_splits_dtype] * spec.ragged_rank
    tensors = cast("Sequence[TensorLike]", flatten(list(inp), expand=True))
    outputs = _call("EagerPyFunc", called, tensors, dtypes, name)
    if not dtypes:
        return outputs
    remaining = iter(cast("Sequence[Tensor]", outputs))
    return [_of_spec(spec, remaining) for spec in types]


def _of_spec(spec: object, tensors: Iterator[Tensor]) -> Tensor | RaggedTensor:
    """The next tensor, with the shape of a spec; of a ragged one with its splits behind."""
    values = next(tensors)
    if not isinstance(spec, Spec):
        return values
    shape = spec.shape.as_shape()
    if not isinstance(spec, RaggedTensorSpec) or spec.ragged_rank == 0:
        values.set_shape(shape)
        return values
    rows = [RowPartition(next(tensors)) for _ in np.arange(spec.ragged_rank)]
    for level in rows:
        level.splits.set_shape((None,))
    if shape is not None:
        values.set_shape((None, *shape[spec.ragged_rank + 1 :]))
        rows[0].splits.set_shape((None if shape[0] is None else shape[0] + 1,))
    return wrapped(values, rows)
