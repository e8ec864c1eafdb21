"""StableHLO's operators that need declared shapes or subgraphs: numpy says what they give."""

import itertools

import ml_dtypes
import numpy as np
import pytest
from building import Builder, save
from cases import OPTIMIZED, counting, f32, floats, i32
from declared import NHWC, body, difference, model
from flatbuffers import flexbuffers
from running import answers

from flatlite.lite import Interpreter
from flatlite.schema.model import Quantization


def check(kind, inputs, expected, *bodies, litert=None, **options):
    """Runs the operator and compares it with numpy's answers, and LiteRT's where it has it."""
    expected = [np.asarray(x) for x in expected]
    content = model(kind, inputs, [(x.shape, x.dtype) for x in expected], *bodies, **options)
    ours = answers(Interpreter(model_content=content), *inputs)
    for got, want in zip(ours, expected, strict=True):
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    if litert is not None:
        theirs = litert.run(content, [list(inputs)], OPTIMIZED)
        assert not isinstance(theirs, str), theirs
        for got, want in zip(ours, theirs[0], strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_shapes_come_from_the_file():
    x = floats(2, 1, 3)
    check("RESHAPE", [x], [x.reshape(3, 2)])
    check("BROADCAST_IN_DIM", [x[:, 0]], [np.broadcast_to(x[:, 0].T[:, None], (3, 4, 2))],
          broadcast_dimensions=[2, 0])  # fmt: skip
    check("BROADCAST_IN_DIM", [x], [np.broadcast_to(x, (2, 5, 3))], broadcast_dimensions=[0, 1, 2])
    check("BROADCAST_IN_DIM", [f32(2)], [np.full((2, 2), 2, np.float32)], broadcast_dimensions=[])
    for axis in range(2):
        check("IOTA", [], [np.indices((3, 4))[axis].astype(np.int32)], iota_dimension=axis)


@pytest.mark.parametrize("kind", ["STABLEHLO_ADD", "MUL", "STABLEHLO_MAXIMUM", "MINIMUM"])
def test_reduce(kind):
    x, start = floats(2, 3, 4, low=0.5), f32(0.75)
    function = {"A": np.add, "M": np.multiply}.get(kind.removeprefix("STABLEHLO_")[0])
    function = {"MAXIMUM": np.maximum, "MINIMUM": np.minimum}.get(
        kind.removeprefix("STABLEHLO_"), function
    )
    for axes in ([1], [0, 2], [0, 1, 2], []):
        want = function.reduce(x, tuple(axes), initial=start) if axes else function(x, start)
        check("REDUCE", [x, start], [want], body(kind), dimensions=axes, body_subgraph_index=1)


def test_starts_of_one_element_in_a_dimension():
    x, update = floats(4, 5), floats(2, 2)
    check("DYNAMIC_SLICE", [x, i32([1]), i32(3)], [x[1:3, 3:5]], slice_sizes=[2, 2])
    want = x.copy()
    want[2:4, 0:2] = update
    check("DYNAMIC_UPDATE_SLICE", [x, update, i32([[7]]), i32([-2])], [want])


@pytest.mark.parametrize("kind", ["ADD", "MULTIPLY", "MAXIMUM", "MINIMUM"])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_reduce_integers(kind, dtype):
    whole, start = np.arange(24, dtype=dtype).reshape(2, 3, 4) - 7, np.array(5, dtype)
    function = getattr(np, kind.lower())
    for x, axes in ((whole, [1]), (whole, [0, 2]), (whole, []), (whole[:, :0], [1])):
        want = function.reduce(x, tuple(axes), initial=start) if axes else function(x, start)
        check("REDUCE", [x, start], [want.astype(dtype)], body(f"STABLEHLO_{kind}"),
              dimensions=axes, body_subgraph_index=1)  # fmt: skip


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.int64])
def test_bits(dtype):
    x, y = (np.array([[5, -7, 120], [0, 93, -1]]).astype(dtype) for _ in range(2))
    y = np.roll(y, 1)
    check("AND", [x, y], [x & y])
    check("OR", [x, y], [x | y])


