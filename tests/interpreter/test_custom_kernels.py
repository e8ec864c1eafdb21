"""Custom operators with a kernel: instructions of the program, also within loops and branches."""

import os
import struct

import numpy as np
import pytest
from flatbuffers import flexbuffers
from running import answers as run

import flatlite
from flatlite.graph.core.evaluate import evaluate
from flatlite.graph.core.graph import Graph
from flatlite.interpreter.delegation.with_custom_ops import InterpreterWithCustomOps
from flatlite.interpreter.interpreter import Interpreter
from flatlite.interpreter.plan.pending_plans import sources
from flatlite.interpreter.profile import profile
from flatlite.schema import custom_ops


class Affine:
    """x * scale + shift, two float32 in the options."""

    def __init__(self, options):
        self.scale, self.shift = struct.unpack("<ff", options)

    def prepare(self, x):
        return [(x.shape, x.dtype)]

    def arguments(self, x, out):
        numbers = {"scale": self.scale, "shift": self.shift}
        return {"x": x.ravel(), "out": out.ravel(), "split": x.size, **numbers}

    @flatlite.lite.kernel("x:float32[1] out~x:float32[1] scale:float32 shift:float32")
    def run(x, out, scale, shift, first, last, fault):
        for i in range(first, last):
            out[i] = x[i] * scale + shift


class Extremes:
    """The smallest and the largest number of each row, of several types."""

    def prepare(self, x):
        return [(x.shape[:1], x.dtype), (x.shape[:1], x.dtype)]

    def arguments(self, x, low, high):
        return {"x": x, "out_low": low, "out_high": high, "split": x.shape[0]}

    @flatlite.lite.kernel("x:T2 out_low:T1 out_high:T1", T=("float32", "int32"))
    def run(x, out_low, out_high, first, last, fault):
        for i in range(first, last):
            out_low[i] = out_high[i] = x[i, 0]
            for j in range(1, x.shape[1]):
                out_low[i] = min(out_low[i], x[i, j])
                out_high[i] = max(out_high[i], x[i, j])


@pytest.fixture
def registered(monkeypatch):
    """Registers classes for one test."""
    monkeypatch.setattr(custom_ops, "_CUSTOM_OPS", dict(custom_ops._CUSTOM_OPS))

    def register(**classes):
        for name, cls in classes.items():
            flatlite.lite.custom_op(name)(cls)

    return register


def affine(builder, saved, shape=(3, 5)):
    main = builder("main")
    x, y = main.input("x", shape), main.tensor("y", shape)
    options = struct.pack("<ff", 2.5, -1)
    main.op("CUSTOM", [x], [y], custom_code="Affine", custom_options=options)
    return saved(main.outputs(y))


@pytest.mark.parametrize("threads", [1, 2])
def test_is_one_instruction(builder, saved, registered, threads):
    registered(Affine=Affine)
    interpreter = Interpreter(model_content=affine(builder, saved, (64, 4099)), num_threads=threads)
    x = np.random.default_rng(0).normal(size=(64, 4099)).astype(np.float32)
    (y,) = run(interpreter, x)
    assert np.array_equal(y, x * np.float32(2.5) - np.float32(1))
    assert [row.kind for row in profile(interpreter)] == ["Affine"]
    assert all(map(os.path.exists, sources()))  # of which plans are made; its kernel is none


def looped(builder, saved):
    """x, sent through Affine three times by a WHILE."""
    main, check, body = builder("main"), builder("check"), builder("body")
    options = struct.pack("<ff", 2.5, -1)
    i, x = main.constant("start", np.int32([0])), main.input("x", (4,))
    n, y = main.tensor("n", (1,), "INT32"), main.tensor("y", (4,))
    main.op("WHILE", [i, x], [n, y], cond_subgraph_index=1, body_subgraph_index=2)
    i, _ = check.input("i", (1,), "INT32"), check.input("x", (4,))
    more = check.tensor("more", (1,), "BOOL")
    check.op("LESS", [i, check.constant("three", np.int32([3]))], [more])
    i, x = body.input("i", (1,), "INT32"), body.input("x", (4,))
    following, y = body.tensor("following", (1,), "INT32"), body.tensor("y", (4,))
    body.op("ADD", [i, body.constant("one", np.int32([1]))], [following])
    body.op("CUSTOM", [x], [y], custom_code="Affine", custom_options=options)
    return saved(main.outputs(y), check.outputs(more), body.outputs(following, y))


def test_in_a_loop_it_is_part_of_the_callers_program(builder, saved, registered):
    registered(Affine=Affine)
    interpreter = Interpreter(model_content=looped(builder, saved))
    x = np.float32([0, 1, -2, 0.5])
    expected = x
    for _ in range(3):
        expected = expected * np.float32(2.5) - np.float32(1)
    assert np.array_equal(run(interpreter, x)[0], expected)
    kinds = {row.kind for row in profile(interpreter)}
    assert "Affine" in kinds  # in WHILE's own program; a Python step would count for WHILE
    assert "WHILE" not in kinds or len(kinds) > 1


