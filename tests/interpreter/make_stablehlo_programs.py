"""Writes stablehlo_programs.npz: programs of StableHLO as JAX writes them, and what XLA computes.

    python tests/interpreter/make_stablehlo_programs.py

Needs jax 0.10 alone. A program is a list of graphs (the first is the main one, others are regions)
of operators, with the names and options of TFLite's schema. The numbers of all programs' inputs and
results follow one another.
"""

import json
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax
from jaxlib.mlir import ir

jax.config.update("jax_enable_x64", True)
HERE = Path(__file__).parent
DIRECTIONS = ("EQ", "NE", "GE", "GT", "LE", "LT")
TYPES = ("NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED")
REGIONS = {
    "reduce": ["body_subgraph_index"],
    "reduce_window": ["body_subgraph_index"],
    "scatter": ["update_computation_subgraph_index"],
    "sort": ["comparator_subgraph_index"],
    "while": ["cond_subgraph_index", "body_subgraph_index"],
}
LISTS = [
    *("dimensions", "permutation", "broadcast_dimensions", "slice_sizes", "start_indices"),
    *("limit_indices", "strides", "edge_padding_low", "edge_padding_high", "interior_padding"),
    *("window_dimensions", "window_strides", "base_dilations", "window_dilations", "padding"),
    *("lhs_dilation", "rhs_dilation", "window_reversal"),
]
NUMBERS = ["dimension", "iota_dimension", "feature_group_count", "batch_group_count", "is_stable"]


def type_of(kind):
    """(shape, dtype) of an MLIR type."""
    kind = ir.RankedTensorType(kind)
    name = str(kind.element_type)
    dtype = {"i1": "bool", "bf16": "bfloat16", "complex<f32>": "complex64"}.get(name)
    if dtype is None:
        sign = {"f": "float", "u": "uint", "i": "int", "s": "int"}[name[0]]
        dtype = sign + name.lstrip("fuis")
    return list(kind.shape), dtype


def ints(attribute):
    return [int(n) for n in np.asarray(attribute).ravel()]


def options_of(op):
    """The options of TFLite's record for an operator."""
    from jaxlib.mlir.dialects import stablehlo as hlo

    name, attributes, options = op.name.removeprefix("stablehlo."), op.attributes, {}
    for key in (*LISTS, *NUMBERS):
        if key in attributes:
            value = attributes[key]
            options[key] = ints(value) if key in LISTS else int(value.value)
    if name == "compare":
        words = str(attributes["comparison_direction"]), str(attributes["compare_type"])
        options["comparison_direction"] = DIRECTIONS.index(words[0].split()[-1].rstrip(">"))
        options["compare_type"] = TYPES.index(words[1].split()[-1].rstrip(">"))
    if name == "gather":
        dims = hlo.GatherDimensionNumbers(attributes["dimension_numbers"])
        assert not dims.operand_batching_dims
        for key in ("offset_dims", "collapsed_slice_dims", "start_index_map"):
            options[key] = list(getattr(dims, key))
        options["index_vector_dim"] = dims.index_vector_dim
    if name == "scatter":
        dims = hlo.ScatterDimensionNumbers(attributes["scatter_dimension_numbers"])
        for key, theirs in (
            ("update_window_dims", "update_window_dims"),
            ("inserted_window_dims", "inserted_window_dims"),
            ("scatter_dims_to_operand_dims", "scattered_dims_to_operand_dims"),
        ):
            options[key] = list(getattr(dims, theirs))
        options["index_vector_dim"] = dims.index_vector_dim
    if name == "dot_general":
        dims = hlo.DotDimensionNumbers(attributes["dot_dimension_numbers"])
        for key in ("lhs_batching", "rhs_batching", "lhs_contracting", "rhs_contracting"):
            options[f"{key}_dimensions"] = list(getattr(dims, f"{key}_dimensions"))
    if name == "convolution":
        dims = hlo.ConvDimensionNumbers(attributes["dimension_numbers"])
        for side in ("input", "kernel", "output"):
            options[f"{side}_spatial_dimensions"] = list(
                getattr(dims, f"{side}_spatial_dimensions")
            )
        options |= {
            "input_batch_dimension": dims.input_batch_dimension,
            "input_feature_dimension": dims.input_feature_dimension,
            "kernel_input_feature_dimension": dims.kernel_input_feature_dimension,
            "kernel_output_feature_dimension": dims.kernel_output_feature_dimension,
            "output_batch_dimension": dims.output_batch_dimension,
            "output_feature_dimension": dims.output_feature_dimension,
        }
    if name == "composite":
        options["name"] = attributes["name"].value
    return options