def test_reduce_by_any_subgraph():
    x, start = floats(3, 4), f32(2)
    want = start - (x / 2).sum(axis=1)
    check("REDUCE", [x, start], [want], difference(), dimensions=[1], body_subgraph_index=1)


def test_reduce_pairs():
    """The largest element and where it is: two operands that one subgraph folds."""
    b = Builder("body")
    best, place, x, i = (
        b.input(n, (), t)
        for n, t in (("best", "FLOAT32"), ("place", "INT32"), ("x", "FLOAT32"), ("i", "INT32"))
    )
    larger = b.tensor("larger", (), "BOOL")
    outs = b.tensor("out", ()), b.tensor("at", (), "INT32")
    b.op("GREATER", [x, best], [larger])
    b.op("SELECT_V2", [larger, x, best], [outs[0]])
    b.op("SELECT_V2", [larger, i, place], [outs[1]])
    x = floats(3, 5)
    columns = np.broadcast_to(np.arange(5, dtype=np.int32), x.shape).copy()
    want = [x.max(axis=1), x.argmax(axis=1).astype(np.int32)]
    check("REDUCE", [x, columns, f32(-np.inf), i32(-1)], want, b.outputs(*outs), dimensions=[1],
          body_subgraph_index=1)  # fmt: skip


WINDOWS = {
    "plain": {},
    "strides": {"window_strides": [2, 1]},
    "padding": {"padding": [1, 0, 0, 2]},
    "cut": {"padding": [-1, 0, 1, -2]},
    "base": {"base_dilations": [2, 3], "padding": [1, 1, 0, 0]},
    "window": {"window_dilations": [2, 2], "window_strides": [1, 2]},
}


