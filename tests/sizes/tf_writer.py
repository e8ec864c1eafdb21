"""Writes programs over shapes as TensorFlow's operations."""

from __future__ import annotations

import numpy as np
from stored import values

from flatlite.graph.core.build import ops
from flatlite.graph.core.graph import Graph
from flatlite.graph.core.library import Function
from flatlite.graph.core.signatures.attributes import FunctionRef
from flatlite.graph.format.graphdef import to_graph_def

F32, I32 = np.dtype("float32"), np.dtype("int32")
INTEGERS = {
    "add": "AddV2",
    "sub": "Sub",
    "mul": "Mul",
    "div": "FloorDiv",
    "mod": "FloorMod",
    "min": "Minimum",
    "max": "Maximum",
}
COMPARISONS = {
    "greater": "Greater",
    "less": "Less",
    "greater_equal": "GreaterEqual",
    "equal": "Equal",
}
REDUCTIONS = {"mean": "Mean", "sum": "Sum", "max": "Max"}
UNARY = {"relu": "Relu", "neg": "Neg", "abs": "Abs", "square": "Square"}


def i32(x):
    return np.asarray(x, np.int32)


class TensorFlow:
    """A GraphDef. Sizes are int32 scalars, channels come last."""

    kind = "tf"
    has_branches = has_resize = True

    def __init__(self, rng):
        self.rng, self.graph = rng, Graph()
        self.inputs, self.outputs = [], []

    def scope(self):
        """Where the operations go."""
        return self.graph.as_default()

    @staticmethod
    def channels(rank):
        return rank - 1

    @staticmethod
    def spatial(rank):
        return list(range(1, rank - 1))

    quotient = staticmethod(np.floor_divide)

    def input(self, name, dims, dtype):
        shape = tuple(d if isinstance(d, int) else None for d in dims)
        x = ops.Placeholder(dtype=np.dtype(dtype), shape=shape, name=name)
        self.inputs.append(x)
        return x

    def number(self, value):
        return np.int32(value)

    def vector(self, items):
        """A vector of numbers and scalars."""
        if all(isinstance(item, int | np.integer) for item in items):
            return i32(items)
        return ops.Pack([i32(item) if isinstance(item, int) else item for item in items])

    def dim(self, x, axis, rank):
        shape = ops.Shape(x, out_type=I32)
        way = self.rng.randrange(3)
        if way == 0:
            return ops.GatherV2(shape, i32(axis), i32(0))
        if way == 1:
            return ops.Unpack(shape, num=rank)[axis]
        at = axis if self.rng.random() < 0.7 else axis - rank
        masks = {"end_mask": 1} if at == -1 else {}
        return ops.StridedSlice(
            shape, i32([at]), i32([at + 1]), i32([1]), shrink_axis_mask=1, **masks
        )

    def count(self, x):
        if self.rng.random() < 0.5:
            return ops.Size(x, out_type=I32)
        return ops.Prod(ops.Shape(x, out_type=I32), i32([0]))

    def integer(self, kind, a, b):
        return getattr(ops, INTEGERS[kind])(a, b)

    def negative(self, a):
        return ops.Neg(a)

    def compare(self, kind, a, b):
        return getattr(ops, COMPARISONS[kind])(a, b)

    def select(self, condition, a, b):
        return ops.SelectV2(condition, a, b)

    def to_float(self, a):
        return ops.Cast(a, DstT=F32)

    def to_int(self, a):
        return ops.Cast(a, DstT=I32)

    def rounded(self, kind, x):
        return {"floor": ops.Floor, "ceil": ops.Ceil}[kind](x)

    def times(self, a, b):
        return ops.Mul(a, b)

    def over(self, a, b):
        return ops.RealDiv(a, b)

    def plus(self, a, b):
        return ops.AddV2(a, b)

    def unary(self, kind, x):
        return getattr(ops, UNARY[kind])(x)

    def pad(self, x, pairs):
        rows = [self.vector(pair) for pair in pairs]
        if all(isinstance(row, np.ndarray) for row in rows):
            return ops.Pad(x, i32(rows))
        return ops.Pad(x, ops.Pack(rows))

    def reshape(self, x, dims, copied):
        return ops.Reshape(x, self.vector(dims))

    def slice(self, x, rank, axis, begin, end, step):
        """x[begin:end:step] along an axis; None for a side that is open."""
        begins, ends, strides = [0] * rank, [0] * rank, [1] * rank
        masks = {"begin_mask": 2**rank - 1, "end_mask": 2**rank - 1}
        for side, name, where in ((begin, "begin_mask", begins), (end, "end_mask", ends)):
            if side is not None:
                where[axis] = side
                masks[name] &= ~(1 << axis)
        strides[axis] = step
        return ops.StridedSlice(
            x, self.vector(begins), self.vector(ends), self.vector(strides), **masks
        )

    def part(self, x, rank, axis, begin, size):
        """`size` slices from `begin` on, which must be there."""
        begins, sizes = [0] * rank, [-1] * rank
        begins[axis], sizes[axis] = begin, size
        return ops.Slice(x, self.vector(begins), self.vector(sizes))

    def concat(self, xs, axis):
        return ops.ConcatV2(xs, i32(axis))

    def transpose(self, x, order):
        return ops.Transpose(x, i32(order))

    def tile(self, x, counts):
        return ops.Tile(x, self.vector(counts))

    def fill(self, dims, value):
        return ops.Fill(self.vector(dims), np.float32(value))

    def expand(self, x, dims):
        return ops.BroadcastTo(x, self.vector(dims))

    def unsqueeze(self, x, axis):
        return ops.ExpandDims(x, i32(axis))

    def squeeze(self, x, axis):
        return ops.Squeeze(x, squeeze_dims=[axis])

    def halves(self, x, axis):
        return ops.Split(i32(axis), x, num_split=2)

    def range(self, n):
        return ops.Range(i32(0), n, i32(1))

    def gather(self, x, indices, axis):
        return ops.GatherV2(x, indices, i32(axis))

    def embedding(self, ids, n, features):
        return ops.GatherV2(values((n, features), seed=n), ids, i32(0))

    def reverse(self, x, axis):
        return ops.ReverseV2(x, i32([axis]))

    def matmul(self, a, b, rank, transpose):
        return ops.BatchMatMulV2(a, b, adj_y=transpose)

    def reduce(self, kind, x, axes, keep):
        return getattr(ops, REDUCTIONS[kind])(x, i32(axes), keep_dims=keep)

    def pool(self, kind, x, rank, size, stride, padding):
        function = {"max": ops.MaxPool, "average": ops.AvgPool}[kind]
        attrs = {"ksize": [1, size, size, 1], "strides": [1, stride, stride, 1]}
        return function(x, padding=padding, **attrs)

    def resize(self, kind, x, height, width):
        function = {"nearest": ops.ResizeNearestNeighbor, "bilinear": ops.ResizeBilinear}[kind]
        return function(x, self.vector([height, width]), half_pixel_centers=True)

    def conv(self, x, rank, weights, stride, dilation, padding):
        """A convolution as TensorFlow writes it; weights are [*taps, in, out]."""
        taps = weights.shape[:-2]
        before = [(k - 1) * dilation for k in taps]
        if padding == "CAUSAL":
            x = ops.Pad(x, i32([[0, 0], *[[n, 0] for n in before], [0, 0]]))
            padding = "VALID"
        if dilation == 1:
            return self._conv(x, rank, weights, stride, padding)
        base = [[n // 2, n - n // 2] if padding == "SAME" else [0, 0] for n in before]
        paddings, crops = self._space_to_batch_paddings(x, rank, i32(base), dilation)
        block = i32([dilation] * len(taps))
        x = ops.SpaceToBatchND(x, block, paddings)
        return ops.BatchToSpaceND(self._conv(x, rank, weights, 1, "VALID"), block, crops)

    def _conv(self, x, rank, weights, stride, padding):
        if rank == 3:
            x, weights = ops.ExpandDims(x, i32(1)), weights[np.newaxis]
        x = ops.Conv2D(x, weights, strides=[1, stride, stride, 1], padding=padding)
        return ops.Squeeze(x, squeeze_dims=[1]) if rank == 3 else x

    def _space_to_batch_paddings(self, x, rank, base, dilation):
        """What tf.required_space_to_batch_paddings writes."""
        n = len(base)
        block = i32([dilation] * n)
        shape = ops.Shape(x, out_type=I32)
        sizes = ops.StridedSlice(shape, i32([1]), i32([1 + n]), i32([1]))
        start, end = i32(base[:, 0]), i32(base[:, 1])
        full = ops.AddV2(ops.AddV2(sizes, start), end)
        extra = ops.FloorMod(ops.Sub(block, ops.FloorMod(full, block)), block)
        last = ops.AddV2(end, extra)
        zero = np.int32(0)

        def element(vector, i):
            return ops.StridedSlice(vector, i32([i]), i32([i + 1]), i32([1]), shrink_axis_mask=1)

        paddings = [ops.Pack([start[i], element(last, i)]) for i in range(n)]
        crops = [ops.Pack([zero, element(extra, i)]) for i in range(n)]
        return ops.Pack(paddings), ops.Pack(crops)

    def cond(self, condition, captured, branches):
        """An If: each branch is a function of (writer, handles) that gives one handle."""
        names = []
        for branch in branches:
            body = Graph(self.graph.functions)
            with body.as_default():
                arguments = [
                    body.add("_Arg", f"arg{i}", (), {"T": t.dtype, "index": i}).outputs[0]
                    for i, t in enumerate(captured)
                ]
                body.inputs = arguments
                body.outputs = [ops.Identity(branch(self, *arguments))]
            name = f"branch_{len(self.graph.functions)}"
            self.graph.functions.add(Function.of(name, body))
            names.append(FunctionRef(name))
        attrs = {
            "Tcond": np.dtype(bool),
            "Tin": [t.dtype for t in captured],
            "Tout": [F32],
            "then_branch": names[0],
            "else_branch": names[1],
            "output_shapes": [],
        }
        name = self.graph.unique_name("cond")
        return self.graph.add("StatelessIf", name, [condition, *captured], attrs).outputs[0]

    def output(self, x):
        self.outputs.append(ops.Identity(x, name=f"out{len(self.outputs)}"))

    def content(self) -> bytes:
        """The inputs and what the outputs need: steps that were given up leave operations."""
        message = to_graph_def(self.graph)
        expected = {t.op.name for t in [*self.inputs, *self.outputs]}
        live = []
        for node in reversed(message.node):
            if node.name in expected:
                expected.update(name.split(":")[0] for name in node.input)
                live.append(node)
        nodes = [type(node).FromString(node.SerializeToString()) for node in reversed(live)]
        del message.node[:]
        message.node.extend(nodes)
        return message.SerializeToString(deterministic=True)
