"""If, Loop and Scan: the graphs among their attributes become graphs that IF and WHILE call.

A branch that constants decide is lowered in the place of the node. What an iteration of a loop
produces is put into a tensor that is as long as there are iterations, where that is known, else it
is appended to one that grows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir.graph import Graph, Tensor
from ..ir.infer import dynamic_tensor
from ..lowering.moves import as_int32, as_type, dimension, int32s, reshaped, transposed
from .names import names_read
from .registry import lower
from .slices import row_loop, structure, tensors_of, with_tensors

if TYPE_CHECKING:
    from onnx import GraphProto

    from ..ir.builder import Builder

WIDENINGS = 8
"""Times a loop's body is lowered; each time more of the sizes of its values are unknown."""
MAX_UNROLLED = 4
"""Iterations of a Scan or Loop that are written one after another."""


def captured(node, graph: GraphProto) -> list[str]:
    """The names of the values around a graph that it reads."""
    known = {"", *(v.name for v in graph.input), *(t.name for t in graph.initializer)}
    names: list[str] = []
    for inner in graph.node:
        names += [name for name in names_read(inner) if name not in known]
        known.update(inner.output)
    names += [value.name for value in graph.output if value.name not in known]
    return list(dict.fromkeys(names))


def inlined(node, b: Builder, graph: GraphProto, arguments: Sequence[Any]) -> list[Any]:
    """What a graph gives, its operators put where the node is."""
    from onnx.numpy_helper import to_array

    values = dict(zip((v.name for v in graph.input), arguments, strict=True))
    values.update((t.name, b.constant(to_array(t))) for t in graph.initializer)
    block = node.block.inner(values)
    block.lower(graph.node, b)
    return [block.values[value.name] for value in graph.output]


def _outer_values(node, graphs: Sequence[GraphProto]) -> list[str]:
    """The names of the values that graphs read and that are not constants."""
    names = dict.fromkeys(name for graph in graphs for name in captured(node, graph))
    return [name for name in names if _computed(node, [name])]


def _computed(node, names: Sequence[str]) -> list[Tensor]:
    """The tensors of values, those of sequences too, that are not constants."""
    tensors = (x for name in names for x in tensors_of(node.block.values[name]))
    return [x for x in tensors if x.value is None]


def _copy(name: str, x: Tensor, sizes: Any = None) -> Tensor:
    """An input of a graph that stands for a value of its caller."""
    return Tensor(name, x.dtype, x.sizes if sizes is None else sizes, elements=x.elements)


def _lowered_apart(node, b, name, inputs, outer, prepare):
    """The IR graph of what `prepare` makes of `inputs` and the values of the names `outer`."""
    from ..ir.builder import Builder

    target = Graph(f"{node.name}_{name}", b.graph.scope)
    inner = Builder(target)
    inner.origin(node.name)
    copies: list[Tensor] = []

    def copied(x: Tensor) -> Tensor:
        if x.value is not None:
            return x
        copies.append(_copy(x.name, x))
        return copies[-1]

    values = {key: with_tensors(node.block.values[key], copied) for key in outer}
    target.inputs = [*inputs, *copies]
    was_certain, target.scope.is_certain = target.scope.is_certain, False
    try:
        scoped = node.with_inputs(*node.inputs)
        scoped.block = node.block.inner(values)
        target.outputs = prepare(scoped, inner)
    finally:
        target.scope.is_certain = was_certain
    return target


@lower("If")
def if_(node, b):
    """One graph or the other; where the condition is constant, only that one."""
    condition = node.inputs[0]
    graphs = [node.attr(name) for name in ("then_branch", "else_branch")]
    scope = b.graph.scope
    decided = scope.decided.get(node.name)
    if decided is None and condition.value is not None:
        decided = bool(condition.value.any())
    if decided is not None:
        return tuple(inlined(node, b, graphs[0 if decided else 1], []))
    condition = reshaped(condition, (), b) if condition.rank else condition
    outer = _outer_values(node, graphs)
    bodies = [
        _lowered_apart(
            node, b, name, [], outer, lambda scoped, inner, g=graph: inlined(
                scoped, inner, g, []
            )
        )
        for graph, name in zip(graphs, ("then", "else"), strict=True)
    ]  # fmt: skip
    results = [body.outputs for body in bodies]
    for name, *pair in zip((x.name for x in graphs[0].output), *results, strict=True):
        words = [structure(value) for value in pair]
        node.require(
            words[0] == words[1],
            f"branches that a computed condition chooses must give alike sequences for '{name}', "
            f"got {words[0]} and {words[1]}",
        )
    for body in bodies:
        body.outputs = tensors_of(list(body.outputs))
    if any(x.rank != y.rank for x, y in zip(*(body.outputs for body in bodies), strict=True)):
        scope.undecided.append(node.name)
    types = [[x.dtype for x in body.outputs] for body in bodies]
    node.require(types[0] == types[1], f"both branches must give the same types, got {types}")
    chosen = b.IF(condition, *_computed(node, outer), graphs=bodies, n_outputs=len(types[0]))
    tensors = iter(chosen if isinstance(chosen, tuple) else (chosen,))
    return tuple(with_tensors(value, lambda _: next(tensors)) for value in results[0])