def windowed(
    x, start, window_dimensions, window_strides, base_dilations, window_dilations, padding
):
    """Each window's sum, by the definition, element by element."""
    low_high = np.reshape(padding, (2, 2))
    sizes = [
        (n - 1) * k + 1 + a + b
        for n, k, (a, b) in zip(x.shape, base_dilations, low_high, strict=True)
    ]
    spans = [(n - 1) * k + 1 for n, k in zip(window_dimensions, window_dilations, strict=True)]
    shape = [(n - m) // s + 1 for n, m, s in zip(sizes, spans, window_strides, strict=True)]
    out = np.full(shape, start, x.dtype)
    for place in np.ndindex(*shape):
        for tap in np.ndindex(*window_dimensions):
            at = (
                np.array(place) * window_strides + np.array(tap) * window_dilations - low_high[:, 0]
            )
            whole = np.array(at) % base_dilations == 0
            at = at // base_dilations
            inside = whole.all() and (at >= 0).all() and (at < x.shape).all()
            out[place] += x[tuple(at)] if inside else start
    return out


@pytest.mark.parametrize("name", WINDOWS)
def test_reduce_window(name, litert):
    x, start = counting((5, 6), "float32"), f32(0)
    options = {"window_dimensions": [2, 3], "window_strides": [1, 1], "base_dilations": [1, 1],
               "window_dilations": [1, 1], "padding": [0, 0, 0, 0], **WINDOWS[name]}  # fmt: skip
    want = windowed(x, start, **options)
    check("REDUCE_WINDOW", [x, start], [want], body("STABLEHLO_ADD"), litert=litert,
          body_subgraph_index=1, **options)  # fmt: skip


def test_gather(litert):
    x = counting((3, 4, 2), "int32")
    places = i32([[[0, 0], [1, 0], [2, 1]], [[0, 1], [1, 1], [0, 9]]])
    want = np.empty((2, 3, 2, 2), np.int32)
    for i, j in np.ndindex(2, 3):
        column, row = (min(max(k, 0), m) for k, m in zip(places[i, j], (2, 2), strict=True))
        want[i, j] = x[row, column : column + 2]
    check("GATHER", [x, places], [want], litert=litert, offset_dims=[2, 3],
          collapsed_slice_dims=[0], start_index_map=[1, 0], index_vector_dim=2,
          slice_sizes=[1, 2, 2])  # fmt: skip
    check("GATHER", [x, i32([2, 0])], [x[:, :, 0][:, [2, 0]]], offset_dims=[0],
          collapsed_slice_dims=[1, 2], start_index_map=[1], index_vector_dim=1,
          slice_sizes=[3, 1, 1])  # fmt: skip


UPDATES = {"second": None, "STABLEHLO_ADD": np.add, "STABLEHLO_MULTIPLY": np.multiply,
           "STABLEHLO_MAXIMUM": np.maximum}  # fmt: skip


@pytest.mark.parametrize("kind", UPDATES)
def test_scatter(kind, litert):
    x, rows, updates = floats(5, 3), i32([[4], [1], [7], [1]]), floats(4, 3, seed=2)
    want = x.copy()
    for (row,), update in zip(rows, updates, strict=True):
        if row < 5:
            want[row] = update if kind == "second" else UPDATES[kind](want[row], update)
    check("SCATTER", [x, rows, updates], [want], body(kind), litert=litert, update_window_dims=[1],
          inserted_window_dims=[0], scatter_dims_to_operand_dims=[0], index_vector_dim=1,
          update_computation_subgraph_index=1)  # fmt: skip


def test_scatter_by_any_subgraph():
    x, rows, updates = floats(4), i32([[0], [3], [0]]), floats(3, seed=2)
    want = x.copy()
    for (row,), update in zip(rows, updates, strict=True):
        want[row] -= update / 2
    check("SCATTER", [x, rows, updates], [want], difference(), update_window_dims=[],
          inserted_window_dims=[0], scatter_dims_to_operand_dims=[0], index_vector_dim=1,
          update_computation_subgraph_index=1)  # fmt: skip


def test_sort_operands_together():
    keys, values = floats(3, 6), counting((3, 6), "int32")
    b = Builder("comparator")
    first = [b.input(n, ()) for n in "ab"]
    _ = [b.input(n, (), "INT32") for n in "cd"]
    out = b.tensor("out", (), "BOOL")
    b.op("STABLEHLO_COMPARE", first, [out], comparison_direction=3)
    order = np.argsort(-keys, axis=1, kind="stable")
    want = [np.take_along_axis(x, order, 1) for x in (keys, values)]
    check("SORT", [keys, values], want, b.outputs(out), dimension=1, is_stable=True,
          comparator_subgraph_index=1)  # fmt: skip
    check("SORT", [keys], [np.sort(keys, axis=0)], body("LESS"), dimension=0,
          comparator_subgraph_index=1)  # fmt: skip


DOTS = [("bij,bkj->bik", "float32"), ("ijk,kl->ijl", "float32"), ("abij,jbkc->baikc", "float32"),
        ("i,i->", "float32"), ("ij,jk->ik", "int8"), ("ij,kl->ijkl", "float64")]  # fmt: skip


@pytest.mark.parametrize(("formula", "dtype"), DOTS)
def test_dot_general(formula, dtype):
    left, right = formula.split("->")[0].split(",")
    result = formula.split("->")[1]
    sizes = dict(zip("abcijkl", (2, 3, 4, 5, 6, 2, 3), strict=True))
    x, y = (counting([sizes[n] for n in names], dtype) for names in (left, right))
    shared = [n for n in left if n in right]
    batch = sorted((n for n in shared if n in result), key=result.index)
    depth = [n for n in shared if n not in result]
    out = np.int32 if dtype == "int8" else dtype
    options = {
        f"{side}_{what}_dimensions": [names.index(n) for n in chosen]
        for side, names in (("lhs", left), ("rhs", right))
        for what, chosen in (("batching", batch), ("contracting", depth))
    }
    check("DOT_GENERAL", [x, y], [np.einsum(formula, x.astype(out), y.astype(out))], **options)


CONVOLUTIONS = {
    "plain": {},
    "strides": {"window_strides": [2, 3], "padding": [1, 1, 0, 2]},
    "dilated": {"rhs_dilation": [2, 1], "padding": [2, 1, 0, 0]},
    "transposed": {"lhs_dilation": [2, 2], "padding": [1, 2, 2, 1]},
    "reversed": {"window_reversal": [True, False]},
    "cut": {"padding": [-1, 0, 1, -1]},
}


def convolved(x, filters, options, groups=1):
    """The convolution of NHWC by HWIO, by its definition."""
    strides, spread = options.get("window_strides", [1, 1]), options.get("lhs_dilation", [1, 1])
    dilations, padding = options.get("rhs_dilation", [1, 1]), options.get("padding", [0] * 4)
    flips = options.get("window_reversal", [False, False])
    filters = filters[tuple(slice(None, None, -1 if flip else 1) for flip in flips)]
    taps, share = filters.shape[:2], filters.shape[3] // groups
    sizes = [
        ((x.shape[1 + d] - 1) * spread[d] + 1 + sum(padding[2 * d : 2 * d + 2])
         - (taps[d] - 1) * dilations[d] - 1) // strides[d] + 1
        for d in range(2)
    ]  # fmt: skip
    out = np.zeros((len(x), *sizes, filters.shape[3]), x.dtype)
    for n, *place, k in np.ndindex(*out.shape):
        first = k // share * filters.shape[2]
        for tap in itertools.product(*map(range, taps)):
            at = [place[d] * strides[d] + tap[d] * dilations[d] - padding[2 * d] for d in range(2)]
            if all(
                at[d] % spread[d] == 0 and 0 <= at[d] // spread[d] < x.shape[1 + d]
                for d in range(2)
            ):
                pixel = x[n, at[0] // spread[0], at[1] // spread[1]]
                weights = filters[(*tap, slice(None), k)]
                out[(n, *place, k)] += pixel[first : first + filters.shape[2]] @ weights
    return out


@pytest.mark.parametrize("name", CONVOLUTIONS)
@pytest.mark.parametrize("groups", [1, 2])
def test_convolution(name, groups):
    options = CONVOLUTIONS[name]
    x, filters = floats(2, 6, 7, 4), floats(2, 3, 4 // groups, 6)
    check("CONVOLUTION", [x, filters], [convolved(x, filters, options, groups)],
          feature_group_count=groups, batch_group_count=1, **NHWC, **options)  # fmt: skip


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_a_convolution_of_integers_with_a_small_float(dtype):
    """Summed in float32 and rounded once."""
    x, filters = np.arange(336) % 7 - 3, np.arange(144) % 5 - 2
    x, filters = i32(x.reshape(2, 6, 7, 4)), i32(filters.reshape(2, 3, 4, 6))
    rounded = convolved(x, filters, {}).astype(np.float32).astype(getattr(ml_dtypes, dtype, dtype))
    check("CONVOLUTION", [x, filters], [rounded],
          feature_group_count=1, batch_group_count=1, **NHWC)  # fmt: skip


@pytest.mark.parametrize("name", ["plain", "strides", "dilated", "transposed"])
def test_convolution_of_each_channel(name):
    options = CONVOLUTIONS[name]
    x, filters = floats(2, 6, 7, 4), floats(2, 3, 1, 8)
    check("CONVOLUTION", [x, filters], [convolved(x, filters, options, 4)],
          feature_group_count=4, batch_group_count=1, **NHWC, **options)  # fmt: skip


CHANNELS_FIRST = {
    "input_batch_dimension": 0, "input_feature_dimension": 1,
    "kernel_input_feature_dimension": 1, "kernel_output_feature_dimension": 0,
    "output_batch_dimension": 0, "output_feature_dimension": 1,
}  # fmt: skip


@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize("rank", [1, 2])
def test_convolution_of_channels_first(rank, groups):
    x, filters = floats(2, 6, 7, 4), floats(2, 3, 4 // groups, 8)
    options = {"window_strides": [1, 2], "padding": [0, 0, 2, 1], "rhs_dilation": [1, 2]}
    if rank == 1:
        x, filters = x[:, :1], filters[:1]
    want = convolved(x, filters, options, groups)
    x, filters, want = (
        np.ascontiguousarray(a.transpose(axes))
        for a, axes in ((x, (0, 3, 1, 2)), (filters, (3, 2, 0, 1)), (want, (0, 3, 1, 2)))
    )
    if rank == 1:
        x, filters, want = x[:, :, 0], filters[:, :, 0], want[:, :, 0]
        options = {key: numbers[len(numbers) // 2 :] for key, numbers in options.items()}
    spatial = [f"{what}_spatial_dimensions" for what in ("input", "kernel", "output")]
    places = {key: list(range(2, 2 + rank)) for key in spatial}
    check("CONVOLUTION", [x, filters], [want], feature_group_count=groups, batch_group_count=1,
          **CHANNELS_FIRST, **places, **options)  # fmt: skip


def test_convolution_in_groups_of_the_batch():
    x, filters = floats(4, 5, 5, 3), floats(2, 2, 3, 6)
    halves = [convolved(x[2 * i : 2 * i + 2], filters[..., 3 * i : 3 * i + 3], {}) for i in (0, 1)]
    check("CONVOLUTION", [x, filters], [np.concatenate(halves, -1)], feature_group_count=1,
          batch_group_count=2, **NHWC)  # fmt: skip


@pytest.mark.parametrize("algorithm", ["DEFAULT", "PHILOX", "THREEFRY"])
@pytest.mark.parametrize("dtype", ["uint32", "int32", "uint64", "int64"])
def test_random_bits(algorithm, dtype, litert):
    numbers = ["DEFAULT", "PHILOX", "THREEFRY"]
    for size in (2, 3):
        if size == 3 and algorithm == "THREEFRY":
            continue
        state = np.array([2**63 + 12345, 2**64 - 2, 77][:size], np.uint64)
        content = model("RNG_BIT_GENERATOR", [state], [((size,), "uint64"), ((3, 3), dtype)],
                        algorithm=numbers.index(algorithm))  # fmt: skip
        ours = answers(Interpreter(model_content=content), state)
        theirs = litert.run(content, [[state]], OPTIMIZED)
        assert not isinstance(theirs, str), theirs
        for got, want in zip(ours, theirs[0], strict=True):
            np.testing.assert_array_equal(got, want)


def test_case(litert):
    branches = [body(kind, second=(2,)) for kind in ("ADD", "SUB", "MUL")]
    x, y = f32([3, 4]), f32([5, -1])
    for index, want in ((0, x + y), (1, x - y), (2, x * y), (9, x * y), (-1, x * y)):
        check("CASE", [i32(index), x, y], [want], *branches, litert=litert,
              branch_subgraph_indices=[1, 2, 3])  # fmt: skip


def test_composite_is_its_decomposition(litert):
    x, y = floats(2, 3), floats(2, 3, seed=1)
    check("COMPOSITE", [x, y], [x - y], body("SUB", second=(2, 3)), litert=litert, name="a.b",
          composite_attributes=np.frombuffer(flexbuffers.Dumps({}), np.uint8),
          decomposition_subgraph_index=1)  # fmt: skip


def test_while():
    condition, step = Builder("condition"), Builder("step")
    x, out = condition.input("x", ()), condition.tensor("out", (), "BOOL")
    condition.op("LESS", [x, condition.constant("ten", np.float32(10))], [out])
    y, twice = step.input("y", ()), step.tensor("twice", ())
    step.op("ADD", [y, y], [twice])
    check("WHILE", [f32(1.5)], [f32(12)], condition.outputs(out), step.outputs(twice),
          cond_subgraph_index=1, body_subgraph_index=2)  # fmt: skip


def test_quantized_operands_are_refused():
    b = Builder()
    scale = Quantization(f32([0.5]), np.array([3]), 0)
    pair = [b.input(n, (2,), "INT8", quantization=scale) for n in "ab"]
    out = b.tensor("out", (2,), "INT8", quantization=scale)
    b.op("STABLEHLO_ADD", pair, [out])
    interpreter = Interpreter(model_content=save(b.outputs(out)))
    with pytest.raises(RuntimeError, match="'a' is quantized, which is not supported"):
        interpreter.allocate_tensors()
