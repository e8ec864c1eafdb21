"""Interpreter: running, resizing, stages, subgraphs, variables, copies."""

import gc
import os
import pickle
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest
from custom_ops import custom
from running import answers as run

from flatlite.collection import collection_paused
from flatlite.errors import ModelError
from flatlite.interpreter.interpreter import Interpreter
from flatlite.schema.custom_ops import custom_op


@pytest.mark.parametrize("n", [2, 1, 0, 7])
def test_every_batch_size(transposer, n):
    interpreter = Interpreter(model_content=transposer)
    x = np.random.default_rng(n).normal(size=(n, 3)).astype(np.float32)
    for _ in range(2):
        y, z = run(interpreter, x)
        np.testing.assert_array_equal(y, x.T)
        np.testing.assert_array_equal(z, x.T.ravel())
    assert [d["shape"].tolist() for d in interpreter.get_output_details()] == [[3, n], [3 * n]]
    assert interpreter.get_output_details()[0]["shape_signature"].tolist() == [3, -1]


def test_shapes_follow_each_resize(transposer):
    interpreter = Interpreter(model_content=transposer)
    assert interpreter.get_input_details()[0]["shape"].tolist() == [1, 3]
    for n in (4, 2, 9, 2):
        interpreter.resize_tensor_input(0, [n, 3])
        assert interpreter.get_input_details()[0]["shape"].tolist() == [n, 3]
        interpreter.allocate_tensors()
        assert interpreter.get_output_details()[0]["shape"].tolist() == [3, n]


def test_inputs_keep_their_values_over_allocate(transposer):
    interpreter = Interpreter(model_content=transposer)
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, np.float32([[1, 2, 3]]))
    interpreter.allocate_tensors()
    interpreter.resize_tensor_input(0, [1, 3])
    assert interpreter.get_tensor(0).tolist() == [[1, 2, 3]]


def test_tensor_gives_views_that_read_and_write(transposer):
    interpreter = Interpreter(model_content=transposer)
    x, z = interpreter.tensor(0), interpreter.tensor(interpreter.get_output_details()[1]["index"])
    interpreter.allocate_tensors()
    for factor in (1, 5):
        x()[...] = np.float32([[1, 2, 3]]) * factor
        interpreter.invoke()
        assert z().tolist() == [1 * factor, 2 * factor, 3 * factor]


def test_get_tensor_copies(transposer):
    interpreter = Interpreter(model_content=transposer)
    first = run(interpreter, np.ones((1, 3), np.float32))[1]
    run(interpreter, np.zeros((1, 3), np.float32))
    assert first.tolist() == [1, 1, 1]


def test_same_tensor_twice_among_the_outputs_and_an_input_as_output(builder, saved, make):
    b = builder()
    x = b.input("x", (2,))
    y = custom(b, "Twice", x, (2,))
    content = saved(b.outputs(y, x, y))
    assert [a.tolist() for a in run(make(content), np.float32([1, 2]))] == [[2, 4], [1, 2], [2, 4]]


def test_constant_output_is_there_after_allocate(builder, saved):
    b = builder()
    b.input("x", (1,))
    shape = b.constant("shape", np.int32([2, 2]))
    y = b.tensor("y", (2, 2))
    b.op("RESHAPE", [b.constant("c", np.arange(4, dtype=np.float32)), shape], [y])
    interpreter = Interpreter(model_content=saved(b.outputs(y)))
    interpreter.allocate_tensors()
    assert interpreter.get_tensor(y).tolist() == [[0, 1], [2, 3]]