def constant_of(attribute):
    """A constant as nested lists, one number where all are equal."""
    dense = ir.DenseElementsAttr(attribute)
    return dense.get_splat_value().value if dense.is_splat else np.array(dense).tolist()


class Writer:
    """The graphs of one module."""

    def __init__(self, module):
        self.functions = {f.name.value: f for f in module.body.operations}
        self.graphs, self.constants = [], {}
        self.add(self.functions["main"].regions[0].blocks[0])

    def add(self, block, captured=()):
        """The number of a new graph of a block; what it takes from outside is an input, too."""
        graph = {"tensors": [], "inputs": [], "operators": [], "outputs": []}
        self.graphs.append(graph)
        number, values = len(self.graphs) - 1, {}

        def tensor(value):
            if value not in values:
                values[value] = len(graph["tensors"])
                graph["tensors"].append([*type_of(value.type), self.constants.get(value)])
            return values[value]

        graph["inputs"] = [tensor(x) for x in (*block.arguments, *captured)]
        for op in block.operations:
            op = op.operation
            if op.name in ("stablehlo.return", "func.return"):
                graph["outputs"] = [tensor(x) for x in op.operands]
            elif op.name == "stablehlo.constant":
                self.constants[op.results[0]] = constant_of(op.attributes["value"])
            else:
                graph["operators"].append(self.operator(op, tensor))
        return number

    def captured(self, op):
        """What the regions of an operator take from outside, but for constants."""
        values = {}
        for region in op.regions:
            inner = [x.operation for x in region.blocks[0].operations]
            results = {result for x in inner for result in x.results}
            values |= dict.fromkeys(
                v for x in inner for v in x.operands if v not in results and v not in self.constants
            )
        return list(values)

    def operator(self, op, tensor):
        name = op.name.removeprefix("stablehlo.")
        options = {} if name == "call" else options_of(op)
        for key, region in zip(REGIONS.get(name, ()), op.regions, strict=False):
            options[key] = self.add(region.blocks[0])
        operands = list(op.operands)
        if name == "case":
            captured = self.captured(op)
            operands += captured
            branches = [self.add(region.blocks[0], captured) for region in op.regions]
            options["branch_subgraph_indices"] = branches
        if name == "composite":
            called = self.functions[op.attributes["decomposition"].value]
            options["decomposition_subgraph_index"] = self.add(called.regions[0].blocks[0])
        if op.name == "func.call":
            called = self.functions[op.attributes["callee"].value]
            options["subgraph"] = self.add(called.regions[0].blocks[0])
        kind = "CALL" if op.name == "func.call" else f"STABLEHLO_{name.upper()}"
        operands, results = ([tensor(x) for x in side] for side in (operands, op.results))
        return [kind, operands, results, options]


def drawn(dtype, *shape, seed=0, low=-40, high=40):
    random = np.random.default_rng((seed, *shape))
    kind = np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    if kind.kind == "b":
        return random.integers(0, 2, shape).astype(bool)
    if kind.kind in "iu":
        return random.integers(max(low, np.iinfo(kind).min), high, shape).astype(kind)
    if kind.kind == "c":
        return (random.normal(size=shape) + 1j * random.normal(size=shape)).astype(kind)
    return random.normal(size=shape).astype(kind)


