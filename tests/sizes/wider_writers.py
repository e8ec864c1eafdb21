"""The writers with what the further steps need."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper
from onnx_writer import FAR, Onnx, i64
from tf_writer import F32, I32, TensorFlow, i32

from flatlite.graph.core.build import ops
from flatlite.graph.core.graph import Graph
from flatlite.graph.core.library import Function
from flatlite.graph.core.scopes import get_default_graph
from flatlite.graph.core.signatures.attributes import FunctionRef

REDUCTIONS = {"prod": "Prod", "max": "Max", "min": "Min", "sum": "Sum"}


class WiderTensorFlow(TensorFlow):
    """TensorFlow's operations for vectors of sizes, computed counts, loops and nested branches."""

    def shape_slice(self, x, first, last):
        shape = ops.Shape(x, out_type=I32)
        if self.rng.random() < 0.3:
            return ops.GatherV2(shape, i32(range(first, last)), i32(0))
        return ops.StridedSlice(shape, i32([first]), i32([last]), i32([1]))

    def reduce_sizes(self, kind, vector):
        return getattr(ops, REDUCTIONS[kind])(vector, i32([0]))

    def join(self, vectors):
        return ops.ConcatV2(vectors, i32(0))

    def row(self, scalar):
        return ops.ExpandDims(scalar, i32(0))

    def element(self, vector, at):
        return ops.StridedSlice(vector, i32([at]), i32([at + 1]), i32([1]), shrink_axis_mask=1)

    def reshape_to(self, x, shape):
        return ops.Reshape(x, shape)

    def pad_to(self, x, rank, least):
        shape = ops.Shape(x, out_type=I32)
        after = ops.Sub(ops.Maximum(shape, i32(least)), shape)
        return ops.Pad(x, ops.Pack([ops.ZerosLike(shape), after], axis=1))

    def largest(self, x, k):
        return ops.TopKV2(x, k, sorted=True)[0]

    def slice_backward(self, x, rank, axis, begin, end, step):
        return self.slice(x, rank, axis, begin, end, step)

    def conv_transposed(self, x, weights, padding, batch, sizes):
        weights = np.ascontiguousarray(np.swapaxes(weights, 2, 3))
        shape = self.vector([batch, *sizes, weights.shape[2]])
        attrs = {"strides": [1, 2, 2, 1], "padding": padding}
        return ops.Conv2DBackpropInput(shape, weights, x, **attrs)

    def space_to_batch(self, x):
        return ops.SpaceToBatchND(x, i32([2, 2]), i32([[0, 0], [0, 0]]))

    def space_to_depth(self, x):
        return ops.SpaceToDepth(x, block_size=2)

    def einsum(self, equation, operands):
        return ops.Einsum(operands, equation=equation)

    def one_hot(self, ids, depth):
        return ops.OneHot(ids, depth, np.float32(1), np.float32(0))

    def scatter(self, indices, x, dims):
        return ops.ScatterNd(indices, x, self.vector(dims))

    def range_between(self, first, end, step):
        return ops.Range(first, end, i32(step))

    def where(self, holds):
        indices = ops.Reshape(ops.Where(holds), i32([-1]))
        return ops.Cast(indices, DstT=I32)

    def mirror_pad(self, x, rank, axis, amount):
        rows = [self.vector((0, amount if i == axis else 0)) for i in range(rank)]
        return ops.MirrorPad(x, ops.Pack(rows), mode="REFLECT")

    def parts(self, x, axis, sizes):
        return ops.SplitV(x, ops.Pack(sizes), i32(axis), num_split=len(sizes))

    def _function(self, name, dtypes, body):
        """The reference of a function of arguments of these types; `body` gives the results."""
        graph = Graph(self.graph.functions)
        with graph.as_default():
            graph.inputs = [
                graph.add("_Arg", f"arg{i}", (), {"T": dtype, "index": i}).outputs[0]
                for i, dtype in enumerate(dtypes)
            ]
            graph.outputs = [ops.Identity(x) for x in body(*graph.inputs)]
        name = f"{name}_{len(self.graph.functions)}"
        self.graph.functions.add(Function.of(name, graph))
        return FunctionRef(name)

    def cond(self, condition, captured, branches):
        """An If where the caller stands: in a branch of another one, too."""
        dtypes = [t.dtype for t in captured]

        def results_of(branch):
            return lambda *arguments: [branch(self, *arguments)]

        then_branch, else_branch = (
            self._function("branch", dtypes, results_of(branch)) for branch in branches
        )
        attrs = {
            "Tcond": np.dtype(bool),
            "Tin": dtypes,
            "Tout": [F32],
            "then_branch": then_branch,
            "else_branch": else_branch,
            "output_shapes": [],
        }
        graph = get_default_graph()
        name = graph.unique_name("cond")
        return graph.add("StatelessIf", name, [condition, *captured], attrs).outputs[0]

    def _while(self, operands, condition, body):
        dtypes = [x.dtype for x in operands]
        attrs = {
            "T": dtypes,
            "cond": self._function("condition", dtypes, lambda *xs: [condition(*xs)]),
            "body": self._function("body", dtypes, body),
            "output_shapes": [],
            "parallel_iterations": 10,
        }
        return self.graph.add("StatelessWhile", self.graph.unique_name("loop"), operands, attrs)

    def doubled_to(self, n):
        one = ops.Identity(i32(1))
        loop = self._while(
            [one, n], ops.Less, lambda power, n: [ops.Mul(power, i32(2)), ops.Identity(n)]
        )
        return loop.outputs[0]

    def loop(self, count, x):
        def body(i, count, x):
            step = ops.Mul(ops.Cast(i, DstT=F32), np.float32(0.25))
            return [
                ops.AddV2(i, i32(1)),
                ops.Identity(count),
                ops.AddV2(ops.Mul(x, np.float32(0.5)), step),
            ]

        operands = [ops.Identity(i32(0)), ops.Identity(count), x]
        loop = self._while(operands, lambda i, count, x: ops.Less(i, count), body)
        return loop.outputs[2]