def test_shape_that_is_an_input_ends_a_stage(builder, saved, make):
    b = builder()
    x, shape = b.input("x", (6,)), b.input("shape", (2,), "INT32")
    y = b.tensor("y", (None, None))
    b.op("RESHAPE", [custom(b, "Twice", x, (6,)), shape], [y])
    interpreter = make(saved(b.outputs(custom(b, "Twice", y, (None, None)))))
    values = np.arange(6, dtype=np.float32)
    for expected in ([2, 3], [3, 2], [2, 3], [-1, 1]):
        (y,) = run(interpreter, values, np.int32(expected))
        np.testing.assert_array_equal(y, 4 * values.reshape(expected))
        assert interpreter.get_output_details()[0]["shape"].tolist() == list(y.shape)
    with pytest.raises(
        RuntimeError, match=r"RESHAPE.*\n.*\nNode number 1 .RESHAPE. failed to prep"
    ):
        run(interpreter, values, np.int32([4, 2]))
    with pytest.raises(ValueError, match="the last invoke did not come to its end"):
        interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    np.testing.assert_array_equal(run(interpreter, values, np.int32([6, 1]))[0].ravel(), 4 * values)


def test_result_of_unknown_size_ends_a_stage(builder, saved, make):
    b = builder()
    x = b.input("x", (4,))
    positive = custom(b, "Positive", custom(b, "Twice", x, (4,)), (None,))
    row = b.tensor("row", (1, None))
    b.op("RESHAPE", [positive, b.constant("shape", np.int32([1, -1]))], [row])
    interpreter = make(saved(b.outputs(custom(b, "Twice", row, (1, None)), positive)))
    for x in ([1, -2, 3, 4], [-1, -1, -1, -1], [5, -2, 3, 4], [0, 0, 9, 0]):
        doubled = 2 * np.float32([n for n in x if n > 0])
        row, positive = run(interpreter, np.float32(x))
        np.testing.assert_array_equal(positive, doubled)
        np.testing.assert_array_equal(row, 2 * doubled[None])


def test_shape_chains_are_folded(builder, saved):
    b = builder()
    x = b.input("x", (None, 2, 3))
    shape, n = b.tensor("shape", (3,), "INT32"), b.tensor("n", (), "INT32")
    b.op("SHAPE", [x], [shape], out_type=2)
    begin, end = b.constant("begin", np.int32([0])), b.constant("end", np.int32([1]))
    b.op(
        "STRIDED_SLICE",
        [shape, begin, end, b.constant("step", np.int32([1]))],
        [n],
        shrink_axis_mask=1,
    )
    packed, y = b.tensor("packed", (2,), "INT32"), b.tensor("y", (None, 6))
    b.op("PACK", [n, b.constant("six", np.int32(6))], [packed], values_count=2)
    b.op("RESHAPE", [x, packed], [y])
    interpreter = Interpreter(model_content=saved(b.outputs(y)))
    for n in (1, 4):
        x = np.random.default_rng(0).normal(size=(n, 2, 3)).astype(np.float32)
        np.testing.assert_array_equal(run(interpreter, x)[0], x.reshape(n, 6))
        plan = interpreter._plans[0]
        assert plan.first.cut is None
        assert plan.times() == []


def test_intermediates_are_kept_only_when_asked(builder, saved, make):
    b = builder()
    x = b.input("x", (2,))
    inner = custom(b, "Twice", x, (2,))
    content = saved(b.outputs(custom(b, "Twice", inner, (2,))))
    plain, keeping = make(content), make(content, experimental_preserve_all_tensors=True)
    for interpreter in (plain, keeping):
        np.testing.assert_array_equal(run(interpreter, np.float32([1, 2]))[0], [4, 8])
    np.testing.assert_array_equal(keeping.get_tensor(inner), [2, 4])
    with pytest.raises(ValueError, match=r"(?s)^Tensor data is null.*experimental_preserve_all"):
        plain.get_tensor(inner)


