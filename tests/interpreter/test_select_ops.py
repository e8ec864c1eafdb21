"""Flex operators: files that TensorFlow wrote with SELECT_TF_OPS, and its answers.

make_flex_models.py made them. TensorFlow is not imported.
"""

import pickle
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from flatbuffers import flexbuffers
from running import answers as run

from flatlite.graph.core.graph import Graph
from flatlite.graph.format.graphdef import to_graph_def
from flatlite.interpreter.interpreter import Interpreter
from flatlite.schema.dtypes import RESOURCE, VARIANT

FOLDER = Path(__file__).parent / "flex"
RUNS = np.load(FOLDER / "runs.npz")
NAMES = sorted(path.stem for path in FOLDER.glob("*.tflite"))


def recorded(name, kind):
    keys = [key for key in RUNS.files if key.startswith(f"{name}:{kind}:")]
    arrays = [RUNS[f"{name}:{kind}:{i}"] for i in range(len(keys))]
    return [x.astype(object) if x.dtype.kind == "S" else x for x in arrays]


def in_order(interpreter, outputs):
    """The outputs in the order of the function's results, where the file has a signature."""
    if not interpreter.get_signature_list():
        return outputs
    details = interpreter.get_output_details()
    arrays = {one["index"]: x for one, x in zip(details, outputs, strict=True)}
    named = interpreter.get_signature_runner().get_output_details()
    return [arrays[named[name]["index"]] for name in sorted(named)]


@pytest.mark.parametrize("name", NAMES)
def test_files_of_tensorflow(name):
    content = (FOLDER / f"{name}.tflite").read_bytes()
    assert b"Flex" in content
    interpreter = Interpreter(model_content=content)
    answers = in_order(interpreter, run(interpreter, *recorded(name, "in")))
    for mine, theirs in zip(answers, recorded(name, "tf"), strict=True):
        assert mine.dtype == theirs.dtype
        check = np.testing.assert_array_equal
        if mine.dtype.kind == "f":
            check = partial(np.testing.assert_allclose, rtol=2e-5, atol=1e-5)
        check(mine, theirs)
    assert "tensorflow" not in sys.modules


def test_random_numbers_go_on_from_run_to_run():
    x = np.zeros((2, 3), np.float32)
    interpreter = Interpreter(model_path=str(FOLDER / "random.tflite"))
    first, second = run(interpreter, x)[0], run(interpreter, x)[0]
    assert not np.array_equal(first, second)
    assert np.array_equal(run(Interpreter(model_path=str(FOLDER / "random.tflite")), x)[0], first)


def test_tables_are_the_interpreters():
    """What a run adds to a table is there in the next one, in a clone and after pickling."""
    path, (words,) = str(FOLDER / "counted_words.tflite"), recorded("counted_words", "in")
    interpreter = Interpreter(model_path=path)
    for n in (1, 2):
        assert in_order(interpreter, run(interpreter, words))[0].tolist() == [n, n, n]
    copies = interpreter.clone(), pickle.loads(pickle.dumps(interpreter))
    for other in (*copies, interpreter):
        assert in_order(other, run(other, words[:1]))[0].tolist() == [3]
    assert [1, 1, 1] in [x.tolist() for x in run(Interpreter(model_path=path), words)]


def flex(builder, saved, kind, attrs, inputs, outs, written=None):
    """A model of one operation, as the converter writes them."""
    graph = Graph()
    xs = [
        graph.add("Placeholder", f"x{i}", (), {"dtype": x.dtype, "shape": x.shape}).outputs[0]
        for i, x in enumerate(inputs)
    ]
    graph.add(kind, "op", xs, attrs)
    (node,) = [n for n in to_graph_def(graph).node if n.name == "op"]
    content = flexbuffers.Dumps([written or kind, node.SerializeToString().decode("latin-1")])
    b = builder("main")
    tensors = [b.input(f"x{i}", x.shape, x.dtype.name.upper()) for i, x in enumerate(inputs)]
    ys = [b.tensor(f"y{i}", shape, dtype) for i, (shape, dtype) in enumerate(outs)]
    code = f"Flex{written or kind}"
    b.op("CUSTOM", tensors, ys, custom_code=code, custom_options=bytes(content))
    return saved(b.outputs(*ys))