class WiderOnnx(Onnx):
    """ONNX's operators for the same, and for sizes of images and branches."""

    has_branches = has_resize = True

    def __init__(self, rng):
        super().__init__(rng)
        self.n_names = 0

    def node(self, kind, *inputs, n=1, **attributes):
        """As in a plain model, with names that are no others' in graphs within graphs."""
        self.n_names += 1
        names = [f"t{self.n_names}" + (f"_{i}" if n > 1 else "") for i in range(n)]
        operands = ["" if x is None else self.name(x) for x in inputs]
        self.nodes.append(helper.make_node(kind, operands, names, **attributes))
        return names[0] if n == 1 else names

    def resize(self, kind, x, height, width):
        shape = self.node("Shape", x, start=0, end=2)
        sizes = self.node("Concat", shape, self.vector([height, width]), axis=0)
        attributes = {"coordinate_transformation_mode": "half_pixel", "mode": "linear"}
        if kind == "nearest":
            attributes = {
                "coordinate_transformation_mode": "asymmetric",
                "mode": "nearest",
                "nearest_mode": "floor",
            }
        return self.node("Resize", x, None, None, sizes, **attributes)

    def shape_slice(self, x, first, last):
        way = self.rng.randrange(3)
        if way == 0:
            return self.node("Shape", x, start=first, end=last)
        if way == 1:
            return self.node("Gather", self.node("Shape", x), i64(range(first, last)), axis=0)
        return self.node("Slice", self.node("Shape", x), i64([first]), i64([last]), i64([0]))

    def reduce_sizes(self, kind, vector):
        return self.node(f"Reduce{REDUCTIONS[kind]}", vector, i64([0]), keepdims=0)

    def join(self, vectors):
        return self.node("Concat", *vectors, axis=0)

    def row(self, scalar):
        return self.node("Unsqueeze", scalar, i64([0]))

    def element(self, vector, at):
        return self.node("Gather", vector, i64(at), axis=0)

    def reshape_to(self, x, shape):
        return self.node("Reshape", x, shape)

    def pad_to(self, x, rank, least):
        shape = self.node("Shape", x)
        after = self.node("Sub", self.node("Max", shape, i64(least)), shape)
        return self.node("Pad", x, self.node("Concat", i64([0] * rank), after, axis=0))

    def largest(self, x, k):
        return self.node("TopK", x, self.row(k), n=2, axis=-1)[0]

    def slice_backward(self, x, rank, axis, begin, end, step):
        begin = FAR if begin is None else begin
        end = -FAR if end is None else end
        sides = self.vector([begin]), self.vector([end])
        return self.node("Slice", x, *sides, i64([axis]), i64([step]))

    def conv_transposed(self, x, weights, padding, batch, sizes):
        weights = np.ascontiguousarray(np.moveaxis(weights, (2, 3), (0, 1)))
        cut = weights.shape[2] - 2 if padding == "SAME" else 0
        return self.node("ConvTranspose", x, weights, strides=[2, 2], pads=[0, 0, cut, cut])

    def space_to_depth(self, x):
        return self.node("SpaceToDepth", x, blocksize=2)

    def einsum(self, equation, operands):
        return self.node("Einsum", *operands, equation=equation)

    def one_hot(self, ids, depth):
        return self.node("OneHot", ids, depth, np.float32([0, 1]))

    def scatter(self, indices, x, dims):
        zeros = self.node("Expand", np.float32(0), self.vector(dims))
        return self.node("ScatterND", zeros, indices, x)

    def range_between(self, first, end, step):
        return self.node("Range", first, end, i64(step))

    def where(self, holds):
        return self.node("Squeeze", self.node("NonZero", holds), i64([0]))

    def mirror_pad(self, x, rank, axis, amount):
        pads = self.vector([*[0] * rank, *[amount if i == axis else 0 for i in range(rank)]])
        return self.node("Pad", x, pads, mode="reflect")

    def parts(self, x, axis, sizes):
        return self.node("Split", x, self.vector(sizes), n=len(sizes), axis=axis)

    def _graph(self, name, write, inputs=()):
        """A graph of what `write` adds, which gives its outputs' (name, dtype)."""
        before, self.nodes = self.nodes, []
        outputs = [
            helper.make_tensor_value_info(self.node("Identity", x), dtype, None)
            for x, dtype in write()
        ]
        nodes, self.nodes = self.nodes, before
        return helper.make_graph(nodes, f"{name}{self.n_names}", list(inputs), outputs)

    def cond(self, condition, captured, branches):
        graphs = [
            self._graph("branch", lambda b=b: [(b(self, *captured), TensorProto.FLOAT)])
            for b in branches
        ]
        return self.node("If", condition, then_branch=graphs[0], else_branch=graphs[1])

    def _loop(self, count, condition, values, write):
        """A Loop over (name, dtype) values; `write` gives the condition and the values after."""
        self.n_names += 1
        i, holds = f"i{self.n_names}", f"holds{self.n_names}"
        names = [f"v{self.n_names}_{k}" for k in range(len(values))]
        inputs = [
            helper.make_tensor_value_info(i, TensorProto.INT64, []),
            helper.make_tensor_value_info(holds, TensorProto.BOOL, []),
            *(
                helper.make_tensor_value_info(name, dtype, None)
                for name, (_, dtype) in zip(names, values, strict=True)
            ),
        ]

        def body():
            goes_on, *after = write(i, holds, *names)
            dtypes = [dtype for _, dtype in values]
            return [(goes_on, TensorProto.BOOL), *zip(after, dtypes, strict=True)]

        body = self._graph("body", body, inputs)
        operands = [x for x, _ in values]
        return self.node("Loop", count, condition, *operands, body=body)

    def doubled_to(self, n):
        def write(i, holds, power):
            after = self.node("Mul", power, i64(2))
            return self.node("Less", after, n), after

        starts = self.node("Less", i64(1), n)
        return self._loop(None, starts, [(self.name(i64(1)), TensorProto.INT64)], write)

    def loop(self, count, x):
        def write(i, holds, x):
            step = self.node("Mul", self.to_float(i), np.float32(0.25))
            return holds, self.node("Add", self.node("Mul", x, np.float32(0.5)), step)

        return self._loop(count, np.asarray(True), [(x, TensorProto.FLOAT)], write)

    @staticmethod
    def reads(node):
        inner = [a.g for a in node.attribute if a.HasField("g")]
        return {*node.input}.union(*map(_read, inner))


def _read(graph) -> set[str]:
    """What a graph reads of those around it."""
    names = {value.name for value in graph.input} | {x for node in graph.node for x in node.output}
    read = {x for node in graph.node for x in node.input}
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                read |= _read(attribute.g)
    return read - names - {""}