def test_dead_operators_are_skipped_unless_everything_is_kept(builder, saved, make, trouble):
    b = builder()
    x = b.input("x", (2,))
    y = custom(b, "Twice", x, (2,))
    dead = b.tensor("dead", (5, 5))
    b.op("RESHAPE", [x, b.constant("shape", np.int32([5, 5]))], [dead])
    content = saved(b.outputs(y))
    assert run(make(content), np.float32([1, 2]))[0].tolist() == [2, 4]
    with pytest.raises(RuntimeError, match="RESHAPE 'dead'"):
        run(make(content, experimental_preserve_all_tensors=True), np.float32([1, 2]))


def test_message_tells_names_and_shapes(builder, saved):
    b = builder()
    x, y = b.input("image", (2, 3)), b.tensor("flat", (5,))
    b.op("RESHAPE", [x, b.constant("wanted", np.int32([5]))], [y])
    interpreter = Interpreter(model_content=saved(b.outputs(y)))
    for _ in range(2):
        with pytest.raises(RuntimeError) as info:
            interpreter.allocate_tensors()
        assert str(info.value).splitlines() == [
            "RESHAPE 'flat': shape (2, 3) cannot be seen as (5,): 6 elements against 5",
            "inputs: 'image' float32 (2, 3), 'wanted' int32 (1,)",
            "Node number 0 (RESHAPE) failed to prepare.",
        ]


def test_unresolved_custom_and_flex_operators(builder, saved):
    for code, words in (
        (
            "ONNX_LSTM",
            "Encountered unresolved custom op: ONNX_LSTM.\nSee instructions: https://www",
        ),
        (
            "FlexAddV2",
            "Regular/Select TensorFlow ops are not supported by this interpreter. Make s",
        ),
    ):
        b = builder()
        content = saved(b.outputs(custom(b, code, b.input("x", (1,)), (1,))))
        interpreter = Interpreter(model_content=content)
        assert interpreter._get_ops_details()[0]["op_name"] == code
        with pytest.raises(RuntimeError) as info:
            interpreter.allocate_tensors()
        assert words in str(info.value)
        assert str(info.value).endswith(f"Node number 0 ({code}) failed to prepare.")


def test_operator_without_kernel_is_named(builder, saved):
    b = builder()
    x, y = b.input("x", (1,)), b.tensor("y", (1,))
    b.op("DELEGATE", [x], [y])
    message = "builtin opcode 'DELEGATE' version '1'. Neither TensorFlow Lite nor flatlite"
    with pytest.raises(ModelError, match=message):
        Interpreter(model_content=saved(b.outputs(y)))


def test_tensor_that_nothing_computes_is_named(builder, saved, make):
    b = builder()
    b.input("x", (1,))
    content = saved(b.outputs(custom(b, "Twice", b.tensor("nowhere", (1,)), (1,))))
    with pytest.raises(RuntimeError, match="input 0 'nowhere' is no constant, input or result"):
        make(content).allocate_tensors()


def test_tensor_with_two_sources_is_refused(builder, saved, make):
    for twice in ("x", "constant", "y"):
        b = builder()
        x, y = b.input("x", (1,)), b.tensor("y", (1,))
        of = {"x": x, "y": y, "constant": b.constant("c", np.float32([1]))}
        b.op("CUSTOM", [x], [y], custom_code="Twice")
        b.op("CUSTOM", [y], [of[twice]], custom_code="Twice")
        with pytest.raises((ValueError, RuntimeError), match="constant"):
            make(saved(b.outputs(y))).allocate_tensors()


def test_malformed_operators_are_refused_by_name(builder, saved):
    for kind, inputs in (("RESHAPE", []), ("CONV_2D", [0]), ("ADD", [0, -1]), ("TANH", [-1])):
        b = builder()
        b.input("x", (1, 1, 1, 1))
        y = b.tensor("y", (1, 1, 1, 1))
        b.op(kind, inputs, [y])
        with pytest.raises((ValueError, RuntimeError), match=kind):
            Interpreter(model_content=saved(b.outputs(y))).allocate_tensors()