TWO = np.int32(2)
SPECIAL = np.float32([np.nan, 1, -0.0, 0.0, -np.inf, np.inf, -np.nan, -2, 1, 0.0])
FLOATS, INTEGERS = (
    ("float32", "float64", "float16", "bfloat16"),
    ("int8", "uint8", "int16", "int32", "int64", "uint32", "uint64"),
)


def convolved(x, w, out=None, **options):
    return lax.conv_general_dilated(x, w, preferred_element_type=out, **options)


def magnitude(x):
    return x if x.dtype.kind == "u" else lax.abs(x)


def twice_and_sum(a, b):
    return a * 2 + b


def largest(a, b):
    return lax.select(a < b, b, lax.select(b < a, a, lax.max(a, b)))


def soft(a, b):
    return jnp.maximum(a, b) + lax.log(1 + jnp.exp(-jnp.abs(a - b)))


def reduced(body, start, x, axes):
    return lax.reduce(x, np.asarray(start, x.dtype), body, axes)


def windowed(body, start, x, **options):
    return lax.reduce_window(x, np.asarray(start, x.dtype), body, **options)


def looped(x):
    return lax.while_loop(
        lambda s: s[0] < 5,
        lambda s: (s[0] + 1, jnp.sort(s[1] * 3 % 11), jnp.argmax(s[1]).astype(jnp.int32) + s[2]),
        (jnp.int32(0), x, jnp.int32(0)),
    )


def collatz(x):
    """Steps down to 1, in integers."""
    return lax.while_loop(
        lambda s: s[1] > 1,
        lambda s: (
            s[0] + 1,
            lax.select(s[1] % TWO == 0, lax.div(s[1], TWO), 3 * s[1] + 1),
            lax.rem(s[2], jnp.float32(0.7)) + 1,
        ),
        (jnp.int32(0), x, jnp.float32(0)),
    )


def chosen(i, x):
    return lax.switch(i, [lambda x: x + 1, lambda x: x * 2, lambda x: -x], x)


def scattered(update, x, i, y):
    return update(x.at[i])(y)