def test_in_a_branch(builder, saved, registered):
    registered(Affine=Affine)
    main, then, otherwise = builder("main"), builder("then"), builder("otherwise")
    flag, x, y = main.input("flag", (1,), "BOOL"), main.input("x", (4,)), main.tensor("y", (4,))
    main.op("IF", [flag, x], [y], then_subgraph_index=1, else_subgraph_index=2)
    main.outputs(y)
    for b, numbers in ((then, (2, 1)), (otherwise, (-1, 0))):
        x, y = b.input("x", (4,)), b.tensor("y", (4,))
        options = struct.pack("<ff", *numbers)
        b.op("CUSTOM", [x], [y], custom_code="Affine", custom_options=options)
        b.outputs(y)
    interpreter = Interpreter(model_content=saved(main, then, otherwise))
    x = np.float32([1, 2, 3, 4])
    assert run(interpreter, np.array([True]), x)[0].tolist() == [3, 5, 7, 9]
    assert run(interpreter, np.array([False]), x)[0].tolist() == [-1, -2, -3, -4]


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_several_types_and_results(builder, saved, registered, dtype):
    registered(Extremes=Extremes)
    main, kind = builder("main"), np.dtype(dtype).name.upper()
    x = main.input("x", (None, 3), kind)
    low, high = main.tensor("low", (None,), kind), main.tensor("high", (None,), kind)
    main.op("CUSTOM", [x], [low, high], custom_code="Extremes")
    interpreter = Interpreter(model_content=saved(main.outputs(low, high)))
    x = np.array([[3, 1, 2], [-1, -5, 9]], dtype)
    assert [y.tolist() for y in run(interpreter, x)] == [[1, -5], [3, 9]]
    assert [y.tolist() for y in run(interpreter, x[:1])] == [[1], [3]]


def test_registered_with_one_interpreter(builder, saved):
    interpreter = InterpreterWithCustomOps(
        [lambda custom_op: custom_op("Affine")(Affine)], model_content=affine(builder, saved)
    )
    assert run(interpreter, np.ones((3, 5), np.float32))[0].tolist() == [[1.5] * 5] * 3


def test_in_a_graph(registered):
    registered(Affine=Affine, Rows=Extremes)
    graph = Graph()
    x = graph.add("Placeholder", "x", (), {"dtype": np.dtype("i4"), "shape": (2, 3)}).outputs[0]
    op = graph.add("Rows", "rows", [x], n_outputs=2)
    low, high = evaluate(graph, op.outputs, {x: np.int32([[3, 1, 2], [-1, -5, 9]])})
    assert (low.tolist(), high.tolist()) == ([1, -5], [3, 9])


class WrongArguments(Affine):
    def arguments(self, x, out):
        return {"x": x.ravel(), "out": out.ravel()}


class NoSplit(Affine):
    def arguments(self, x, out):
        return {name: x for name, x in super().arguments(x, out).items() if name != "split"}


class NoDict(Affine):
    def arguments(self, x, out):
        return 5


class WrongRank(Affine):
    def arguments(self, x, out):
        return {**super().arguments(x, out), "x": x}


class WrongCode(Affine):
    @flatlite.lite.kernel("x:float32[1] out~x:float32[1] scale:float32 shift:float32")
    def run(x, out, scale, shift, first, last, fault):
        x[first] = scale


@pytest.mark.parametrize(
    ("cls", "message"),
    [
        (WrongArguments, "Affine: arguments must give x, out, scale, shift, got x, out"),
        (NoSplit, "Affine: arguments must give split, the number of items"),
        (NoDict, "arguments must give a dict by the kernel's names, got 5"),
        (WrongRank, r"run: 'x' must be rank 1, got shape \(3, 5\)"),
        (WrongCode, "(?s)AFFINE|Affine.*does not compile.*x"),
    ],
)
def test_what_is_wrong_is_said(builder, saved, registered, cls, message):
    registered(Affine=cls)
    with pytest.raises(RuntimeError, match=message):
        Interpreter(model_content=affine(builder, saved)).allocate_tensors()


def test_a_kernel_needs_its_methods():
    class Bare:
        @flatlite.lite.kernel("x:float32[1] out:float32[1]")
        def run(x, out, first, last, fault):
            pass

    with pytest.raises(ValueError, match="whose run is a kernel, must have a method prepare"):
        flatlite.lite.custom_op("Bare")(Bare)
    with pytest.raises(ValueError, match="declaration must be a non-empty str, got None"):
        flatlite.lite.kernel(None)


VECTOR = np.float32([1, -2, 0.5])


class Joined:
    """Rows of a table for the ids of each channel, one after the other."""

    def __init__(self, options):
        self.widths = flexbuffers.Loads(options)["embedding_dim_per_channel"]

    def run(self, ids, table):
        parts = [table[row, :width] for row, width in zip(ids.T, self.widths, strict=True)]
        return np.concatenate(parts, 1)


