"""Writes programs over shapes as ONNX nodes."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from stored import values

INTEGERS = {
    "add": "Add",
    "sub": "Sub",
    "mul": "Mul",
    "div": "Div",
    "mod": "Mod",
    "min": "Min",
    "max": "Max",
}
COMPARISONS = {
    "greater": "Greater",
    "less": "Less",
    "greater_equal": "GreaterOrEqual",
    "equal": "Equal",
}
REDUCTIONS = {"mean": "ReduceMean", "sum": "ReduceSum", "max": "ReduceMax"}
UNARY = {"relu": "Relu", "neg": "Neg", "abs": "Abs"}
OPSET = 18
FAR = 2**62


def i64(x):
    return np.asarray(x, np.int64)


class Onnx:
    """An ONNX model. Sizes are int64 scalars, channels come second; handles are names."""

    kind = "onnx"
    has_branches = has_resize = False  # If and Resize have no lowering

    def __init__(self, rng):
        self.rng = rng
        self.nodes, self.constants, self.inputs, self.outputs = [], {}, [], []

    def scope(self):
        return nullcontext()

    @staticmethod
    def channels(rank):
        return 1

    @staticmethod
    def spatial(rank):
        return list(range(2, rank))

    @staticmethod
    def quotient(a, b):
        """Rounded towards zero."""
        return np.sign(a) * (np.abs(a) // b)

    def name(self, x) -> str:
        """The tensor's name; numbers and arrays become initializers."""
        if isinstance(x, str):
            return x
        x = np.asarray(x, np.int64 if isinstance(x, int | list) else None)
        name = f"c{len(self.constants)}"
        self.constants[name] = x
        return name

    def node(self, kind, *inputs, n=1, **attributes):
        """The result of a node, a list where there are several."""
        names = [f"t{len(self.nodes)}" + (f"_{i}" if n > 1 else "") for i in range(n)]
        operands = ["" if x is None else self.name(x) for x in inputs]
        self.nodes.append(helper.make_node(kind, operands, names, **attributes))
        return names[0] if n == 1 else names

    def input(self, name, dims, dtype):
        kind = {"float32": TensorProto.FLOAT, "int32": TensorProto.INT32}[dtype]
        self.inputs.append(helper.make_tensor_value_info(name, kind, list(dims)))
        return name

    def number(self, value):
        return np.int64(value)

    def vector(self, items):
        if all(isinstance(item, int | np.integer) for item in items):
            return i64(items)
        parts, row = [], []
        for item in [*items, None]:
            if isinstance(item, int | np.integer):
                row.append(int(item))
                continue
            if row:
                parts.append(i64(row))
                row = []
            if item is not None:
                parts.append(self.node("Unsqueeze", item, i64([0])))
        return parts[0] if len(parts) == 1 else self.node("Concat", *parts, axis=0)

    def dim(self, x, axis, rank):
        way = self.rng.randrange(3)
        if way == 0:
            return self.node("Squeeze", self.node("Shape", x, start=axis, end=axis + 1), i64([0]))
        shape = self.node("Shape", x)
        if way == 1:
            part = self.node("Slice", shape, i64([axis]), i64([axis + 1]), i64([0]))
            return self.node("Squeeze", part, i64([0]))
        return self.node("Gather", shape, i64(axis), axis=0)

    def count(self, x):
        return self.node("Size", x)

    def integer(self, kind, a, b):
        return self.node(INTEGERS[kind], a, b)

    def negative(self, a):
        return self.node("Neg", a)

    def compare(self, kind, a, b):
        return self.node(COMPARISONS[kind], a, b)

    def select(self, condition, a, b):
        return self.node("Where", condition, a, b)

    def to_float(self, a):
        return self.node("Cast", a, to=TensorProto.FLOAT)

    def to_int(self, a):
        return self.node("Cast", a, to=TensorProto.INT64)

    def rounded(self, kind, x):
        return self.node({"floor": "Floor", "ceil": "Ceil"}[kind], x)

    def times(self, a, b):
        return self.node("Mul", a, b)

    def over(self, a, b):
        return self.node("Div", a, b)

    def plus(self, a, b):
        return self.node("Add", a, b)

    def unary(self, kind, x):
        return self.node("Mul", x, x) if kind == "square" else self.node(UNARY[kind], x)

    def pad(self, x, pairs):
        if self.rng.random() < 0.3:
            axes = [i for i, pair in enumerate(pairs) if pair != (0, 0)]
        else:
            axes = list(range(len(pairs)))
        befores, afters = zip(*[pairs[i] for i in axes], strict=True) if axes else ((), ())
        pads = self.vector([*befores, *afters])
        if len(axes) in (0, len(pairs)):
            return self.node("Pad", x, pads) if axes else self.node("Identity", x)
        return self.node("Pad", x, pads, None, i64(axes))

    def reshape(self, x, dims, copied):
        """`copied`: positions whose dimension a 0 may copy."""
        if copied and -1 not in dims and self.rng.random() < 0.5:
            dims = [0 if i in copied else n for i, n in enumerate(dims)]
        return self.node("Reshape", x, self.vector(dims))

    def slice(self, x, rank, axis, begin, end, step):
        begin = 0 if begin is None else begin
        end = FAR if end is None else end
        return self.node(
            "Slice", x, self.vector([begin]), self.vector([end]), i64([axis]), i64([step])
        )

    def part(self, x, rank, axis, begin, size):
        return self.slice(x, rank, axis, begin, self.integer("add", begin, size), 1)

    def concat(self, xs, axis):
        return self.node("Concat", *xs, axis=axis)

    def transpose(self, x, order):
        return self.node("Transpose", x, perm=order)

    def tile(self, x, counts):
        return self.node("Tile", x, self.vector(counts))

    def fill(self, dims, value):
        if self.rng.random() < 0.5:
            return self.node("Expand", np.float32(value), self.vector(dims))
        tensor = numpy_helper.from_array(np.float32([value]))
        return self.node("ConstantOfShape", self.vector(dims), value=tensor)

    def expand(self, x, dims):
        return self.node("Expand", x, self.vector(dims))

    def unsqueeze(self, x, axis):
        return self.node("Unsqueeze", x, i64([axis]))

    def squeeze(self, x, axis):
        return self.node("Squeeze", x, i64([axis]))

    def range(self, n):
        return self.node("Range", i64(0), n, i64(1))

    def gather(self, x, indices, axis):
        return self.node("Gather", x, indices, axis=axis)

    def embedding(self, ids, n, features):
        return self.node("Gather", values((n, features), seed=n), ids, axis=0)

    def reverse(self, x, axis):
        return self.node("Slice", x, i64([-1]), i64([-FAR]), i64([axis]), i64([-1]))

    def matmul(self, a, b, rank, transpose):
        if not transpose:
            return self.node("MatMul", a, b)
        order = [*range(rank - 2), rank - 1, rank - 2]
        return self.node("MatMul", a, self.node("Transpose", b, perm=order))

    def reduce(self, kind, x, axes, keep):
        return self.node(REDUCTIONS[kind], x, i64(axes), keepdims=int(keep))

    def _windows(self, size, stride, padding):
        if padding == "SAME":
            return {"strides": [stride] * size, "auto_pad": "SAME_UPPER"}
        return {"strides": [stride] * size}

    def pool(self, kind, x, rank, size, stride, padding):
        function = {"max": "MaxPool", "average": "AveragePool"}[kind]
        return self.node(function, x, kernel_shape=[size] * 2, **self._windows(2, stride, padding))

    def conv(self, x, rank, weights, stride, dilation, padding):
        """Weights are [*taps, in, out]."""
        n = weights.ndim - 2
        weights = np.ascontiguousarray(np.moveaxis(weights, (-1, -2), (0, 1)))
        attributes = {"strides": [stride] * n, "dilations": [dilation] * n}
        before = [(k - 1) * dilation for k in weights.shape[2:]]
        if padding == "CAUSAL":
            attributes["pads"] = [*before, *[0] * n]
        elif padding == "SAME" and stride == 1:
            attributes["pads"] = [*[k // 2 for k in before], *[k - k // 2 for k in before]]
        elif padding == "SAME":
            attributes["auto_pad"] = "SAME_UPPER"
        return self.node("Conv", x, weights, **attributes)

    def output(self, x):
        name = f"out{len(self.outputs)}"
        self.nodes.append(helper.make_node("Identity", [self.name(x)], [name]))
        self.outputs.append(name)

    @staticmethod
    def reads(node):
        """The names of what a node needs."""
        return node.input

    def content(self) -> bytes:
        """What the outputs need: steps that were given up leave nodes."""
        expected, nodes = set(self.outputs), []
        for node in reversed(self.nodes):
            if expected.intersection(node.output):
                expected.update(self.reads(node))
                nodes.insert(0, node)
        outputs = [helper.make_empty_tensor_value_info(name) for name in self.outputs]
        constants = [
            numpy_helper.from_array(a, name)
            for name, a in self.constants.items()
            if name in expected
        ]
        graph = helper.make_graph(nodes, "program", self.inputs, outputs, constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
        model.ir_version = 8
        return model.SerializeToString(deterministic=True)