def programs():
    """name -> (function, inputs)."""
    f, i = partial(drawn, "float32"), partial(drawn, "int32")
    for dtype in (*FLOATS, *INTEGERS, "bool"):
        x = drawn(dtype, 5, 13) if dtype != "float32" else np.resize(SPECIAL, (5, 13))
        keyed = drawn(dtype, 5, 13, low=0, high=6)
        yield f"sort/{dtype}", (lambda x: (lax.sort(x, dimension=0), lax.sort(x, dimension=1))), [x]
        yield f"argsort/{dtype}", (lambda x: jnp.argsort(x, axis=1)), [keyed]
        yield (
            f"sort_two_keys/{dtype}",
            partial(lax.sort, dimension=1, num_keys=2),
            ([[keyed, drawn("int32", 5, 13, low=0, high=3), f(5, 13)]],),
        )
        yield f"argmax/{dtype}", (lambda x: (jnp.argmax(x, 1), jnp.argmin(x, 0))), [x]
        if dtype == "bool":
            continue
        yield (
            f"cumulative/{dtype}",
            (lambda x: (lax.cummax(x, axis=1), lax.cumprod(x, axis=0), lax.cumsum(x, axis=1))),
            [drawn(dtype, 4, 6, low=0, high=3)],
        )
        yield (
            f"reduce/{dtype}",
            partial(reduced, twice_and_sum, 1, axes=(0, 2)),
            [drawn(dtype, 3, 4, 5)],
        )
        yield (
            f"window/{dtype}",
            partial(
                windowed,
                twice_and_sum,
                1,
                window_dimensions=(2, 3),
                window_strides=(1, 2),
                padding="VALID",
                window_dilation=(2, 1),
            ),
            [drawn(dtype, 4, 6)],
        )
        lowest = -np.inf if dtype in FLOATS else np.iinfo(dtype).min
        yield (
            f"window_padded/{dtype}",
            partial(
                windowed,
                largest,
                lowest,
                window_dimensions=(2, 3),
                window_strides=(2, 1),
                padding=((1, 0), (-1, 2)),
                base_dilation=(2, 1),
                window_dilation=(1, 2),
            ),
            [drawn(dtype, 4, 6)],
        )
        yield (
            f"scatter_multiply/{dtype}",
            partial(scattered, lambda at: at.multiply),
            [drawn(dtype, 6, 3), np.int32([[1], [4], [1], [5]])[:, 0], drawn(dtype, 4, 3, seed=2)],
        )
        yield (
            f"scatter_any/{dtype}",
            lambda x, i, u: lax.scatter_apply(
                x,
                i,
                lambda v: v * 2 - 1,
                lax.ScatterDimensionNumbers((1,), (0,), (0,)),
                update_shape=u.shape,
            ),
            [
                drawn(dtype, 6, 3),
                np.int32([[1], [4], [1], [9], [1]]),
                np.zeros((5, 3), drawn(dtype, 1).dtype),
            ],
        )
        yield (
            f"elements/{dtype}",
            lambda x, y: (
                x + y,
                x - y,
                x * y,
                lax.max(x, y),
                lax.min(x, y),
                magnitude(x),
                lax.clamp(lax.full_like(y, 1), x, lax.full_like(y, 3)),
                x < y,
                x == y,
                lax.select(x <= y, x, y),
                lax.div(x, y),
                lax.rem(x, y),
                x.astype(jnp.int32),
            ),
            [drawn(dtype, 3, 7), drawn(dtype, 3, 7, seed=3, low=1)],
        )
    for dtype in FLOATS:
        yield (
            f"functions/{dtype}",
            lambda x: (
                lax.exp(x),
                lax.floor(x * 4),
                lax.tanh(x),
                lax.cos(x),
                lax.logistic(x),
                lax.cbrt(x),
                lax.log(lax.abs(x)),
                lax.rsqrt(lax.abs(x)),
                lax.pow(lax.abs(x), x),
                lax.neg(x),
            ),
            [drawn(dtype, 4, 9)],
        )
    for dtype in INTEGERS:
        lowest, one = np.iinfo(dtype).min, np.array(-1).astype(dtype)
        x = np.array([5, 7, lowest, lowest, 0, 100, lowest], dtype)
        y = np.array([0, 2, one, 0, 0, one, 3], dtype)
        yield f"edges/{dtype}", lambda x, y: (lax.div(x, y), lax.rem(x, y), x << y), [x, y]
    for dtype in INTEGERS:
        yield (
            f"bits/{dtype}",
            lambda x, y: (x & y, x | y, lax.shift_left(x, y % 6)),
            [drawn(dtype, 3, 7), drawn(dtype, 3, 7, seed=3, low=0)],
        )
    yield (
        "complex",
        lambda x, y: (x * y, x + y, x - y, x / y),
        [drawn("complex64", 3, 4), drawn("complex64", 3, 4, seed=1)],
    )
    yield (
        "compare_total_order",
        lambda x, y: tuple(lax.lt_to_p.bind(a, b) for a, b in ((x, y), (y, x))),
        [np.repeat(SPECIAL, 10), np.tile(SPECIAL, 10)],
    )
    yield "log_add_exp", partial(reduced, soft, -np.inf, axes=(1,)), [f(4, 30)]
    yield (
        "integers/convolution",
        partial(
            convolved,
            out=np.int32,
            window_strides=(2, 1),
            padding=((1, 2), (0, 1)),
            rhs_dilation=(1, 2),
        ),
        [drawn("int8", 2, 3, 8, 9), drawn("int8", 4, 3, 3, 2)],
    )
    yield (
        "integers/convolution_in_groups",
        partial(convolved, window_strides=(1,), padding="SAME", feature_group_count=3),
        [i(2, 6, 8), i(9, 2, 3)],
    )
    yield (
        "integers/convolution_transposed",
        partial(
            convolved,
            window_strides=(1, 1),
            padding=((2, 1), (-1, 2)),
            lhs_dilation=(2, 3),
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
        ),
        [i(2, 4, 5, 3), i(2, 3, 3, 4)],
    )
    yield (
        "integers/convolution_of_batch_groups",
        partial(convolved, window_strides=(1, 1), padding="VALID", batch_group_count=2),
        [i(4, 3, 5, 6), i(6, 3, 2, 3)],
    )
    for dtype in ("float32", "float16", "bfloat16", "float64", "int64", "uint8"):
        yield (
            f"convolution_3d/{dtype}",
            partial(convolved, window_strides=(1, 2, 1), padding="SAME"),
            [drawn(dtype, 1, 2, 4, 5, 3), drawn(dtype, 3, 2, 2, 3, 2)],
        )
    yield (
        "dot",
        lambda x, y: lax.dot_general(
            x, y, (((2,), (1,)), ((0,), (0,))), preferred_element_type=np.int32
        ),
        [drawn("int8", 2, 3, 5), drawn("int8", 2, 5, 4)],
    )
    yield (
        "dot_bfloat16",
        lambda x, y: lax.dot_general(x, y, (((1,), (0,)), ((), ()))),
        [drawn("bfloat16", 3, 5), drawn("bfloat16", 5, 4)],
    )
    yield (
        "slices",
        lambda x, y, a, b: (
            lax.dynamic_slice(x, (a, b), (2, 3)),
            lax.dynamic_update_slice(x, y, (a, b)),
            x[1:5:2, ::3],
            x.T,
            lax.pad(x, np.float32(7), ((1, -1, 2), (-2, 3, 0))),
        ),
        [f(6, 7), f(2, 2), np.int32(5), np.int32(-3)],
    )
    yield (
        "moves",
        lambda x: (
            jnp.concatenate([x, x[:1]]),
            x.reshape(3, 8),
            lax.broadcast_in_dim(x, (2, 4, 6), (1, 2)),
            lax.iota(np.int32, 5),
            x[jnp.int32([1, 3, 0])],
            jnp.take(x, jnp.int32([5, 0]), axis=1),
        ),
        [f(4, 6)],
    )
    yield "loop", looped, [i(8, low=0)]
    yield "collatz", collatz, [np.int32(27)]
    for k in (0, 2, 7, -1):
        yield f"case/{k}", chosen, [np.int32(k), f(3)]
    yield "composite", lax.composite(lambda x, y: x - y, "a.b"), [f(3), f(3)]
    yield (
        "top_k_by_sort",
        lambda x: [
            y[:, -4:] for y in lax.sort((x, lax.broadcasted_iota(np.int32, x.shape, 1)), num_keys=1)
        ],
        [f(3, 37)],
    )
    yield "median", lambda x: jnp.sort(x, axis=0)[4], [f(9, 3)]
    yield (
        "segments",
        lambda x, i: (
            jnp.zeros(4).at[i].add(x),
            jnp.zeros(4, np.float32).at[i].max(x),
            jnp.ones(4, np.float32).at[i].min(x),
        ),
        [f(9), np.int32([0, 3, 1, 1, 2, 0, 3, 3, 9])],
    )


def main():
    content, texts = [], {}
    for name, function, inputs in programs():
        inputs = inputs if not isinstance(inputs, tuple) else inputs[0]
        expected = jax.tree.leaves(jax.jit(function)(*inputs))
        lowered = jax.jit(function, keep_unused=True).lower(*inputs)
        texts[name] = Writer(lowered.compiler_ir("stablehlo")).graphs
        content += [np.asarray(x).tobytes() for x in (*jax.tree.leaves(inputs), *expected)]
    graphs = [graph for program in texts.values() for graph in program]
    kinds = sorted({op[0] for graph in graphs for op in graph["operators"]})
    print(len(texts), "programs,", len(kinds), "operators:", *kinds)
    text, numbers = (
        np.frombuffer(x, np.uint8) for x in (json.dumps(texts).encode(), b"".join(content))
    )
    np.savez_compressed(HERE / "stablehlo_programs.npz", programs=text, numbers=numbers)


if __name__ == "__main__":
    main()
