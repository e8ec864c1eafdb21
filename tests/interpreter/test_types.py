"""Types without kernels of their own: strings that move, half floats, numbers that are cast."""

import dataclasses

import ml_dtypes
import numpy as np
import pytest
from building import Builder, save
from cases import OPTIMIZED, Case, all_cases, content, floats, options_record
from quantized_rows import blockwise_product
from running import answers

from flatlite.interpreter.compute import run_now
from flatlite.interpreter.numpy_calls import by_numpy
from flatlite.interpreter.plan.node import Node, Operand, TensorDeclaration
from flatlite.interpreter.plan.substitution import small_floats
from flatlite.interpreter.registry import prepare_of
from flatlite.lite import Interpreter
from flatlite.schema import model, operators
from flatlite.schema.dtypes import TENSOR_TYPES
from flatlite.schema.errors import ModelError
from flatlite.schema.flatbuffer import record
from flatlite.schema.quantization import Quantization
from flatlite.schema.tables import BUILTIN_OPERATOR

SMALL_FLOATS = {
    "float16": 2.0**-10,
    "bfloat16": 2.0**-7,
    "float8_e4m3fn": 2.0**-3,
    "float8_e5m2": 2.0**-2,
}
"""Type -> how far its neighbours are from a number, relative to it."""
FAR = 100
"""Numbers below which sums and products stay float16."""


def run(case):
    return answers(Interpreter(model_content=content(case)), *case.feeds)


def moving():
    """Cases of operators that only move elements, with the positions of what they move."""
    seen = set()
    for case in all_cases():
        row = operators.operator(case.op)
        if not isinstance(case, Case) or case.oracle is None or case.quantization:
            continue
        if not (row.has("moves") and not row.has("view")) or case.op == "MATRIX_SET_DIAG":
            continue
        dtype = case.inputs[-1 if case.op in ("FILL", "ONE_HOT") else 0].dtype
        if case.op in ("SELECT", "SELECT_V2", "STABLEHLO_SELECT", "SPLIT", "SPARSE_TO_DENSE"):
            dtype = case.inputs[2 if case.op == "SPARSE_TO_DENSE" else 1].dtype
        moved = [i for i, x in enumerate(case.inputs) if x is not None and x.dtype == dtype]
        shape = tuple(x is not None and x.ndim for x in case.inputs)
        key = case.op, shape, repr(case.options)[:60]
        if (
            dtype == np.float32
            and key not in seen
            and len([k for k in seen if k[0] == case.op]) < 6
        ):
            seen.add(key)
            yield case, moved


@pytest.mark.parametrize("dtype", ["S", "complex128"])
def test_moved_elements(dtype, litert):
    """LiteRT moves the numbers of the elements; ours moves the elements."""
    done = set()
    for case, moved in moving():
        numbers, first = list(case.inputs), 1
        others = list(case.inputs)
        for i in moved:
            n = case.inputs[i].size
            shape = case.inputs[i].shape
            numbers[i] = np.arange(first, first + n, dtype=np.int32).reshape(shape)
            others[i] = elements(numbers[i], dtype)
            first += n
        outputs = None if case.outputs is None else [np.int32] * len(case.outputs)
        on_numbers = dataclasses.replace(case, inputs=numbers, outputs=outputs or [np.int32])
        theirs = litert.run(content(on_numbers), [on_numbers.feeds], case.oracle)
        if isinstance(theirs, str):
            continue
        kind = others[moved[0]].dtype
        changed = dataclasses.replace(case, inputs=others, outputs=[kind] * len(on_numbers.outputs))
        for got, want in zip(run(changed), theirs[0], strict=True):
            np.testing.assert_array_equal(got, elements(want, dtype), err_msg=case.name)
        done.add(case.op)
    assert len(done) >= 22, done


def elements(numbers, dtype):
    """Another element for each number; none for 0."""
    if dtype != "S":
        return numbers.astype(dtype) * (1 + 2j)
    texts = np.empty(numbers.shape, object)
    texts[...] = np.array([b"t%d" % n if n else b"" for n in numbers.ravel()], object).reshape(
        numbers.shape
    )
    return texts


