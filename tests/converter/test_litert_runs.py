"""What LiteRT has no kernel for is written so that it runs, and gives what the source gives."""

import numpy as np
import pytest
from drafting import Draft

from flatlite.converter.ir.litert_rules import check_runs
from flatlite.converter.ir.write import write
from flatlite.converter.passes import optimize
from flatlite.converter.tf.lower import lower_graph
from flatlite.converter.verify.verification import Function, verify
from flatlite.errors import ConverterError
from flatlite.graph.core.evaluate import evaluate
from flatlite.schema.model import save

RNG = np.random.default_rng(11)
LARGE = np.int64([7, -7, 2**63 - 1, -(2**63), 2**62 + 12345, -(2**53) - 1, 0, 999_999_999_999])
SMALL = np.int8([[-128, 0, 5], [127, -1, 5]])
BOOLS = np.array([[True, False, True], [False, False, True]])
PIXELS = RNG.integers(-9, 9, (1, 4, 6, 8, 2)).astype(np.float32)
BLOCKS = np.int32([2, 3, 2])
PADS = np.int32([[2, 0], [1, 2], [0, 4]])


def binary(kind):
    return lambda d, x, y: d.op(kind, x, y)


def all_of(d, kind, x, **attrs):
    return d.graph.add(kind, None, [x] if not isinstance(x, list) else x, attrs).outputs