def test_a_class_for_a_builtin_without_a_definition(builder, saved):
    """CONCAT_EMBEDDINGS is what a user's class of its name says, made of the operator's options."""
    ids, table = np.int32([[0, 2], [1, 1]]), np.float32(np.arange(12).reshape(3, 4))
    b = builder("main")
    operands = [b.input("ids", ids.shape, "INT32"), b.constant("table", table)]
    y, fields = b.tensor("y", (2, 5)), {"embedding_dim_per_channel": np.int32([3, 2])}
    b.op("CONCAT_EMBEDDINGS", operands, [y], num_channels=2, **fields)
    content = saved(b.outputs(y))
    with pytest.raises(RuntimeError, match="no definition of it is public"):
        Interpreter(model_content=content).allocate_tensors()
    registerers = [lambda custom_op: custom_op("CONCAT_EMBEDDINGS")(Joined)]
    interpreter = InterpreterWithCustomOps(registerers, model_content=content)
    np.testing.assert_array_equal(run(interpreter, ids)[0], [[0, 1, 2, 8, 9], [4, 5, 6, 4, 5]])


@pytest.mark.parametrize("n_turns", [1, 3])
def test_a_class_for_a_target_of_custom_calls(builder, saved, n_turns):
    """A kernel that STABLEHLO_CUSTOM_CALL names, in the body of a WHILE."""
    main, cond, body = builder("main"), builder("cond"), builder("body")
    start, x = main.constant("i", np.int32(0)), main.input("x", VECTOR.shape)
    ends = [main.tensor("n", (), "INT32"), main.tensor("y", VECTOR.shape)]
    main.op("WHILE", [start, x], ends, cond_subgraph_index=1, body_subgraph_index=2)
    i, _ = cond.input("i", (), "INT32"), cond.input("x", VECTOR.shape)
    most, less = cond.constant("most", np.int32(n_turns)), cond.tensor("less", (), "BOOL")
    cond.op("LESS", [i, most], [less])
    i, x = body.input("i", (), "INT32"), body.input("x", VECTOR.shape)
    following, y = body.tensor("following", (), "INT32"), body.tensor("y", VECTOR.shape)
    body.op("ADD", [i, body.constant("one", np.int32(1))], [following])
    config = "2 1"
    body.op("STABLEHLO_CUSTOM_CALL", [x], [y], call_target_name="my.affine", backend_config=config)

    class Target(Affine):
        def __init__(self, options):
            self.scale, self.shift = map(float, options.split())

    content = saved(main.outputs(ends[1]), cond.outputs(less), body.outputs(following, y))
    registerers = [lambda custom_op: custom_op("my.affine")(Target)]
    interpreter = InterpreterWithCustomOps(registerers, model_content=content)
    expected = VECTOR
    for _ in range(n_turns):
        expected = expected * 2 + 1
    np.testing.assert_allclose(run(interpreter, VECTOR)[0], expected, rtol=1e-6)


def test_a_call_of_an_operation_of_tensorflow(builder, saved):
    """With attributes as LiteRT's tools write them: a linear image stays one when it is resized."""
    image = np.arange(8, dtype=np.float32).reshape(1, 2, 4, 1)
    fields = {"align_corners": True, "half_pixel_centers": False, "has_side_effect": False}
    attributes = np.frombuffer(bytes(flexbuffers.Dumps(fields)), np.uint8)
    b = builder("main")
    x, size = b.input("x", image.shape), b.constant("size", np.int32([3, 7]))
    y = b.tensor("y", (1, 3, 7, 1))
    options = {"call_target_name": "tf.ResizeBilinear", "custom_attributes": attributes}
    b.op("STABLEHLO_CUSTOM_CALL", [x, size], [y], **options)
    rows, columns = np.linspace(0, 4, 3), np.linspace(0, 3, 7)
    np.testing.assert_allclose(
        run(Interpreter(model_content=saved(b.outputs(y))), image)[0][0, :, :, 0],
        np.add.outer(rows, columns),
    )


def test_a_call_with_words(builder, saved):
    """MirrorPad says how by a string."""
    attributes = np.frombuffer(bytes(flexbuffers.Dumps({"mode": "REFLECT"})), np.uint8)
    b = builder("main")
    x, paddings = b.input("x", VECTOR.shape), b.constant("paddings", np.int32([[1, 2]]))
    y, options = b.tensor("y", (6,)), {"call_target_name": "tf.MirrorPad"}
    b.op("STABLEHLO_CUSTOM_CALL", [x, paddings], [y], custom_attributes=attributes, **options)
    padded = run(Interpreter(model_content=saved(b.outputs(y))), VECTOR)[0]
    np.testing.assert_array_equal(padded, VECTOR[[1, 0, 1, 2, 1, 0]])