def run_loop(node, b, values, outer, condition, step):
    """WHILE over `values`; `step(scoped, inner, inputs)` gives their next ones.

    Args:
        node: the node.
        b: the builder around it.
        values: what enters: tensors.
        outer: names of values around the loop that it reads.
        condition: `(inner, inputs) -> bool`, whether there is another iteration.
        step: the body.
    """
    sizes, body = _settled(node, b, values, outer, step)
    for x, result in zip(values, body.outputs, strict=True):
        node.require(
            x.dtype == result.dtype,
            f"the body must keep the types of its values, got {result.dtype} for {x.dtype}",
        )
    inputs = [_copy_of(x, n) for x, n in zip(values, sizes, strict=True)]
    check = _lowered_apart(
        node, b, "cond", inputs, outer, lambda scoped, inner: [condition(inner, inputs)]
    )
    body.outputs = [*body.outputs, *body.inputs[len(values) :]]
    results = b.WHILE(*values, *_computed(node, outer), graphs=(check, body))
    return (results if isinstance(results, tuple) else (results,))[: len(values)]


def _settled(node, b, values, outer, step):
    """(the sizes of a loop's values in every iteration, its body)."""
    sizes, dynamic = [x.sizes for x in values], [set() for _ in values]
    for _ in range(WIDENINGS):
        inputs = [_copy_of(x, n) for x, n in zip(values, sizes, strict=True)]
        body = _lowered_apart(
            node, b, "body", inputs, outer,
            lambda scoped, inner, i=inputs: step(scoped, inner, i),
        )  # fmt: skip
        changed = [
            i for i, x in enumerate(body.outputs) if not _fits(sizes[i], x.sizes, dynamic[i])
        ]
        if not changed:
            return sizes, body
        for i in changed:
            sizes[i] = _generalized_sizes(b.graph, sizes[i], body.outputs[i].sizes, dynamic[i])
    return node.fail("the shapes of the loop's values must settle")


def _copy_of(x: Tensor, sizes: Any) -> Tensor:
    return Tensor(x.name or "value", x.dtype, sizes)


def _fits(sizes, new_sizes, dynamic):
    if sizes is None:
        return True
    if new_sizes is None or len(sizes) != len(new_sizes):
        return False
    pairs = enumerate(zip(sizes, new_sizes, strict=True))
    return all(old == new or axis in dynamic for axis, (old, new) in pairs)


def _generalized_sizes(graph, sizes, new_sizes, dynamic):
    """Sizes that hold before and after an iteration; those that differ are only known then."""
    if sizes is None or new_sizes is None or len(sizes) != len(new_sizes):
        return None
    dynamic |= {i for i, (x, y) in enumerate(zip(sizes, new_sizes, strict=True)) if x != y}
    shape = [None if i in dynamic else n for i, n in enumerate(sizes)]
    return dynamic_tensor(graph, "", np.dtype(np.float32), shape).sizes


@lower("Loop")
def loop(node, b):
    """A graph over and over, at most so many times and while its condition holds."""
    limit, condition, *values = node.inputs
    rows = row_loop(node, node.attr("body"), values)
    return rows.results(_looped(node, b, rows.graph, limit, condition, rows.state))