def rounded_cases():
    """Cases of float32 of the operators that round their results once to smaller floats."""
    seen = {}
    for case in all_cases():
        if not isinstance(case, Case) or case.quantization or case.oracle is None:
            continue
        if prepare_of(case.op).__code__.co_name == "prepare_small_floats":
            reals = [x for x in case.inputs if x is not None and x.dtype == np.float32]
            small = all(np.all(np.abs(x) < FAR) for x in reals)
            if reals and small and seen.setdefault(case.op, 0) < 2:
                seen[case.op] += 1
                yield case


@pytest.mark.parametrize(
    "dtype",
    [pytest.param(n, marks=pytest.mark.slow) if n == "float8_e5m2" else n for n in SMALL_FLOATS],
)
def test_small_floats(dtype, litert):
    """As LiteRT on the same numbers in float32, rounded."""
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    done = set()
    for case in rounded_cases():
        if kind.itemsize == 1 and case.op.startswith("NON_MAX"):
            continue  # which of equal scores comes first is the library's that LiteRT is built with
        rounded = [x if x is None or x.dtype != np.float32 else x.astype(kind) for x in case.inputs]
        wide = [x if x is None or x.dtype != kind else x.astype(np.float32) for x in rounded]
        theirs = litert.run(*requested(dataclasses.replace(case, inputs=wide)))
        assert not isinstance(theirs, str), theirs
        outputs = [np.dtype(t) for t in case.outputs or [np.float32]]
        outputs = [kind if t == np.float32 else t for t in outputs]
        got = run(dataclasses.replace(case, inputs=rounded, outputs=outputs))
        for ours, one in zip(got, theirs[0], strict=True):
            if ours.dtype == kind:
                with np.errstate(all="ignore"):
                    one = one.astype(kind).astype(np.float32)
                ours = ours.astype(np.float32)
            step = SMALL_FLOATS[dtype] + case.rtol
            np.testing.assert_allclose(ours, one, rtol=step, atol=case.atol, err_msg=case.name)
        done.add(case.op)
    assert len(done) >= 60, done


def requested(case):
    return content(case), [case.feeds], case.oracle


LOOKED_UP = np.array([2, 0, 4], np.int32)


def blockwise(kind, dtype, *, shape=(5, 64), block=32, output="FLOAT32", zero_points=-1):
    """A model with weights by blocks, its feeds, and the weights as float32."""
    random = np.random.default_rng(3)
    limit = {"INT8": 128, "INT4": 8, "INT2": 2}[dtype]
    values = random.integers(-limit, limit, shape)
    counts = (*shape[:-1], shape[-1] // block)
    scales = random.uniform(0.01, 0.1, counts).astype(np.float16)
    details = record("BlockwiseQuantization")(scales=2, zero_points=zero_points, block_size=block)
    quantized = values.astype(TENSOR_TYPES[dtype])
    feed = LOOKED_UP if kind == "EMBEDDING_LOOKUP" else floats(3, shape[-1])
    tensors = [
        model.Tensor("x", feed.shape, "INT32" if feed.dtype == np.int32 else "FLOAT32"),
        model.Tensor(
            "w", shape, dtype, quantized, quantization=Quantization([], [], details=details)
        ),
        model.Tensor("scales", counts, "FLOAT16", scales),
        model.Tensor("y", (), output),
    ]
    inputs = {"FULLY_CONNECTED": [0, 1, -1], "DEQUANTIZE": [1]}.get(kind, [0, 1])
    options = options_record(kind, {"adj_y": True} if kind == "BATCH_MATMUL" else {})
    step = model.Operator(kind, inputs, [3], options)
    graph = model.Subgraph("main", tensors, [0], [3], [step])
    real = values.astype(np.float32) * scales.astype(np.float32).repeat(block, -1)
    return model.save(model.Model([graph])), feed, real


@pytest.mark.parametrize("output", ["FLOAT32", "FLOAT16"])
@pytest.mark.parametrize("dtype", ["INT4", "INT2"])
def test_rows_of_blocks(dtype, output, litert):
    content, feed, real = blockwise("EMBEDDING_LOOKUP", dtype, output=output)
    theirs = litert.run(content, [[feed]])[0][0]
    got = answers(Interpreter(model_content=content), feed)[0]
    assert got.dtype == theirs.dtype
    np.testing.assert_array_equal(got, theirs)
    np.testing.assert_array_equal(got, real[LOOKED_UP].astype(got.dtype))


def test_blocks_whose_writer_set_no_zero_points(litert):
    content, feed, real = blockwise("EMBEDDING_LOOKUP", "INT4", zero_points=0)
    got = answers(Interpreter(model_content=content), feed)[0]
    np.testing.assert_array_equal(got, litert.run(content, [[feed]])[0][0])
    np.testing.assert_array_equal(got, real[LOOKED_UP])


@pytest.mark.parametrize("dtype", ["INT8", "INT4", "INT2"])
@pytest.mark.parametrize(
    ("shape", "block"), [((5, 64), 32), ((40, 256), 64), ((33, 256), 128), ((64, 512), 256)]
)
def test_products_with_blocks(dtype, shape, block, litert):
    """LiteRT's kernel for blocks, which it has for int4, quantizes the input to 8 bits."""
    content, feed, real = blockwise("FULLY_CONNECTED", dtype, shape=shape, block=block)
    got = answers(Interpreter(model_content=content), feed)[0]
    scales = np.ones((shape[0], 1), np.float32)
    want = blockwise_product(feed, real, scales)
    largest = np.abs(want).max()
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6 * largest)
    if dtype == "INT4":
        theirs = litert.run(content, [[feed]], OPTIMIZED)[0][0]
        np.testing.assert_allclose(got, theirs, rtol=1e-5, atol=1e-6 * largest)