X = np.float32([[4, 1], [1, 3]])
HANDLE = RESOURCE, ()
SEEDS = {"seed": 3, "seed2": 5}


@pytest.mark.parametrize(
    ("kind", "attrs", "inputs", "dtype", "runs"),
    [
        (
            "Multinomial",
            {"T": np.float32, "output_dtype": np.int64},
            [np.float32([[0, 1, 2], [2, 0, 0]]), np.int32(4)],
            "INT64",
            [[[1, 0, 2, 2], [0, 1, 0, 0]], [[2, 2, 2, 2], [0, 0, 0, 0]]],
        ),
        (
            "RandomGamma",
            {"S": np.int32, "T": np.float32},
            [np.int32([2]), np.float32([0.5, 2])],
            "FLOAT32",
            [
                [
                    [0.7825867533683777, 3.3050220012664795],
                    [0.4133295714855194, 3.3068370819091797],
                ],
                [
                    [0.3353619873523712, 2.237259864807129],
                    [0.2922837734222412, 0.49397170543670654],
                ],
            ],
        ),
        (
            "RandomPoissonV2",
            {"S": np.int32, "R": np.float32, "dtype": np.int32},
            [np.int32([3]), np.float32([1, 20])],
            "INT32",
            [[[0, 28], [0, 17], [0, 14]], [[4, 19], [1, 23], [2, 30]]],
        ),
    ],
)
def test_draws_are_those_of_tensorflow(builder, saved, kind, attrs, inputs, dtype, runs):
    """What two runs of TensorFlow 2.21's kernel give from these seeds."""
    shape = np.shape(runs[0])
    interpreter = Interpreter(
        model_content=flex(builder, saved, kind, {**attrs, **SEEDS}, inputs, [(shape, dtype)])
    )
    for expected in runs:
        np.testing.assert_allclose(run(interpreter, *inputs)[0], expected, rtol=1e-6)


def test_numbers_that_are_none_are_an_error(builder, saved):
    attrs = {"T": np.float32, "message": "m"}
    content = flex(builder, saved, "CheckNumerics", attrs, [X], [((2, 2), "FLOAT32")])
    interpreter = Interpreter(model_content=content)
    np.testing.assert_array_equal(run(interpreter, X)[0], X)
    with pytest.raises(RuntimeError, match="m : Tensor had NaN values"):
        run(interpreter, np.full_like(X, np.nan))


def test_shapes_follow_a_resize(builder, saved):
    content = flex(builder, saved, "Atan", {}, [X], [((2, 2), "FLOAT32")])
    interpreter = Interpreter(model_content=content)
    wide = np.ones((3, 5), np.float32)
    np.testing.assert_allclose(run(interpreter, wide)[0], np.arctan(wide), rtol=1e-6)


@pytest.mark.parametrize(
    ("kind", "attrs", "outs", "written", "message"),
    [
        ("Atan", {}, [((2, 2), "INT32")], None, "Atan gives float32, the model declares int32"),
        ("Atan", {}, [((2, 2), "FLOAT32")] * 2, None, "Atan has 1 results, the model 2"),
        ("Atan", {}, [((2, 2), "FLOAT32")], "Cosh", "options must describe Cosh, got Atan"),
        ("Lgamma", {}, [((2, 2), "FLOAT32")], None, None),
    ],
)
def test_what_is_wrong_is_said(builder, saved, kind, attrs, outs, written, message):
    interpreter = Interpreter(model_content=flex(builder, saved, kind, attrs, [X], outs, written))
    if message is None:
        interpreter.allocate_tensors()
        return
    with pytest.raises(RuntimeError, match=message):
        interpreter.allocate_tensors()


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("ReadFile", "ReadFile opens files or changes variables, which no model may"),
        ("PyFunc", "PyFunc opens files or changes variables, which no model may"),
        ("VariableV2", "VariableV2 is of references, which no Flex operator may be"),
        ("BatchCholesky", "BatchCholesky was removed from TensorFlow"),
        ("QuantizedMatMul", "QuantizedMatMul takes or gives qint32"),
        ("GetSessionHandleV2", "keeps a state, which Flex operators may not"),
        ("NoSuchOp", "(?s)Regular/Select TensorFlow ops.*there is no kernel for NoSuchOp"),
    ],
)
def test_operations_that_would_do_more_than_compute_are_refused(builder, saved, kind, message):
    graph = Graph()
    node = to_graph_def(graph).node.add(name="op", op=kind)
    node.attr["token"].s = b"x"
    node.attr["Tin"].list.SetInParent()
    node.attr["Tout"].list.type.append(1)
    node.attr["dtype"].type = 1
    node.attr["shape"].shape.SetInParent()
    content = bytes(flexbuffers.Dumps([kind, node.SerializeToString().decode("latin-1")]))
    b = builder("main")
    y = b.tensor("y", (1,))
    x = b.input("x", (1,), "STRING" if kind == "ReadFile" else "INT32")
    inputs = [] if kind in ("PyFunc", "VariableV2") else [x]
    b.op("CUSTOM", inputs, [y], custom_code=f"Flex{kind}", custom_options=content)
    with pytest.raises(RuntimeError, match=message):
        Interpreter(model_content=saved(b.outputs(y))).allocate_tensors()


