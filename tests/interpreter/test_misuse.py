"""Wrong uses raise what LiteRT raises, and leave a usable interpreter."""

import importlib.util
import json
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from flatlite import lite

SCRIPT = Path(__file__).parent / "misuse_cases.py"
MODEL = Path(__file__).parent.parent / "corpus/C/lenet_k3/float.tflite"

_spec = importlib.util.spec_from_file_location("misuse_cases", SCRIPT)
cases = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(cases)

ALIVE = "There is at least 1 reference to internal data"


@pytest.fixture(scope="module")
def theirs():
    """What LiteRT does, by case."""
    names = [*cases.SAME, *cases.SAME_VALUE]
    command = [sys.executable, str(SCRIPT), "ai_edge_litert.interpreter", str(MODEL), *names]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    return json.loads(done.stdout.splitlines()[-1])


OTHER_WORDS = {
    "content is str": "must be bytes",
    "set index float": "",
    "get index str": "",
    "resize negative": "BytesRequired number of elements overflowed",
    "resize to too much": "BytesRequired number of elements overflowed",
    "native registerer": "Looking up symbol 'a' failed",
    **dict.fromkeys(cases.BEYOND_INT32, "incompatible function arguments"),
}
"""Cases whose words are pybind's or name a source file, with a part of ours."""


@pytest.mark.parametrize("name", cases.SAME)
def test_raises_as_litert(name, theirs):
    kind, words = theirs[name]
    assert kind, f"LiteRT raises nothing: {words}"
    ours, our_words = cases.outcome(cases.SAME[name], lite, str(MODEL))
    # ModelError is a ValueError.
    assert ours.replace("ModelError", "ValueError") == kind
    if name in OTHER_WORDS:
        assert OTHER_WORDS[name] in our_words
    else:
        assert our_words == words or our_words.startswith(f"{words}\n")


@pytest.mark.filterwarnings("ignore:The shape .* has fractions:RuntimeWarning")
@pytest.mark.parametrize("name", cases.SAME_VALUE)
def test_same_result_as_litert(name, theirs):
    assert cases.outcome(cases.SAME_VALUE[name], lite, str(MODEL)) == theirs[name]


def ready(**options):
    interpreter = lite.Interpreter(str(MODEL), **options)
    interpreter.allocate_tensors()
    return interpreter


def check_usable(interpreter):
    """Runs it once and compares with a new one."""
    index = interpreter.get_output_details()[0]["index"]
    image = np.random.default_rng(7).normal(size=(1, 28, 28, 1)).astype(np.float32)
    results = []
    for one in (interpreter, lite.Interpreter(str(MODEL))):
        one.resize_tensor_input(0, [1, 28, 28, 1])
        one.allocate_tensors()
        one.set_tensor(0, image)
        one.invoke()
        results.append(one.get_tensor(index))
    np.testing.assert_array_equal(results[0], results[1])


@pytest.mark.parametrize(
    ("error", "words", "use"),
    [
        (ValueError, "tensor 3 '.*' is constant", lambda i: i.set_tensor(3, i.get_tensor(3))),
        (RuntimeError, "Invalid tensor index 9999", lambda i: i.resize_tensor_input(9999, [1])),
        (RuntimeError, "Invalid tensor index -1", lambda i: i.resize_tensor_input(-1, [1])),
        (RuntimeError, "is no input", lambda i: i.resize_tensor_input(14, [1])),
        (RuntimeError, "Tensor|tensor", lambda i: i.resize_tensor_input(0, [1, 2], strict=True)),
        (ValueError, "Invalid subgraph index 9", lambda i: i._get_tensor_details(0, 9)),
    ],
)
def test_refused_where_litert_crashes_or_is_unclear(error, words, use):
    interpreter = ready()
    with pytest.raises(error, match=words):
        use(interpreter)
    check_usable(interpreter)


def test_a_shape_with_fractions_is_warned_of():
    interpreter = ready()
    with pytest.warns(
        RuntimeWarning, match=r"\[2.5, 28.0, 28.0, 1.0\] .* as \[2, 28, 28, 1\]"
    ) as told:
        interpreter.resize_tensor_input(0, [2.5, 28, 28, 1])
    assert told[0].filename == __file__
    interpreter.resize_tensor_input(0, [1.0, 28.0, 28.0, 1.0])
    check_usable(interpreter)