@pytest.mark.parametrize(
    ("kind", "block"), [("BATCH_MATMUL", 32), ("FULLY_CONNECTED", 16), ("FULLY_CONNECTED", 8)]
)
@pytest.mark.parametrize("dtype", ["INT8", "INT4", "INT2"])
def test_products_with_dequantized_blocks(kind, dtype, block):
    """Where LiteRT's kernel for blocks cannot be, weights become float32."""
    content, feed, real = blockwise(kind, dtype, block=block)
    got = answers(Interpreter(model_content=content), feed)[0]
    np.testing.assert_allclose(got, feed @ real.T, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", ["INT8", "INT4", "INT2"])
def test_dequantized_blocks(dtype):
    content, feed, real = blockwise("DEQUANTIZE", dtype)
    np.testing.assert_array_equal(answers(Interpreter(model_content=content), feed)[0], real)


def test_blocks_must_divide_the_weights():
    content, *_ = blockwise("DEQUANTIZE", "INT8", block=32)
    broken = model.load(content)
    broken.subgraphs[0].tensors[1].quantization.details.block_size = 30
    with pytest.raises(ModelError, match=r"tensor 1 of shape \(5, 64\) must divide into blocks"):
        Interpreter(model_content=model.save(broken)).allocate_tensors()


def test_blocks_need_their_scales():
    content, *_ = blockwise("DEQUANTIZE", "INT8", block=32)
    broken = model.load(content)
    broken.subgraphs[0].tensors[1].quantization.details.scales = 0
    with pytest.raises(ModelError, match="tensor 1 has 10 blocks, which tensor 0 must have"):
        Interpreter(model_content=model.save(broken)).allocate_tensors()


@pytest.mark.parametrize(
    ("dtype", "per_channel"), [("INT4", False), ("INT2", True), ("INT4", True)]
)
def test_packed_integers_dequantized(dtype, per_channel, litert):
    limit = {"INT4": 8, "INT2": 2}[dtype]
    values = np.random.default_rng(1).integers(-limit, limit, (5, 7))
    scales = np.float32([0.1, 0.2, 0.3, 0.4, 0.5][: 5 if per_channel else 1])
    quantization = Quantization(scales, np.full(len(scales), 0), 0)
    data = values.astype(TENSOR_TYPES[dtype])
    tensors = [
        model.Tensor("w", (5, 7), dtype, data, quantization=quantization),
        model.Tensor("y", (5, 7), "FLOAT32"),
    ]
    step = model.Operator("DEQUANTIZE", [0], [1], options_record("DEQUANTIZE", {}))
    file = model.save(model.Model([model.Subgraph("main", tensors, [], [1], [step])]))
    got = answers(Interpreter(model_content=file))[0]
    np.testing.assert_array_equal(got, values.astype(np.float32) * scales[:, None])
    theirs = litert.run(file, [[]])
    if not isinstance(theirs, str):
        np.testing.assert_array_equal(got, theirs[0][0])


@pytest.mark.parametrize("op", ["conv_2d", "depthwise_conv_2d"])
def test_filters_of_int4_are_those_of_int8(op, litert):
    """LiteRT has no reference kernel of int4; its others round once, where those round twice."""
    cases = [case for case in all_cases() if case.name.startswith(f"{op}/int8_int8_int32_")]
    assert len(cases) > 12
    for case in cases:
        x, weights, bias = case.inputs
        filters = weights // 16
        as_int8 = dataclasses.replace(case, inputs=[x, filters, bias])
        as_int4 = dataclasses.replace(case, inputs=[x, filters.astype(ml_dtypes.int4), bias])
        (theirs,) = litert.run(content(as_int8), [case.feeds])
        np.testing.assert_array_equal(run(as_int4)[0], theirs[0], err_msg=case.name)


INT4_AT_RUN_TIME = {
    "DEQUANTIZE": [],
    "FULLY_CONNECTED": [((2, 5), "INT8", np.arange(10, dtype=np.int8).reshape(2, 5))],
}
"""Operator -> the operands before that of int4: shape, type and value."""


@pytest.mark.parametrize("op", INT4_AT_RUN_TIME)
def test_int4_that_only_running_gives(op, litert):
    """Bytes hold 4 bits, of which the upper one is the sign."""
    b, step = Builder(), Quantization(np.float32([0.5]), np.array([0]))
    feeds = [feed for *_, feed in INT4_AT_RUN_TIME[op]]
    operands = [
        b.input(f"x{i}", shape, dtype, quantization=step)
        for i, (shape, dtype, _) in enumerate(INT4_AT_RUN_TIME[op])
    ]
    weights = b.input("w", (3, 5), "INT4", quantization=step)
    feeds.append(np.resize(np.arange(-8, 8, dtype=np.int8), (3, 5)))
    real = op == "DEQUANTIZE"
    y = b.tensor("y", (3, 5) if real else (2, 3), "FLOAT32" if real else "INT8",
                 quantization=None if real else step)  # fmt: skip
    b.op(op, [*operands, weights], [y])
    content = save(b.outputs(y))
    (theirs,) = litert.run(content, [feeds])
    got = answers(Interpreter(model_content=content), *feeds)
    np.testing.assert_array_equal(got[0], theirs[0])


@pytest.mark.parametrize("case", ["ADD float64", "SQRT float64", "LESS uint8", "CAST float64"])
def test_numpy_is_a_step_of_its_stage(case, builder, saved):
    """Where the shape is known, what numpy computes ends no stage."""
    op, dtype = case.split()
    n = {"ADD": 2, "LESS": 2}.get(op, 1)
    b = builder()
    operands = [b.input(f"x{i}", (3,), dtype.upper()) for i in range(n)]
    result = {"LESS": "BOOL", "CAST": "COMPLEX64"}.get(op, dtype.upper())
    y, z = b.tensor("y", (3,), result), b.tensor("z", (1, 3), result)
    b.op(op, operands, [y])
    b.op("RESHAPE", [y, b.constant("shape", np.array([1, 3], np.int32))], [z])
    interpreter = Interpreter(model_content=saved(b.outputs(z)))
    x = np.array([1, 4, 9], dtype)
    expected = {"ADD": x + x, "SQRT": np.sqrt(x), "LESS": x < x, "CAST": x.astype(np.complex64)}
    (got,) = answers(interpreter, *[x] * n)
    np.testing.assert_array_equal(got, expected[op][None])
    plan = interpreter._plans[0]
    assert plan.reached is plan.first


def test_half_floats_of_a_host_call():
    """numpy's function sees float32, and its result is rounded once."""
    half = np.dtype(ml_dtypes.bfloat16)
    seen = []

    @small_floats
    def prepare(node):
        (x,) = node.inputs

        def run(x):
            seen.append(x.dtype)
            return [x / 3]

        return by_numpy(node, run, (x.shape, x.dtype))

    x = np.array([1, 2, 5], half)
    node = Node("SIN", [Operand.known(x, "x")], [TensorDeclaration("y", half)])
    run_now(node, prepare(node))
    (result,) = node.results
    assert seen == [np.float32]
    assert result.dtype == half
    expected = (x.astype(np.float32) / 3).astype(half)
    np.testing.assert_array_equal(result.value.astype(np.float32), expected.astype(np.float32))


def test_more_inputs_than_an_operator_has():
    """Numbers that numpy computes, whose function takes as many as the operator."""
    b = Builder()
    x = b.input("x", (3,), "FLOAT64")
    y = b.op("STABLEHLO_LOGISTIC", [x, x], [b.tensor("y", (3,), "FLOAT64")])
    interpreter = Interpreter(model_content=save(b.outputs(y)))
    with pytest.raises(RuntimeError, match="STABLEHLO_LOGISTIC 'y': takes at most 1 inputs, got 2"):
        interpreter.allocate_tensors()


ROWS_OF = [
    (dtype, output, per_row)
    for dtype in ("INT8", "UINT8", "INT4", "INT2")
    for output in ("FLOAT32", "FLOAT16")
    for per_row in (False, True)
    if (output, per_row) != ("FLOAT16", False) or dtype != "INT2"
]


@pytest.mark.parametrize("shape", [(5, 8), (5, 2, 4), (5, 0), (1, 4, 1, 4)], ids=str)
@pytest.mark.parametrize(("dtype", "output", "per_row"), ROWS_OF)
def test_rows_of_quantized_tables(dtype, output, per_row, shape, litert):
    random = np.random.default_rng(7)
    low, high = {"INT8": (-128, 128), "UINT8": (0, 256), "INT4": (-8, 8), "INT2": (-2, 2)}[dtype]
    n = shape[0] if per_row else 1
    scales = random.uniform(0.01, 0.2, n).astype(np.float32)
    table = random.integers(low, high, shape).astype(TENSOR_TYPES[dtype])
    quantization = Quantization(scales, np.zeros(n, int), 0)
    for rows in (np.int32([shape[0] - 1, 0, 0]), np.int32([])):
        tensors = [
            model.Tensor("x", rows.shape, "INT32"),
            model.Tensor("w", shape, dtype, table, quantization=quantization),
            model.Tensor("y", (), output),
        ]
        step = model.Operator(
            "EMBEDDING_LOOKUP", [0, 1], [2], options_record("EMBEDDING_LOOKUP", {})
        )
        file = model.save(model.Model([model.Subgraph("main", tensors, [0], [2], [step])]))
        (want,) = litert.run(file, [[rows]])[0]
        (got,) = answers(Interpreter(model_content=file), rows)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", ["FLOAT8_E4M3FN", "FLOAT8_E5M2"])
def test_float8_to_float32_and_back(dtype, builder, saved):
    """All of float8, and float32 around each step between two of them: ml_dtypes says what."""
    float8 = TENSOR_TYPES[dtype]
    every = np.arange(256, dtype=np.uint8).view(float8)
    wide = np.sort(every.astype(np.float32)[np.isfinite(every.astype(np.float32))])
    steps = np.concatenate(
        [wide, (wide[1:] + wide[:-1]) / 2, np.float32([1e-45, 465, 61440, 1e30])]
    )
    numbers = np.concatenate(
        [np.nextafter(steps, np.float32(end)) for end in (-np.inf, np.inf)]
        + [steps, np.float32([np.inf, -np.inf, np.nan, -0.0])]
    )
    for x, source, target in (
        (every, dtype, "FLOAT32"),
        (numbers, "FLOAT32", dtype),
        (numbers.astype(np.float64), "FLOAT64", dtype),
    ):
        b = builder()
        y = b.tensor("y", x.shape, target)
        b.op("CAST", [b.input("x", x.shape, source)], [y])
        (got,) = answers(Interpreter(model_content=saved(b.outputs(y))), x)
        want = x.astype(np.float32).astype(TENSOR_TYPES[target])
        bits = f"u{want.itemsize}" if target == dtype else want.dtype
        np.testing.assert_array_equal(got.view(bits), want.view(bits))


OF_FLOAT8 = {
    "ADD": np.add,
    "MUL": np.multiply,
    "MAXIMUM": np.maximum,
    "LESS": np.less,
    "ABS": np.abs,
    "NEG": np.negative,
}


@pytest.mark.parametrize("dtype", ["FLOAT8_E4M3FN", "FLOAT8_E5M2"])
@pytest.mark.parametrize("kind", OF_FLOAT8)
def test_arithmetic_of_float8(kind, dtype, builder, saved):
    """Each result is rounded once from float32's."""
    float8, function = TENSOR_TYPES[dtype], OF_FLOAT8[kind]
    operands = [np.float32([1.5, -2, 0.25, 7]), np.float32([0.5, 3, -1.25, 7])][: function.nin]
    b = builder()
    inputs = [b.input(f"x{i}", (4,), dtype) for i in range(function.nin)]
    y = b.tensor("y", (4,), "BOOL" if kind == "LESS" else dtype)
    b.op(kind, inputs, [y])
    feeds = [x.astype(float8) for x in operands]
    (got,) = answers(Interpreter(model_content=saved(b.outputs(y))), *feeds)
    want = function(*operands)
    want = want if kind == "LESS" else want.astype(float8)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got.astype(np.float32), want.astype(np.float32))