def test_folded_constants_are_shared_by_clones(builder, saved):
    b = builder()
    x = b.input("x", (2, 3))
    w, y = b.tensor("w", (3, 2)), b.tensor("y", (4, 3))
    c = b.constant("c", np.arange(6, dtype=np.float32).reshape(2, 3))
    b.op("TRANSPOSE", [c, b.constant("p", np.int32([1, 0]))], [w])
    flat = b.tensor("flat", (2, 3))
    b.op("RESHAPE", [w, b.constant("s", np.int32([2, 3]))], [flat])
    b.op("CONCATENATION", [x, flat], [y], axis=0)
    interpreter = Interpreter(model_content=saved(b.outputs(y)))
    for one in (interpreter, interpreter.clone()):
        for n in (2, 1):
            (y,) = run(one, np.zeros((n, 3), np.float32))
            np.testing.assert_array_equal(y[n:], c_transposed := [[0, 3, 1], [4, 2, 5]])
    assert interpreter._model.subgraph(0).folded[1][1][0].value.tolist() == c_transposed


def test_custom_op_of_wrong_shape_count_or_type(builder, saved, make, trouble):
    b = builder()
    interpreter = make(saved(b.outputs(custom(b, "Trouble", b.input("x", (2,)), (2,)))))
    for doing, words in (
        (lambda x: x[:1], r"run must give float32 of shape \(2,\), got float32 of shape \(1,\)"),
        (
            lambda x: x.astype(np.float64),
            r"run must give float32 of shape .* got float64 of shape \(2,\)",
        ),
        (lambda x: (x, x), "run must give 1 results, got 2"),
    ):
        trouble(doing)
        with pytest.raises(
            RuntimeError, match=words + r"\nNode number 0 \(Trouble\) failed to inv"
        ):
            run(interpreter, np.float32([1, 2]))
    trouble(lambda x: x + 1)
    assert run(interpreter, np.float32([1, 2]))[0].tolist() == [2, 3]


def test_registered_custom_op_with_options_is_found(builder, saved):
    @custom_op("TestShift")
    class Shift:
        def __init__(self, options):
            self.amount = options[0]

        def run(self, x):
            return x + self.amount

    b = builder()
    x, y = b.input("x", (2,)), b.tensor("y", (2,))
    b.op("CUSTOM", [x], [y], custom_code="TestShift", custom_options=b"\x07")
    interpreter = Interpreter(model_content=saved(b.outputs(y)))
    assert run(interpreter, np.float32([1, 2]))[0].tolist() == [8, 9]


def test_custom_op_that_misses_an_option_says_so(builder, saved):
    class Missing:
        def __init__(self, options):
            self.limit = {}["limit"]

        def run(self, x):
            return x

    custom_op("TestMissing")(Missing)
    b = builder()
    y = custom(b, "TestMissing", b.input("x", (2,)), (2,))
    with pytest.raises(RuntimeError, match=r"KeyError: 'limit'\n.*\n.*TestMissing.*prepare"):
        run(Interpreter(model_content=saved(b.outputs(y))), np.float32([1, 2]))


def test_custom_op_must_have_a_name_and_run():
    with pytest.raises(ValueError, match="non-empty str, got ''"):
        custom_op("")
    with pytest.raises(ValueError, match="must be a class with a method run"):
        custom_op("Nothing")(object)


def test_second_thread_is_refused(builder, saved, make, trouble):
    b = builder()
    x = b.input("x", (2,))
    interpreter = make(saved(b.outputs(custom(b, "Trouble", x, (2,)))))
    interpreter.allocate_tensors()
    started, go_on = threading.Event(), threading.Event()

    def wait(x):
        started.set()
        assert go_on.wait(30)
        return x

    trouble(wait)
    thread = threading.Thread(target=interpreter.invoke)
    thread.start()
    assert started.wait(30)
    for use in (
        interpreter.invoke,
        interpreter.allocate_tensors,
        lambda: interpreter.get_tensor(x),
        lambda: interpreter.set_tensor(x, np.zeros(2, np.float32)),
        lambda: interpreter.resize_tensor_input(x, [3]),
        interpreter.clone,
        lambda: pickle.dumps(interpreter),
    ):
        with pytest.raises(RuntimeError, match="in use"):
            use()
    go_on.set()
    thread.join()
    interpreter.invoke()