@pytest.mark.parametrize("content", [b"", b"\0\0\1", b"abc", bytes(flexbuffers.Dumps(["Atan"]))])
def test_options_that_hold_no_operation(builder, saved, content):
    b = builder("main")
    x, y = b.input("x", (1,)), b.tensor("y", (1,))
    b.op("CUSTOM", [x], [y], custom_code="FlexAtan", custom_options=content)
    with pytest.raises(RuntimeError, match="FlexAtan"):
        Interpreter(model_content=saved(b.outputs(y))).allocate_tensors()


def test_variables_are_those_of_other_operators(builder, saved):
    """A step of gradient descent on what ASSIGN_VARIABLE wrote, for READ_VARIABLE to read."""
    kind, attrs = "ResourceApplyGradientDescent", {"T": np.float32}
    b = builder("main")
    x, rate = b.input("x", X.shape), b.input("rate", ())
    v, y = b.tensor("v", (1,), "RESOURCE"), b.tensor("y", X.shape)
    b.op("VAR_HANDLE", [], [v], container="", shared_name="v")
    b.op("ASSIGN_VARIABLE", [v, x], [])
    options = options_of(kind, "op", attrs, HANDLE, (X.dtype, ()), (X.dtype, X.shape))
    b.op("CUSTOM", [v, rate, x], [], custom_code=f"Flex{kind}", custom_options=options)
    b.op("READ_VARIABLE", [v], [y])
    interpreter = Interpreter(model_content=saved(b.outputs(y)))
    for other in (interpreter, interpreter.clone(), pickle.loads(pickle.dumps(interpreter))):
        assert np.array_equal(run(other, X, np.float32(0.25))[0], X * 0.75)


def options_of(kind, name, attrs, *operands):
    """The options of a Flex operator with operands of these types and shapes."""
    graph = Graph()
    xs = [
        graph.add("Placeholder", f"x{i}", (), {"dtype": dtype, "shape": shape}).outputs[0]
        for i, (dtype, shape) in enumerate(operands)
    ]
    graph.add(kind, name, xs, attrs)
    (node,) = [n for n in to_graph_def(graph).node if n.name == name]
    return bytes(flexbuffers.Dumps([kind, node.SerializeToString().decode("latin-1")]))


def variables(builder, assigns):
    """The builder of a file with variables of names alone, and what is read of each."""
    b = builder("main")
    x, kind = b.input("x", X.shape), {"dtype": X.dtype}
    handles, reads = [], []
    for name in ("first", "second"):
        handles.append(b.tensor(name, (), "RESOURCE"))
        options = options_of("VarHandleOp", name, {**kind, "shape": X.shape})
        b.op("CUSTOM", [], handles[-1:], custom_code="FlexVarHandleOp", custom_options=options)
    values = [x, b.op("NEG", [x], [b.tensor("negative", X.shape)])]
    for handle, value in zip(handles, values, strict=True):
        if assigns:
            options = options_of("AssignVariableOp", "assign", kind, HANDLE, (X.dtype, X.shape))
            code = "FlexAssignVariableOp"
            b.op("CUSTOM", [handle, value], [], custom_code=code, custom_options=options)
    for i, handle in enumerate(handles):
        reads.append(b.tensor(f"y{i}", X.shape))
        options = options_of("ReadVariableOp", "read", kind, HANDLE)
        b.op(
            "CUSTOM", [handle], reads[-1:], custom_code="FlexReadVariableOp", custom_options=options
        )
    return b.outputs(*reads)