COMPARISONS = ("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual")
CASES = {
    **{f"{k}/int8": (binary(k), SMALL, np.int8([[0, 0, 5], [-1, -1, 6]])) for k in COMPARISONS},
    **{f"{k}/uint8": (binary(k), np.uint8([0, 200, 7]), np.uint8([7, 9, 7])) for k in COMPARISONS},
    "NotEqual/int16": (binary("NotEqual"), np.int16([1, 2, 3]), np.int16([1, 5, 3])),
    "AddN/int64": (lambda d, x, y: d.op("AddN", x, y, x), LARGE // 4, LARGE[::-1] // 4),
    "FloorDiv/int64": (lambda d, x: d.op("FloorDiv", x, np.int64(1000)), LARGE),
    "FloorDiv/int64 by int64": (
        binary("FloorDiv"),
        np.int64([7, -7, 7, -7, 2**62, -(2**62), 2**63 - 1, -(2**63)]),
        np.int64([2, 2, -2, -2, 3, 7, 1, 2**40 + 1]),
    ),
    "TruncateMod/int64": (lambda d, x: d.op("TruncateMod", x, np.int64(-1000)), LARGE),
    "TruncateDiv/int64": (lambda d, x: d.op("Div", x, np.int64(-1000)), LARGE),
    "Unpack/int64": (lambda d, x: all_of(d, "Unpack", x, num=2, axis=1), LARGE.reshape(2, 2, 2)),
    "Pack/bool": (lambda d, x, y: all_of(d, "Pack", [x, y], axis=1), BOOLS, ~BOOLS),
    "Split/bool": (
        lambda d, x: d.graph.add("Split", None, [axis(d, 1), x], {"num_split": 3}).outputs,
        BOOLS,
    ),
    "SplitV/bool": (
        lambda d, x: d.graph.add(
            "SplitV", None, [x, d.graph.constant(np.int32([1, 2])), axis(d, 1)], {"num_split": 2}
        ).outputs,
        BOOLS,
    ),
    "Concat/float64": (
        lambda d, x, y: d.op("ConcatV2", x, y, np.int32(1)),
        RNG.normal(size=(2, 3)),
        RNG.normal(size=(2, 1)),
    ),
    "Roll/float64": (
        lambda d, x: d.op("Roll", x, np.int32([1]), np.int32([0])),
        RNG.normal(size=(5,)),
    ),
    "Range/float16": (
        lambda d, x: d.op("Range", x, np.float16(100), np.float16(0.1)),
        np.float16(0.5),
    ),
    "Square/float16": (lambda d, x: d.op("Square", x), np.float16([1.5, -300, 0.01])),
    "Add/float16": (binary("AddV2"), np.float16([1.5, 2048, 65504]), np.float16([1, 1, 65504])),
    "Add/int8": (binary("AddV2"), np.int8([100, -100, 5]), np.int8([100, -100, 5])),
    "Abs/int8": (lambda d, x: d.op("Abs", x), np.int8([-128, -5, 7])),
    "Abs/int64": (lambda d, x: d.op("Abs", d.op("Where", x)), BOOLS),
    "OneHot/uint8": (
        lambda d, x: d.op("OneHot", x, np.int32(4), np.float32(1), np.float32(0), axis=-1),
        np.uint8([0, 3, 255, 1]),
    ),
    "SegmentSum/gap": (
        lambda d, x: d.op("SegmentSum", x, np.int32([1, 1, 4, 4])),
        np.float32([[1, 2], [3, 4], [5, 6], [7, 8]]),
    ),
    "SegmentSum/ids": (
        binary("SegmentSum"),
        np.float32([[1, 2], [3, 4], [5, 6], [7, 8]]),
        np.int32([1, 1, 4, 4]),
    ),
    "ReverseV2/0 2": (
        lambda d, x: d.op("ReverseV2", x, np.int32([0, 2])),
        np.arange(24, dtype=np.float32).reshape(2, 3, 4),
    ),
    "Atan2/row": (binary("Atan2"), np.float32([[1, 2], [3, -4]]), np.float32([0.5, -2])),
    "Atan2/rank": (binary("Atan2"), np.float32([1, -2]), np.float32([[0.5], [-2], [3]])),
    "SpaceToBatchND/5": (lambda d, x: d.op("SpaceToBatchND", x, BLOCKS, PADS), PIXELS),
    "SpaceToBatchND/int64": (
        lambda d, x: d.op("SpaceToBatchND", x, np.int64([2, 3]), np.int64([[0, 0], [1, 3]])),
        PIXELS[0],
    ),
    "BatchToSpaceND/5": (
        lambda d, x: d.op("BatchToSpaceND", x, BLOCKS, PADS // 2),
        np.repeat(PIXELS, 12, 0) * np.arange(12, dtype=np.float32).reshape(12, 1, 1, 1, 1),
    ),
}  # fmt: skip


def axis(draft, value):
    return draft.graph.constant(np.int32(value))


def lowered(build, *arrays):
    """(source, what it becomes) of a graph of some operations on inputs like `arrays`."""
    draft = Draft()
    inputs = [draft.input(f"x{i}", x.shape, x.dtype) for i, x in enumerate(arrays)]
    outputs = build(draft, *inputs)
    source = draft.source(*(outputs if isinstance(outputs, list | tuple) else [outputs]))
    return source, optimize(lower_graph(source))


@pytest.mark.parametrize("name", CASES)
def test_runs(name, litert):
    build, *arrays = CASES[name]
    source, graph = lowered(build, *arrays)
    check_runs([graph], in_litert=True)
    written = write(graph)
    content = save(written.model)
    assert verify(source.oracle(), Function(content, None, written.origins[0]), [arrays])
    feeds = dict(zip(source.graph.inputs, arrays, strict=True))
    want = evaluate(source.graph, source.graph.outputs, feeds)
    for resolver in ("BUILTIN_WITHOUT_DEFAULT_DELEGATES", "AUTO"):
        got = litert.run(content, [arrays], resolver)
        assert not isinstance(got, str), got
        for one, two in zip(got[0], want, strict=True):
            assert one.dtype == two.dtype and one.shape == two.shape
            if two.dtype.kind == "f":  # some of LiteRT's kernels cut infinities to the largest
                limits = np.finfo(two.dtype)
                one, two = (np.clip(x, limits.min, limits.max) for x in (one, two))
            np.testing.assert_allclose(one, two, rtol=1e-6, err_msg=name)


def kinds(build, *arrays):
    return [op.kind for op in lowered(build, *arrays)[1].ops]


def test_wide_types_stay_between_operators():
    """What one operator gave in a wider type, the next takes as it is."""

    def build(draft, x, y):
        joined = draft.graph.add("Pack", None, [x, y], {"axis": 0}).outputs[0]
        return draft.graph.add("Split", None, [axis(draft, 1), joined], {"num_split": 2}).outputs

    want = ["CAST", "CAST", "PACK", "SPLIT", "CAST", "CAST"]
    assert kinds(build, BOOLS[:, :2], BOOLS[:, 1:]) == want


def test_what_runs_is_left_alone():
    assert kinds(binary("FloorDiv"), np.int32([7]), np.int32([2])) == ["FLOOR_DIV"]
    assert kinds(binary("Equal"), np.int16([7]), np.int16([2])) == ["EQUAL"]

    def segments(d, x):
        return d.op("SegmentSum", x, np.int32([0, 0, 1, 2]))

    assert kinds(segments, np.float32([[1], [2], [3], [4]])) == ["SEGMENT_SUM"]


def test_sizes_divide_as_int32():
    """A size of a tensor fits int32, so that one division is enough."""

    def build(draft, x):
        sizes = draft.op("Shape", x, out_type=np.dtype(np.int64))
        return draft.op("FloorDiv", sizes, np.int64(3))

    draft = Draft()
    x = draft.input("x", (None, None))
    graph = optimize(lower_graph(draft.source(build(draft, x))))
    assert [op.kind for op in graph.ops] == ["SHAPE", "CAST", "FLOOR_DIV", "CAST"]


def test_refused():
    _, graph = lowered(lambda d, x: d.op("Where", x), np.float64([3, 0]))
    with pytest.raises(ConverterError) as raised:
        check_runs([graph], in_litert=True)
    assert str(raised.value).startswith(
        "LiteRT would refuse the model; change these operations in the source:\n"
        "  WHERE 'Where': it has no kernel for (float64) -> int64, only for x of float32 or int8 or"
    )


def test_options_and_counts_are_checked():
    draft = Draft()
    x = draft.input("x", (None, 2))
    graph = optimize(lower_graph(draft.source(draft.op("Shape", x))))
    (op,) = graph.ops
    op.options = type(op.options)()
    with pytest.raises(ConverterError, match="out_type must be INT32 or INT64, got 0"):
        check_runs([graph], in_litert=True)
    op.set_input(1, op.inputs[0])
    with pytest.raises(ConverterError, match="it takes 1 operands, got 2"):
        check_runs([graph], in_litert=True)


BYTES = np.random.default_rng(3).integers(-128, 128, (2, 3, 2600)).astype(np.int8)


@pytest.mark.parametrize("depth", [5, 1024, 1025, 2600])
@pytest.mark.parametrize("adjoint", [False, True])
def test_product_of_bytes_is_exact(depth, adjoint, litert):
    """int8 x int8 -> int32 by float32 products; all -128 are the largest sums there are."""
    x, y = BYTES[..., :depth], BYTES[::-1, :2, :depth]
    y = y if adjoint else np.ascontiguousarray(np.swapaxes(y, 1, 2))
    types = dict.fromkeys(("Ta", "Tb"), np.dtype(np.int8)) | {"Tout": np.dtype(np.int32)}

    def build(d, *inputs):
        return d.op("BatchMatMulV3", *inputs, **types, adj_y=adjoint)

    for one, other in ((x, y), (np.full_like(x, -128), np.full_like(y, -128))):
        _, graph = lowered(build, one, other)
        check_runs([graph], in_litert=True)
        right = np.swapaxes(other, 1, 2) if adjoint else other
        want = one.astype(np.int64) @ right.astype(np.int64)
        (got,) = litert.run(save(write(graph).model), [[one, other]])[0]
        np.testing.assert_array_equal(got, want)


def test_filters_of_unknown_shape_are_refused():
    draft = Draft()
    inputs = draft.input("x", (None, 8, 8, 3)), draft.input("filters", (None,) * 4)
    steps = {"strides": [1, 1, 1, 1], "padding": b"SAME"}
    source = draft.source(draft.op("DepthwiseConv2dNative", *inputs, **steps))
    with pytest.raises(ConverterError, match="the shape of the filters must be known, got"):
        lower_graph(source)


def test_absolute_indices_of_where(litert):
    """Of sizes that the data tells, too; the least int64 is its own absolute value."""
    _, graph = lowered(lambda d, x: d.op("Abs", d.op("Where", x)), BOOLS)
    (got,) = litert.run(save(write(graph).model), [[BOOLS]])[0]
    np.testing.assert_array_equal(got, np.argwhere(BOOLS))
    _, graph = lowered(lambda d, x: d.op("Abs", x), LARGE)
    (got,) = litert.run(save(write(graph).model), [[LARGE]])[0]
    np.testing.assert_array_equal(got, np.abs(LARGE))