def _looped(node, b, graph, limit, condition, state):
    """The last values of a loop's state, and the rows of what its iterations produce."""
    n_state, always = len(state), _keeps_condition(graph)
    condition = (
        condition if condition is None or condition.rank == 0 else reshaped(condition, (), b)
    )
    runs = condition is None or (condition.value is not None and condition.value.item())
    if condition is not None and condition.value is not None and not condition.value.item():
        limit, runs = b.constant(np.int64(0)), True
    count = None if limit is None or limit.value is None else int(limit.value.ravel()[0])
    is_counted = always and runs and count is not None
    if is_counted and count is not None and count <= MAX_UNROLLED:
        return _unrolled_loop(node, b, graph, state, count)
    limit = np.int32(2**31 - 1) if limit is None else _scalar(b, as_int32(limit, b))
    flag = b.constant(np.ones((), bool)) if condition is None else condition
    outer = _outer_values(node, [graph])
    iterated = _iterated(node, b, graph, state, outer)
    visible = [*state, *_computed(node, outer)]
    state = _with_blanks(b, graph, state, iterated[:n_state], visible)
    declared = graph.output[1 + n_state :]
    produced = [_declared(x, y) for x, y in zip(iterated[n_state:], declared, strict=True)]
    rows = count if is_counted else None
    buffers = [_output_buffer(node, b, x, rows, visible) for x in produced]

    def check(inner, inputs):
        return inner.LOGICAL_AND(inner.LESS(inputs[0], limit), inputs[1])

    def step(scoped, inner, inputs):
        index, _, *values = inputs
        arguments = [inner.CAST(index, dtype=np.int64), inputs[1], *values[:n_state]]
        flag, *results = inlined(scoped, inner, graph, arguments)
        flag = flag if flag.rank == 0 else reshaped(flag, (), inner)
        rows = [
            _with_row(inner, tall, x, index, is_counted)
            for tall, x in zip(values[n_state:], results[n_state:], strict=True)
        ]
        return [inner.ADD(index, np.int32(1)), flag, *results[:n_state], *rows]

    if isinstance(limit, Tensor) and limit.value is None:
        node.block.values["loop limit"], outer = limit, [*outer, "loop limit"]
        results = _limited(node, b, [flag, *state, *buffers], outer, step)
    else:
        values = [b.constant(np.int32(0)), flag, *state, *buffers]
        results = run_loop(node, b, values, outer, check, step)[2:]
    rows = results[n_state:]
    rows = rows if is_counted else [_appended(b, x) for x in rows]
    return *results[:n_state], *rows


def _appended(b, rows):
    """What was appended to the first row, which is there as LiteRT takes no empty constant."""
    begin = np.zeros(rows.rank, np.int32)
    begin[0] = 1
    return b.SLICE(rows, begin, np.full(rows.rank, -1, np.int32))


def _limited(node, b, values, outer, step):
    """A loop whose largest number of iterations is computed: it is one more of its values."""
    limit = node.block.values.pop("loop limit")
    outer = [name for name in outer if name != "loop limit"]

    def check(inner, inputs):
        return inner.LOGICAL_AND(inner.LESS(inputs[0], inputs[-1]), inputs[1])

    def limited_step(scoped, inner, inputs):
        return [*step(scoped, inner, inputs[:-1]), inputs[-1]]

    values = [b.constant(np.int32(0)), *values, limit]
    return run_loop(node, b, values, outer, check, limited_step)[2:-1]


def _scalar(b, x):
    return reshaped(x, (), b) if x.rank else x


def _keeps_condition(graph: GraphProto) -> bool:
    """Whether a loop's graph gives its condition back, or says true."""
    from onnx.numpy_helper import to_array

    name, condition_in = graph.output[0].name, graph.input[1].name
    producers = {output: n for n in graph.node for output in n.output}
    while name in producers and producers[name].op_type == "Identity":
        name = producers[name].input[0]
    if name == condition_in:
        return True
    for tensor in graph.initializer:
        if tensor.name == name:
            return bool(to_array(tensor).all())
    producer = producers.get(name)
    if producer is not None and producer.op_type == "Constant":
        return all(bool(to_array(a.t).all()) for a in producer.attribute if a.name == "value")
    return False


def _unrolled_loop(node, b, graph, state, count):
    """The graph as many times as it is known to run."""
    rows: list[list[Tensor]] = []
    for i in range(count):
        arguments = [b.constant(np.int64(i)), b.constant(np.ones((), bool)), *state]
        _, *results = inlined(node, b, graph, arguments)
        state = results[: len(state)]
        rows.append(results[len(state) :])
    n_rows = len(graph.output) - 1 - len(state)
    node.require(count or not n_rows, "what no iteration produces has no shape; leave the loop out")
    return *state, *(
        b.PACK(*(row[i] for row in rows), axis=0, values_count=count) for i in range(n_rows)
    )


def _iterated(node, b, graph, state, outer):
    """What one iteration gives but for its condition; only type and shape are looked at."""
    inputs = [_copy_of(x, x.sizes) for x in state]
    trial = _lowered_apart(
        node, b, "trial", inputs, outer,
        lambda scoped, inner: inlined(
            scoped, inner, graph,
            [Tensor("i", np.dtype(np.int64), ()), Tensor("go", np.dtype(bool), ()), *inputs],
        )[1:],
    )  # fmt: skip
    return trial.outputs