def test_many_interpreters_in_many_threads(transposer):
    first = Interpreter(model_content=transposer)
    x = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    wrong = []

    def work(interpreter):
        wrong.extend(1 for _ in range(50) if not np.array_equal(run(interpreter, x)[0], x.T))

    threads = [threading.Thread(target=work, args=(first.clone(),)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_interrupt_leaves_a_usable_interpreter(builder, saved, make, trouble):
    b = builder()
    x = b.input("x", (2,))
    y = custom(b, "Trouble", x, (2,))
    interpreter = make(saved(b.outputs(y)))
    assert run(interpreter, np.float32([1, 2]))[0].tolist() == [1, 2]

    def interrupt(x):
        raise KeyboardInterrupt

    trouble(interrupt)
    with pytest.raises(KeyboardInterrupt):
        interpreter.invoke()
    with pytest.raises(ValueError, match="the last invoke did not come to its end; invoke again"):
        interpreter.get_tensor(y)
    assert interpreter.get_tensor(x).tolist() == [1, 2]
    trouble(lambda x: 3 * x)
    interpreter.invoke()
    assert interpreter.get_tensor(y).tolist() == [3, 6]


def test_details_of_other_subgraphs(builder, saved, make):
    main, other = builder("main"), builder("other")
    main.outputs(custom(main, "Twice", main.input("x", (2,)), (2,)))
    c = other.constant("c", np.float32([5, 6]))
    other.outputs(custom(other, "Twice", other.input("z", (4,)), (4,)))
    interpreter = make(saved(main, other))
    assert interpreter.num_subgraphs() == 2
    assert [d["name"] for d in interpreter.get_tensor_details(1)][:2] == ["c", "z"]
    assert interpreter.get_tensor(c, 1).tolist() == [5, 6]
    with pytest.raises(ValueError, match=r"^Tensor data is null"):
        interpreter.get_tensor(c + 1, 1)


WHOLE = [b"a\0", b"\0\0", b"a\0b\0", b"ab", b""]


@pytest.mark.parametrize("value", [*map(np.array, WHOLE), np.array(b"ab", "S5")], ids=repr)
def test_a_string_without_dimensions_keeps_its_zeros(builder, saved, litert, value):
    b = builder()
    x, one = b.input("x", (), "STRING"), b.constant("one", np.array([1], np.int32))
    model = saved(b.outputs(b.op("RESHAPE", [x, one], [b.tensor("y", (1,), "STRING")])))
    ours, theirs = run(Interpreter(model_content=model), value), litert.run(model, [[value]])[0]
    assert ours[0].tolist() == theirs[0].tolist() == [value.tobytes()]


@pytest.mark.parametrize("value", [*WHOLE, *map(np.bytes_, WHOLE), "a\0"], ids=repr)
def test_bytes_and_text_keep_their_zeros(builder, saved, value):
    b = builder()
    interpreter = Interpreter(model_content=saved(b.outputs(b.input("x", (), "STRING"))))
    got = run(interpreter, value)[0].item()
    assert type(got) is bytes and got == (value.encode() if isinstance(value, str) else value)


def test_strings_come_in_arrays(builder, saved):
    b = builder()
    interpreter = Interpreter(model_content=saved(b.outputs(b.input("x", (2,), "STRING"))))
    with pytest.raises(ValueError, match=r"^Passed in value type is not a numpy array, got type"):
        run(interpreter, ["a", "b"])


def test_strings_pass(builder, saved, make):
    b = builder()
    words = b.tensor("words", (2,), "STRING", data=np.array([b"ab", b""], object))
    x, y, z = (
        b.input("x", (None,), "STRING"),
        b.tensor("y", (1, None), "STRING"),
        b.tensor("z", (2, 1), "STRING"),
    )
    b.op("RESHAPE", [x, b.constant("row", np.int32([1, -1]))], [y])
    b.op("RESHAPE", [words, b.constant("column", np.int32([2, 1]))], [z])
    interpreter = make(saved(b.outputs(y, z)))
    y, z = run(interpreter, np.array(["über", b"b", "c"], object))
    assert y.tolist() == [["über".encode(), b"b", b"c"]]
    assert z.tolist() == [[b"ab"], [b""]]
    assert interpreter.get_input_details()[0]["dtype"] is np.bytes_
    with pytest.raises(ValueError, match="takes str or bytes, got int"):
        interpreter.set_tensor(x, np.array([1, 2, 3], object))


IMPORTS = """
import sys, numpy
known = {*sys.modules}  # pathlib takes ipaddress along
from flatlite.lite import Interpreter
interpreter = Interpreter(sys.argv[1])
interpreter.allocate_tensors()
details, = interpreter.get_input_details()
interpreter.set_tensor(details["index"], numpy.zeros(details["shape"], details["dtype"]))
interpreter.invoke()
interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
print(*sorted({*sys.modules} - known))
"""


@pytest.mark.parametrize(("keeps", "most"), [(False, 92), (True, 40)])
def test_only_what_is_needed_is_imported(keeps, most, tmp_path, corpus):
    """By a process that opens a file first, and by one that finds its plan.

    Each module costs a twentieth of a millisecond. Run before: the first may compile kernels.
    """
    path = tmp_path / "model.tflite"
    path.write_bytes((corpus / "C/lenet_k3/float.tflite").read_bytes())
    plans = tmp_path / "plans"
    environment = {**os.environ, "FLATLITE_PLANS": str(plans) if keeps else ""}
    new = "from flatlite.engine.run import disk_cache; disk_cache.SETTLED = 0\n"  # as the file is
    for script in (new + IMPORTS, IMPORTS):
        done = subprocess.run(
            [sys.executable, "-c", script, str(path)],
            capture_output=True, text=True, check=True, timeout=300, env=environment,
        )  # fmt: skip
    imported = done.stdout.split()
    assert len([*plans.glob("*")]) == keeps
    packages = {name.partition(".")[0] for name in imported}
    assert not packages & {"numba", "llvmlite", "google", "onnx", "h5py", "ml_dtypes", "html"}
    assert not {"flatlite.schema.model", "flatlite.schema.errors", "flatlite.converter"} & {
        *imported
    }
    ours = [name for name in imported if name.startswith("flatlite")]
    assert len(ours) <= most, ours


class Cycle:
    """Garbage that only a collection finds."""

    def __init__(self):
        self.cycle = self


def is_old(thing):
    return any(other is thing for other in gc.get_objects(generation=2))


def test_what_is_made_while_collection_is_paused_is_old():
    """And nothing else: garbage of before is gone, that of an error is found soon."""
    before = weakref.ref(Cycle())
    with collection_paused():
        assert not gc.isenabled()
        assert before() is None
        kept = Cycle()
    assert gc.isenabled()
    assert is_old(kept)
    failed = []
    with pytest.raises(KeyError), collection_paused():
        failed.append(Cycle())
        raise KeyError
    assert gc.isenabled()
    assert not is_old(failed[0])


def test_what_the_caller_froze_stays_frozen():
    """The number of frozen objects proves nothing: other threads let go of theirs at any time."""
    frozen = Cycle()
    gc.freeze()
    try:
        with collection_paused():
            young = Cycle()
        assert not is_old(frozen)
        assert not is_old(young)
    finally:
        gc.unfreeze()
    assert is_old(frozen)


def test_who_collects_nothing_goes_on_with_that():
    gc.disable()
    try:
        with collection_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()
