"""`while_loop`: a loop as one operation that calls a condition and a body."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ...core.build import ops
from ...core.composite.ragged_tensor import RaggedTensor
from ...core.composite.sparse_tensor import SparseTensor
from ...core.composite.structure import Composite, flatten, is_nested, pack, require_same_structure
from ...core.composite.type_specs import Spec
from ...core.create import convert_to_tensor, create, is_tensor_like
from ...core.function_graph import FunctionGraph, define, is_stateful, trace_graph, unify_behind
from ...core.graph import Tensor
from ...core.scopes import control_dependencies, get_default_graph, name_scope
from ...core.shapes import Shape
from ...core.tensor_shape import TensorShape

if TYPE_CHECKING:
    from ...core.typing import TensorLike


def while_loop(
    cond: Callable[..., TensorLike],
    body: Callable[..., object],
    loop_vars: object,
    shape_invariants: object = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
    maximum_iterations: TensorLike | None = None,
    return_same_structure: bool = False,
) -> object:
    """The loop variables after `loop_vars = body(*loop_vars)` while `cond(*loop_vars)`.

    Both functions are called once, to make operations.

    Args:
        cond: A function of the loop variables that gives a boolean tensor of one element.
        body: A function of the loop variables that gives new ones, of the same types.
        loop_vars: A list, tuple, namedtuple or dict, nested, of tensors and TensorArrays.
        shape_invariants: Shapes in the same structure, where sizes change from turn to turn.
        parallel_iterations, swap_memory: Taken for TensorFlow's sake.
        back_prop: Whether gradients flow through it.
        name: Of the operations.
        maximum_iterations: After how many turns it ends in any case.
        return_same_structure: Whether a list of one variable stays a list.

    Raises:
        TypeError: `cond` or `body` is no function, or sequences of `shape_invariants` are of other
            types than those of `loop_vars`.
        ValueError: There are no loop variables, or the body changes their structure, types, or
            shapes without an invariant that allows it, or `shape_invariants` nests otherwise.
    """
    if not callable(cond):
        raise TypeError("'cond' must be callable.")
    if not callable(body):
        raise TypeError("'body' must be callable.")
    if parallel_iterations < 1:
        raise TypeError("'parallel_iterations' must be a positive integer.")
    if loop_vars is None or (is_nested(loop_vars) and not flatten(loop_vars)):
        raise ValueError("'loop_vars' must be provided.")
    is_bare = not isinstance(loop_vars, (list, tuple))
    variables: Sequence[object] = [loop_vars] if is_bare else cast("Sequence[object]", loop_vars)
    with name_scope(name, "while", None) as scope:
        loop = _Loop(variables, shape_invariants, is_bare, maximum_iterations, scope)
        loop.trace(cond, body)
        result = loop.outputs(scope, back_prop)
    if return_same_structure:
        return cast("Sequence[object]", result)[0] if is_bare else result
    items = cast("Sequence[object]", result)
    is_bare = is_bare or (maximum_iterations is None and len(loop.starts) == 1)
    if (len(items) == 1 or is_bare) and not hasattr(result, "_fields"):
        return items[0]
    return result


class _Loop:
    """A loop as it is built: its variables as tensors, its two functions."""

    def __init__(
        self,
        variables: Sequence[object],
        invariants: object,
        is_bare: bool,
        maximum: TensorLike | None,
        scope: str,
    ):
        leaves = [_converted(leaf) for leaf in flatten(variables)]
        self.structure = self.structure_after = pack(variables, leaves)
        self.starts = [cast("Tensor", t) for t in flatten(self.structure, expand=True)]
        self.shapes = self._invariants(invariants, is_bare)
        self.maximum = maximum
        if maximum is not None:
            self.limit = convert_to_tensor(maximum, name="maximum_iterations")
            if self.limit.sizes != ():
                raise ValueError(
                    "maximum_iterations must be a scalar, saw shape: "
                    f"{TensorShape(self.limit.sizes)}"
                )
            self.starts.append(convert_to_tensor(np.zeros((), self.limit.dtype)))
            self.shapes.append(())
        for kind in ("Enter", "Merge", "Switch", "Identity"):  # which TensorFlow has there
            _reserve(f"{scope}{kind}", len(leaves))
        self.condition: FunctionGraph = trace_graph("while loop", scope)
        self.body: FunctionGraph = trace_graph("while loop", scope)

    def _invariants(self, invariants: object, is_bare: bool) -> list[Shape]:
        """The shape each variable keeps."""
        if invariants is None:
            return [shape for leaf in flatten(self.structure) for shape in _leaf_shapes(leaf)]
        structure = [invariants] if is_bare else invariants
        require_same_structure(self.structure, structure)
        leaves = flatten(self.structure)
        listed = [_as_shape(shape) for shape in flatten(structure)]
        shapes: list[Shape] = []
        for leaf, shape in zip(leaves, listed, strict=True):
            if isinstance(leaf, SparseTensor):
                shapes += _sparse_shapes(leaf, shape)
                continue
            if isinstance(leaf, RaggedTensor):
                shapes += _ragged_shapes(leaf, shape)
                continue
            if isinstance(leaf, Composite) and not isinstance(leaf, Tensor):
                shapes += [cast("Tensor", t).sizes for t in leaf.to_components()]
                continue
            tensor = cast("Tensor", leaf)
            if not TensorShape(shape).is_compatible_with(tensor.sizes) or _is_wider(
                tensor.sizes, shape
            ):
                raise ValueError(
                    f"The shape invariant specified for {tensor.name} is not compatible with the "
                    f"initial shape of the loop variable. It enters the loop with shape "
                    f"{TensorShape(tensor.sizes)}, but the specified shape invariant is "
                    f"{TensorShape(shape)}."
                )
            shapes.append(shape)
        return shapes

    def _arguments(self, graph: FunctionGraph) -> list[Tensor]:
        """The loop variables as arguments of a function."""
        pairs = zip(self.starts, self.shapes, strict=True)
        return [graph.argument(tensor, shape=shape) for tensor, shape in pairs]

    def trace(self, cond: Callable[..., TensorLike], body: Callable[..., object]) -> None:
        """Calls the two functions on arguments that stand for the variables."""
        with self.condition.traced():
            arguments = self._arguments(self.condition)
            goes_on = convert_to_tensor(cond(*self._packed(arguments)))
            if self.maximum is not None:
                goes_on = ops.LogicalAnd(goes_on, ops.Less(arguments[-1], self.limit))
            if goes_on.dtype != np.bool_:
                raise TypeError(f"'cond' must give a bool tensor, got {goes_on.dtype.name}")
            self.condition.outputs = [self.condition.capture(goes_on)]
        with self.body.traced():
            arguments = self._arguments(self.body)
            returned = body(*self._packed(arguments))
            results = self._results(returned)
            if self.maximum is not None:
                results.append(ops.AddV2(arguments[-1], np.ones((), self.limit.dtype)))
            self.body.outputs = [self.body.capture(tensor) for tensor in results]
        self._check()

    def _packed(self, arguments: Sequence[Tensor]) -> Sequence[object]:
        tensors = arguments if self.maximum is None else arguments[:-1]
        return cast("Sequence[object]", pack(self.structure, tensors, expand=True))

    def _results(self, returned: object) -> list[Tensor]:
        """What the body gave, as tensors in the order of the variables."""
        variables = cast("Sequence[object]", self.structure)
        listed, after = [returned], cast("object", [returned])
        if isinstance(returned, (list, tuple)):
            items = list(cast("Sequence[object]", returned))
            if len(variables) > 1 or not is_nested(variables[0]) or len(items) == 1:
                listed, after = items, cast("object", returned)
        require_same_structure(list(variables), listed)
        self.structure_after = pack(after, flatten(listed))
        return [
            convert_to_tensor(cast("TensorLike", leaf)) for leaf in flatten(listed, expand=True)
        ]

    def _check(self) -> None:
        if len(self.body.outputs) != len(self.starts):
            raise ValueError(
                "The number of inputs and outputs of the loop body must be the same: "
                f"{len(self.starts)} and {len(self.body.outputs)}"
            )
        for start, shape, result in zip(self.starts, self.shapes, self.body.outputs, strict=True):
            if start.dtype != result.dtype:
                raise TypeError(
                    f"Loop var {start.name} enters the loop with type {start.dtype.name} but has "
                    f"type {result.dtype.name} after 1 iteration."
                )
            if _is_wider(result.sizes, shape):
                raise ValueError(
                    f"Input tensor '{start.name}' enters the loop with shape "
                    f"{TensorShape(shape)}, but has shape {TensorShape(result.sizes)} after one "
                    "iteration. To allow the shape to vary across iterations, use the "
                    "`shape_invariants` argument of tf.while_loop to specify a less-specific shape."
                )

    def outputs(self, scope: str, back_prop: bool) -> object:
        """Adds the operation; gives the variables after the loop."""
        outputs = functional_while(self.condition, self.body, self.starts, self.shapes, scope)
        with name_scope(scope):
            leave = ops.Identity if back_prop else ops.StopGradient
            results = [leave(tensor, name="Exit") for tensor in outputs]
        if self.maximum is not None:
            results = results[:-1]
        return pack(self.structure_after, results, expand=True)


def _reserve(name: str, count: int) -> None:
    """Takes names, from the root, which nothing else gets."""
    graph = get_default_graph()
    with name_scope(None):
        for _ in range(count):
            graph.unique_name(name)


def functional_while(
    condition: FunctionGraph,
    body: FunctionGraph,
    starts: Sequence[Tensor],
    shapes: Sequence[Shape],
    name: str,
) -> list[Tensor]:
    """Adds a loop of two traced functions; gives its variables after it.

    Args:
        condition, body: Their first arguments stand for the variables, of these shapes; what they
            captured comes behind.
        starts: What the variables begin with.
        shapes: Of the variables, in all iterations.
        name: Of the operation.
    """
    n, graphs = len(starts), (condition, body)
    captured = unify_behind(graphs, n)
    body.outputs += body.inputs[n:]
    operands = [*starts, *captured]
    attrs = {
        "T": [tensor.dtype for tensor in operands],
        "output_shapes": [*shapes, *(tensor.sizes for tensor in captured)],
        "parallel_iterations": 10,
        "cond": define(condition, "while_cond"),
        "body": define(body, "while_body"),
    }
    kind = "While" if is_stateful(graphs) else "StatelessWhile"
    with control_dependencies([op for graph in graphs for op in graph.controls]):
        return create(kind, [operands], attrs, name).outputs[:n]


def _converted(leaf: object) -> object:
    if isinstance(leaf, Composite) and not isinstance(leaf, (Tensor, type)):
        return leaf
    tensor = convert_to_tensor(cast("TensorLike", leaf))
    if is_tensor_like(leaf) and not isinstance(leaf, Tensor):
        return ops.Identity(tensor)
    return ops.Identity(tensor) if tensor.op.type in ("Variable", "VariableV2") else tensor


def _leaf_shapes(leaf: object) -> list[Shape]:
    """The shapes a variable has; how many elements a sparse tensor names is free."""
    if isinstance(leaf, SparseTensor) and leaf.shape.rank is not None:
        return _sparse_shapes(leaf, (leaf.shape.rank,))
    if isinstance(leaf, RaggedTensor):
        return _ragged_shapes(leaf, leaf.shape.as_shape())
    return [cast("Tensor", t).sizes for t in flatten(leaf, expand=True)]


def _ragged_shapes(tensor: RaggedTensor, shape: Shape) -> list[Shape]:
    """The shapes of a ragged tensor's parts, where its whole is allowed to be of `shape`."""
    n = tensor.ragged_rank
    first: Shape = (None if not shape or shape[0] is None else shape[0] + 1,)
    inner = tensor.flat_values.sizes if shape is None else (None, *shape[n + 1 :])
    values: Shape = None if inner is None else (None, *inner[1:])
    return [values, first, *[(None,)] * (n - 1)]