def _with_blanks(b, graph, state, results, visible):
    """The loop's values, those that no iteration reads in the shapes that iterations give them.

    Paddle's exporter lets what a loop is the first to set begin as a scalar.
    """
    read = {name for node in graph.node for name in names_read(node)}
    read.update(value.name for value in graph.output)
    names = [value.name for value in graph.input[2:]]
    sizes_around = {size for x in visible for size in x.sizes or ()}
    values = []
    for name, x, result in zip(names, state, results, strict=True):
        if name not in read and result.sizes is not None and x.rank != result.rank:
            known = [isinstance(n, int) or n in sizes_around for n in result.sizes]
            sizes = [n if k else 1 for n, k in zip(result.sizes, known, strict=True)]
            x = _zeros(b, x.dtype, sizes, visible)
        values.append(x)
    return values


def _declared(x, value):
    """A tensor in the shape that the model declares, where its own is not known."""
    dims = value.type.tensor_type.shape.dim
    if x.is_static or not value.type.tensor_type.HasField("shape"):
        return x
    if not all(dim.HasField("dim_value") for dim in dims):
        return x
    return Tensor(x.name, x.dtype, tuple(int(dim.dim_value) for dim in dims))


def _output_buffer(node, b, x, count, visible):
    """Where the iterations put what they produce: rows of zeros; one where they are appended.

    An unknown size is that of one of the tensors around the loop.
    """
    sizes = (1 if count is None else count, *(x.sizes or ()))
    sizes_around = {size for y in visible for size in y.sizes or ()}
    node.require(
        x.sizes is not None and all(isinstance(n, int) or n in sizes_around for n in sizes),
        f"what an iteration produces must have a known shape, got {x.shape}",
    )
    return _zeros(b, x.dtype, sizes, visible)


def _zeros(b, dtype, sizes, visible):
    """Zeros of sizes that are numbers, or those of one of the tensors `visible`."""
    if all(isinstance(n, int) for n in sizes):
        return b.constant(np.zeros(sizes, dtype))
    known = {n: (y, i) for y in visible for i, n in enumerate(y.sizes or ())}
    parts = [
        b.constant(np.int32(n)) if isinstance(n, int) else dimension(*known[n], b) for n in sizes
    ]
    shape = b.PACK(*parts, axis=0, values_count=len(parts))
    return b.FILL(shape, b.constant(np.zeros((), dtype)))


def _with_row(b, tall, x, index, is_counted):
    """The rows with another: at its place where there is room, else at the end."""
    row = b.EXPAND_DIMS(x, np.int32(0))
    if x.sizes is not None and x.sizes != tall.sizes[1:] and None not in tall.dims[1:]:
        row = b.RESHAPE(x, np.asarray([1, *tall.dims[1:]], np.int32))
    if not is_counted:
        return b.CONCATENATION(tall, row, axis=0)
    start = b.RESHAPE(index, int32s([1]))
    zeros = np.zeros(tall.rank - 1, np.int32)
    return b.DYNAMIC_UPDATE_SLICE(tall, row, b.CONCATENATION(start, zeros, axis=0))


@dataclass
class ScanPlan:
    """How a Scan takes its inputs apart and puts its outputs together."""

    input_axes: list[int]
    output_axes: list[int]
    input_reversed: list[bool]
    output_reversed: list[bool]


@lower("Scan")
def scan(node, b):
    """A graph for each slice of some tensors, with a state that goes from one to the next."""
    if node.opset < 9:
        return _batched_scan(node, b)
    return _scanned(node, b, node.inputs, node.attr("scan_input_axes", None),
                    node.attr("scan_output_axes", None))  # fmt: skip


def _batched_scan(node, b):
    """The first Scan, over the second axis of batches; one sequence only, all of it."""
    lengths, *inputs = node.inputs
    node.require(lengths is None, "sequence_lens of Scan are not supported; convert to opset 9")
    node.require(
        all(x.dims[0] == 1 for x in inputs),
        "batches of Scan in opset 8 must have one sequence; convert the model to opset 9",
    )
    inner = [b.SQUEEZE(x, squeeze_dims=int32s([0])) for x in inputs]
    outs = _scanned(node, b, inner, None, None)
    return tuple(b.EXPAND_DIMS(x, np.int32(0)) for x in outs)