def test_a_variable_without_a_value_is_an_error(builder, saved):
    interpreter = Interpreter(model_content=saved(variables(builder, assigns=False)))
    with pytest.raises(RuntimeError, match="takes a variable to which a value was assigned"):
        run(interpreter, X)


def test_variables_are_told_by_their_names(builder, saved):
    interpreter = Interpreter(model_content=saved(variables(builder, assigns=True)))
    assert [y.tolist() for y in run(interpreter, X)] == [X.tolist(), (-X).tolist()]


def test_what_is_printed(capsys):
    interpreter = Interpreter(model_path=str(FOLDER / "shown.tflite"))
    run(interpreter, np.float32([1, 2.5]))
    assert capsys.readouterr().err == "x is [1 2.5]\n"


def test_nothing_is_printed_to_files(builder, saved):
    options = options_of(
        "PrintV2", "op", {"output_stream": b"file://never"}, (np.dtype(object), ())
    )
    b = builder("main")
    y = b.input("x", (), "STRING")
    b.op("CUSTOM", [y], [], custom_code="FlexPrintV2", custom_options=options)
    with pytest.raises(RuntimeError, match="a model opens no files"):
        Interpreter(model_content=saved(b.outputs(y))).allocate_tensors()


def queue(builder, saved, n_enqueued, n_dequeued, capacity):
    """A file that puts its input into a queue, some times, and takes from it."""
    b = builder("main")
    x, handle = b.input("x", X.shape), b.tensor("queue", (), "RESOURCE")
    types = {"component_types": [X.dtype]}
    for kind, name, inputs, outputs, attrs in (
        (
            "FIFOQueueV2",
            "queue",
            [],
            [handle],
            {**types, "shapes": [X.shape], "capacity": capacity},
        ),
        *[("QueueEnqueueV2", f"put{i}", [handle, x], [], {}) for i in range(n_enqueued)],
        *[
            ("QueueDequeueV2", f"take{i}", [handle], [b.tensor(f"y{i}", X.shape)], types)
            for i in range(n_dequeued)
        ],
    ):
        operands = [HANDLE, (X.dtype, X.shape)][: len(inputs)]
        options = options_of(kind, name, attrs, *operands)
        b.op("CUSTOM", inputs, outputs, custom_code=f"Flex{kind}", custom_options=options)
    tensors = [t for t, one in enumerate(b.subgraph.tensors) if one.name.startswith("y")]
    return saved(b.outputs(*tensors))


def test_queues_last_from_run_to_run(builder, saved):
    """As long as the interpreter; a clone has its own."""
    interpreter = Interpreter(model_content=queue(builder, saved, 2, 1, 99))
    assert [run(interpreter, X * i)[0].tolist() for i in (1, 2, 3)] == [
        (X * i).tolist() for i in (1, 1, 2)
    ]
    assert run(interpreter.clone(), X * 9)[0].tolist() == (X * 9).tolist()


@pytest.mark.parametrize(("enqueued", "dequeued", "capacity"), [(1, 2, 99), (3, 1, 2)])
def test_a_queue_waits_for_nobody(builder, saved, enqueued, dequeued, capacity):
    """Where nothing else could fill or empty it, a wait would have no end."""
    interpreter = Interpreter(model_content=queue(builder, saved, enqueued, dequeued, capacity))
    with pytest.raises(RuntimeError, match="waits for what nothing else does while the model runs"):
        run(interpreter, X)


def test_keys_that_a_map_lacks(builder, saved):
    b = builder("main")
    key, variant = b.input("key", (), "INT32"), b.tensor("map", (), "VARIANT")
    y = b.tensor("y", ())
    options = options_of("EmptyTensorMap", "map", {})
    b.op("CUSTOM", [], [variant], custom_code="FlexEmptyTensorMap", custom_options=options)
    types = {"key_dtype": np.int32, "value_dtype": np.float32}
    options = options_of("TensorMapLookup", "y", types, (VARIANT, ()), (np.int32, ()))
    b.op("CUSTOM", [variant, key], [y], custom_code="FlexTensorMapLookup", custom_options=options)
    with pytest.raises(RuntimeError, match="Could not find key 3"):
        run(Interpreter(model_content=saved(b.outputs(y))), np.int32(3))