@pytest.mark.parametrize("dtype", ["FLOAT8_E4M3FN", "FLOAT8_E5M2"])
@pytest.mark.parametrize("kind", ["SUM", "REDUCE_MAX", "MEAN"])
def test_reductions_of_float8(kind, dtype, builder, saved):
    """All elements are added in float32, and the result is rounded once."""
    float8 = TENSOR_TYPES[dtype]
    function = {"SUM": np.sum, "REDUCE_MAX": np.max, "MEAN": np.mean}[kind]
    x = np.float32([[1.5, -2, 0.25, 7], [96, 1, 1, 1]]).astype(float8)
    b = builder()
    y = b.tensor("y", (2,), dtype)
    b.op(kind, [b.input("x", x.shape, dtype), b.constant("axes", np.int32([1]))], [y])
    (got,) = answers(Interpreter(model_content=saved(b.outputs(y))), x)
    want = function(x.astype(np.float32), axis=1).astype(float8)
    np.testing.assert_array_equal(got.view(np.uint8), want.view(np.uint8))


OF_OTHER_NUMBERS = ("float64", "int8", "uint8", "int16", "uint16", "uint32", "uint64", "int64")


@pytest.mark.parametrize("dtype", OF_OTHER_NUMBERS)
def test_orders_and_sums_of_other_numbers(dtype, builder, saved):
    """Of equal elements the first counts, sums wrap."""
    x = np.array([[5, 1, 5, 0, 3], [2, 9, 9, 100, 100]]).astype(dtype)
    b = builder()
    first, axis = b.input("x", x.shape, dtype.upper()), b.constant("axis", np.int32(1))
    place, total = b.tensor("place", (2,), "INT64"), b.tensor("total", x.shape, dtype.upper())
    largest = b.tensor("largest", (2, 3), dtype.upper())
    where = b.tensor("where", (2, 3), "INT32")
    sums = b.tensor("sums", x.shape, dtype.upper())
    b.op("ARG_MIN", [first, axis], [place], output_type=4)
    b.op("CUMSUM", [first, axis], [sums], exclusive=True, reverse=True)
    b.op("TOPK_V2", [first, b.constant("k", np.int32([3]))], [largest, where])
    b.op("ADD_N", [first, first, first], [total])
    interpreter = Interpreter(model_content=saved(b.outputs(place, sums, largest, where, total)))
    got = answers(interpreter, x)
    with np.errstate(over="ignore"):
        backwards = np.cumsum(x[:, ::-1], 1, x.dtype)[:, ::-1] - x
        expected = [
            [3, 0],
            backwards,
            np.array([[5, 5, 3], [100, 100, 9]], dtype),
            [[0, 2, 4], [3, 4, 1]],
            x + x + x,
        ]
    for ours, want in zip(got, expected, strict=True):
        np.testing.assert_array_equal(ours, want)


def test_messages_call_strings_by_their_name():
    messages = []
    for kind in sorted(BUILTIN_OPERATOR.keys() - {"CUSTOM", "DELEGATE"}):
        for n_inputs in 1, 2, 3:
            for result in "FLOAT32", "STRING":
                b = Builder()
                inputs = [b.input(f"x{i}", (2, 3), "STRING") for i in range(n_inputs)]
                b.op(kind, inputs, [b.tensor("y", (2, 3), result)])
                try:
                    Interpreter(model_content=save(b.outputs(n_inputs))).allocate_tensors()
                except (RuntimeError, ValueError) as error:
                    messages.append(str(error))
    assert len(messages) > 1000
    assert not [message for message in messages if "object" in message]