def _scanned(node, b, inputs, input_axes, output_axes):
    graph, n_scanned = node.attr("body"), node.attr("num_scan_inputs")
    n_state = len(inputs) - n_scanned
    n_out = len(graph.output) - n_state
    state, scanned = list(inputs[:n_state]), inputs[n_state:]
    plan = ScanPlan(
        [a % x.rank for a, x in zip(input_axes or [0] * n_scanned, scanned, strict=True)],
        list(output_axes or [0] * n_out),
        [bool(n) for n in node.attr("scan_input_directions", [0] * n_scanned)],
        [bool(n) for n in node.attr("scan_output_directions", [0] * n_out)],
    )
    scanned = [_axis_first(b, x, a) for x, a in zip(scanned, plan.input_axes, strict=True)]
    count = next((x.dims[0] for x in scanned if x.dims[0] is not None), None)
    if count is not None and count <= MAX_UNROLLED:
        outs = _unrolled_scan(node, b, graph, state, scanned, plan, count)
    else:
        outs = _looped_scan(node, b, graph, state, scanned, plan, count)
    state, rows = outs[:n_state], outs[n_state:]
    return *state, *(
        _axis_back(b, x, a % x.rank) for x, a in zip(rows, plan.output_axes, strict=True)
    )


def _axis_first(b, x, axis):
    return transposed(x, (axis, *(i for i in range(x.rank) if i != axis)), b)


def _axis_back(b, x, axis):
    order = list(range(1, x.rank))
    order.insert(axis, 0)
    return transposed(x, order, b)


def _unrolled_scan(node, b, graph, state, scanned, plan, count):
    rows: list[list[Tensor]] = []
    for i in range(count):
        slices = [
            b.GATHER(x, np.int32(count - 1 - i if backwards else i))
            for x, backwards in zip(scanned, plan.input_reversed, strict=True)
        ]
        results = inlined(node, b, graph, [*state, *slices])
        state = results[: len(state)]
        rows.append(results[len(state) :])
    outs = []
    for i, backwards in enumerate(plan.output_reversed):
        column = [row[i] for row in rows]
        column = column[::-1] if backwards else column
        outs.append(b.PACK(*column, axis=0, values_count=count))
    return [*state, *outs]


def _looped_scan(node, b, graph, state, scanned, plan, count):
    """One iteration for each slice; the tensors are values of the loop that it does not change."""
    n_state, outer = len(state), _outer_values(node, [graph])
    slices = [Tensor("slice", x.dtype, x.sizes[1:]) for x in scanned]
    inputs = [_copy_of(x, x.sizes) for x in state]
    trial = _lowered_apart(
        node, b, "trial", inputs, outer,
        lambda scoped, inner: inlined(scoped, inner, graph, [*inputs, *slices])[n_state:],
    )  # fmt: skip
    visible = [*state, *scanned, *_computed(node, outer)]
    rows = [_output_buffer(node, b, x, count, visible) for x in trial.outputs]
    n_scanned = len(scanned)
    length = b.constant(np.int32(count)) if count is not None else dimension(scanned[0], 0, b)

    def check(inner, values):
        return inner.LESS(values[0], values[1])

    def step(scoped, inner, values):
        index, total, *others = values
        tensors, current, tall = (
            others[:n_scanned],
            others[n_scanned : n_scanned + n_state],
            others[n_scanned + n_state :],
        )
        last = inner.SUB(inner.SUB(total, np.int32(1)), index)
        parts = [
            inner.GATHER(x, last if backwards else index)
            for x, backwards in zip(tensors, plan.input_reversed, strict=True)
        ]
        results = inlined(scoped, inner, graph, [*current, *parts])
        rows = []
        for x, row, backwards in zip(tall, results[n_state:], plan.output_reversed, strict=True):
            row_index = last if backwards and count is not None else index
            rows.append(_with_row(inner, x, row, row_index, count is not None))
        current = [
            as_type(x, y.dtype, inner) for x, y in zip(results[:n_state], current, strict=True)
        ]
        return [inner.ADD(index, np.int32(1)), total, *tensors, *current, *rows]

    values = [b.constant(np.int32(0)), length, *scanned, *state, *rows]
    results = list(run_loop(node, b, values, outer, check, step)[2 + n_scanned :])
    if count is None:
        results[n_state:] = [
            b.REVERSE_V2(_appended(b, x), int32s([0])) if backwards else _appended(b, x)
            for x, backwards in zip(results[n_state:], plan.output_reversed, strict=True)
        ]
    return results