def _sparse_shapes(tensor: SparseTensor, shape: Shape) -> list[Shape]:
    """The shapes of a sparse tensor's parts, where that of its `dense_shape` may be `shape`.

    Where it has another rank than 1, it is what the sparse tensor's own shape may be.
    """
    if shape is None:
        return [(None, None), (None,), (None,)]
    is_whole = len(shape) != 1
    rank = len(shape) if is_whole else shape[0]
    start = tensor.shape if is_whole else TensorShape(tensor.dense_shape.sizes)
    declared = TensorShape(shape)
    if not declared.is_compatible_with(start) or _is_wider(start.as_shape(), shape):
        raise ValueError(
            f"The shape invariant specified for {tensor.values.name} is not compatible with the "
            f"initial shape of the loop variable. It enters the loop with shape {start}, but the "
            f"specified shape invariant is {declared}."
        )
    return [(None, rank), (None,), (rank,)]


def _as_shape(shape: object) -> Shape:
    if isinstance(shape, Spec):
        shape = shape.shape
    if isinstance(shape, TensorShape):
        return shape.as_shape()
    if shape is None:
        return None
    if isinstance(shape, Composite):
        return ()
    raise ValueError(f"`shape_invariants` must be TensorShapes, got {shape!r}")


def _is_wider(shape: Shape, allowed: Shape) -> bool:
    """Whether a shape may have sizes that another one rules out."""
    if allowed is None:
        return False
    if shape is None or len(shape) != len(allowed):
        return True
    return any(
        limit is not None and size != limit for size, limit in zip(shape, allowed, strict=True)
    )