@pytest.mark.parametrize("shape", ["ab", None, [1, None], [2**33], {1, 2}, [float("nan")]])
def test_what_is_no_shape_is_told_what_one_is(shape):
    with pytest.raises((TypeError, ValueError, OverflowError)) as info:
        ready().resize_tensor_input(0, shape)
    assert info.value.__notes__ == [f"A shape is a row of int32, got {shape!r}"]


def test_an_open_file_is_no_path():
    with MODEL.open("rb") as file, pytest.raises(TypeError, match="expected str, bytes") as info:
        lite.Interpreter(model_path=file)
    assert info.value.__notes__[0].endswith("model_content=file.read()")


@pytest.mark.parametrize("shape", [(1, 28, 28, 5), (1, 28, 28), (), (1, 3, 28, 1), (4, 50, 28, 1)])
def test_allocate_that_fails_names_the_operator_and_leaves_it_usable(shape):
    interpreter = ready()
    for _ in range(2):
        interpreter.resize_tensor_input(0, shape)
        with pytest.raises(
            RuntimeError, match=r"Node number \d+ \(\w+\) failed to prepare"
        ) as info:
            interpreter.allocate_tensors()
        assert str(info.value).count("failed to") == 1
        with pytest.raises(RuntimeError, match="Invoke called on model that is not ready"):
            interpreter.invoke()
        check_usable(interpreter)


def test_signature_runner_refuses_a_live_view():
    interpreter = ready()
    view = interpreter.tensor(0)()[0, :3]
    with pytest.raises(RuntimeError, match=ALIVE):
        interpreter.get_signature_runner()(keras_tensor=cases.GOOD)
    del view
    check_usable(interpreter)


def test_view_of_view_counts_and_death_of_all_frees():
    interpreter = ready()
    first = interpreter.tensor(0)()
    second = first.reshape(28, 28)[3:5].T
    del first
    with pytest.raises(RuntimeError, match=ALIVE):
        interpreter.invoke()
    assert not interpreter._safe_to_run()
    del second
    assert interpreter._safe_to_run()
    interpreter._ensure_safe()
    check_usable(interpreter)


def test_view_outlives_the_interpreter():
    interpreter = ready()
    interpreter.set_tensor(0, np.full((1, 28, 28, 1), 3, np.float32))
    view = interpreter.tensor(0)()
    del interpreter
    view += 1
    assert (view == 4).all()


def test_views_of_constants_are_read_only():
    view = lite.Interpreter(str(MODEL)).tensor(3)()
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 1


def test_empty_file_and_folder(tmp_path):
    """In LiteRT's words, but for its descriptor in place of the path."""
    empty = tmp_path / "empty.tflite"
    empty.touch()
    null = "The model allocation is null/empty"
    mmap = f"Mmap of '{tmp_path}' at offset '0' failed with error '19'.{null}"
    for path, words in ((empty, f"mmap of size 0 requested.{null}"), (tmp_path, mmap)):
        with pytest.raises(ValueError, match=re.escape(words)):
            lite.Interpreter(path)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, np.frombuffer])
def test_any_bytes_like_content(kind):
    content = MODEL.read_bytes()
    content = np.frombuffer(content, np.uint8) if kind is np.frombuffer else kind(content)
    check_usable(lite.Interpreter(model_content=content))


@pytest.mark.parametrize(
    ("content", "words"),
    [([84, 70], "a buffer, got list"), (np.zeros(40, np.uint8)[::2], "one piece of memory")],
)
def test_content_must_be_one_buffer(content, words):
    with pytest.raises(TypeError, match=f"model_content must be .*{words}"):
        lite.Interpreter(model_content=content)


def test_pickle_and_deepcopy_work():
    copy = pickle.loads(pickle.dumps(ready()))
    assert copy.get_input_details()[0]["name"] == ready().get_input_details()[0]["name"]
    check_usable(copy)


def test_the_bytes_of_a_model_are_no_path():
    with pytest.raises(ValueError, match=r"^Could not open a path with a NUL") as failed:
        lite.Interpreter(MODEL.read_bytes())
    assert failed.value.__notes__ == ["The bytes of a model are model_content"]


@pytest.mark.parametrize("switch", ["share_weights", "profile"])
def test_switches_are_true_or_false(switch):
    with pytest.raises(TypeError, match=f"^{switch} must be True or False, got 'no'"):
        lite.Interpreter(str(MODEL), **{switch: "no"})
