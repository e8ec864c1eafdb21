"""Delegates in shared libraries: what they are shown, compute, refuse, and what is freed.

The library is external_delegate.c beside this file. layouts.json is LiteRT's headers' (see
../support/delegate_layouts.py).
"""

import ctypes
import gc
import json
import pickle
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from building import Builder, save
from cases import Case, all_cases, content
from delegate_layouts import LAYOUTS, classes
from delegate_views import litert_views, views
from delegated import assert_close, assert_same, network, placed, prepared, run_random

from flatlite.delegates.external.builtin_data import ROWS, WITHOUT_ROW
from flatlite.delegates.external.printf import VARIADIC, formatted
from flatlite.lite import Interpreter, load_delegate
from flatlite.schema.tables import BUILTIN_OPERATOR

COMPILER = shutil.which("cc")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler (cc) to make a library")
TEXT = "a: ADD x CONSTANT\nb: ADD a x\nc: RELU b\nd: ADD c a"


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """The compiled delegate."""
    path = tmp_path_factory.mktemp("library") / "libexternal_delegate.so"
    source = Path(__file__).with_name("external_delegate.c")
    subprocess.run([COMPILER, "-shared", "-fPIC", "-O1", "-o", path, source], check=True)
    return str(path)


def test_structures_are_those_of_the_headers():
    layouts = json.loads(LAYOUTS.read_text())
    for name, cls in classes().items():
        offsets = {field: getattr(cls, field).offset for field, *_ in cls._fields_}
        assert {**offsets, "": ctypes.sizeof(cls)} == layouts[name], name
    assert len(layouts) == len(classes())
    assert ROWS.keys() | WITHOUT_ROW < BUILTIN_OPERATOR.keys()
    assert not ROWS.keys() & WITHOUT_ROW


@needs_compiler
@pytest.mark.parametrize("options", [{}, {"buffer": 1}])
def test_it_computes(library, options):
    model = network(TEXT, "bd")
    interpreter = prepared(model, [load_delegate(library, options)])
    assert placed(interpreter) == "a>0 b>0 c>- d>1"
    plain = prepared(model)
    for seed in range(2):
        assert_same(run_random(interpreter, seed), run_random(plain, seed))
    row = str(interpreter.delegate_report()).splitlines()[5]
    assert row.endswith("libexternal_delegate.so: the library does not take it")


def resized(interpreter, shape):
    interpreter.resize_tensor_input(0, shape)
    return interpreter


def dense(activation=0):
    """A fully connected layer of 3 inputs and 2 units, and a sum behind it."""
    b, generator = Builder(), np.random.default_rng(3)
    x = b.input("x", (None, 3))
    w = b.constant("w", generator.normal(size=(2, 3)).astype(np.float32))
    bias = b.constant("bias", generator.normal(size=2).astype(np.float32))
    y = b.tensor("y", (None, 2))
    b.op("FULLY_CONNECTED", [x, w, bias], [y], fused_activation_function=activation)
    z = b.op("ADD", [y, bias], [b.tensor("z", (None, 2))])
    return save(b.outputs(z))


@needs_compiler
@pytest.mark.parametrize("activation", [0, 1])
def test_options_and_other_shapes(library, activation):
    model = dense(activation)
    interpreter, plain = prepared(model, [load_delegate(library)]), prepared(model)
    assert len(interpreter.delegate_report().parts) == 1
    for rows in (1, 5, 1, 2):
        for one in interpreter, plain:
            resized(one, (rows, 3)).allocate_tensors()
        assert_close(run_random(interpreter, rows), run_random(plain, rows))
        assert placed(interpreter) == "y>0 z>0"
    only = prepared(model, [load_delegate(library, {"claim": BUILTIN_OPERATOR["ADD"]})])
    assert placed(only) == "y>- z>0"


def twice(options=b"x2"):
    b = Builder()
    x = b.input("x", (2, 2))
    y = b.op("CUSTOM", [x], [b.tensor("y", (2, 2))], custom_code="Twice", custom_options=options)
    return save(b.outputs(y))


@needs_compiler
def test_custom_operators_that_only_the_library_has(library):
    delegate = load_delegate(library)
    interpreter = prepared(twice(), [delegate])
    value = np.float32([[1, -2], [3, 4]])
    interpreter.set_tensor(0, value)
    interpreter.invoke()
    np.testing.assert_array_equal(interpreter.get_tensor(1), 2 * value)
    with pytest.raises(RuntimeError, match=r"^Encountered unresolved custom op: Twice\."):
        Interpreter(model_content=twice(b"x3"), experimental_delegates=[delegate])


@needs_compiler
def test_it_is_asked_when_the_interpreter_is_made(library):
    delegate = load_delegate(library)
    alive = ctypes.CDLL(library).count_alive
    before = alive()
    interpreter = Interpreter(model_content=network(TEXT, "d"), experimental_delegates=[delegate])
    assert alive() == before + 2
    with pytest.raises(RuntimeError, match="Invoke called on model that is not ready"):
        interpreter.invoke()
    interpreter.allocate_tensors()
    assert alive() == before + 2
    clone = interpreter.clone()
    clone.allocate_tensors()
    assert alive() == before + 4
    del interpreter
    assert alive() == before + 2
    del clone, delegate
    assert alive() == before - 1


FAILURES = {
    "choose": "failed to choose its parts: RuntimeError: The device is busy$",
    "node": r"PreviewDelegatePartitioning: no nodes of the execution plan: \[1000\]",
    "init": r"no kernel of 0 bytes for 2 of these nodes \(1\.50, 1\.0e\+10\)\n",
    "prepare": r"failed to compile part 0 .*: no memory for 'a' \(-7%\)",
    "invoke": r"failed to run part 0 .*: lost the device at /dev/none: ff",
    "create": "^Failed to load delegate from .*\nit made no delegate and reported no error$",
    "opaque": "its delegate has no function Prepare; one for TFLite's opaque",
}
NUMBERS = {"init": "prepare", "prepare": "prepare", "invoke": "invoke"}


@needs_compiler
@pytest.mark.parametrize("where", FAILURES)
def test_failures(library, where):
    kind = ValueError if where in ("create", "opaque") else RuntimeError
    alive = ctypes.CDLL(library).count_alive
    before = alive()

    def run(fallback):
        delegate = load_delegate(library, {"fail": where})
        delegate.fallback = fallback
        return run_random(prepared(network(TEXT, "d"), [delegate]))

    with pytest.raises(kind, match=FAILURES[where]) as raised:
        run(fallback=False)
    if where in NUMBERS:
        end = f"\nNode number 0 (DELEGATE) failed to {NUMBERS[where]}."
        assert str(raised.value).endswith(end)
    if kind is RuntimeError:
        with pytest.warns(RuntimeWarning, match="the CPU runs its operators"):
            results = run(fallback=True)
        assert_same(results, run_random(prepared(network(TEXT, "d"))))
    del raised
    gc.collect()
    assert alive() == before


@needs_compiler
def test_what_it_refuses_is_its_own_message(library):
    with pytest.raises(ValueError, match=r"^Failed to load delegate from ") as raised:
        load_delegate(library, {"claim": 0, "speed": 2.5})
    assert str(raised.value).endswith("\nunknown option speed")
    with pytest.raises(ValueError, match="options must not have NUL characters"):
        load_delegate(library.encode(), {"claim\0": 0})


@needs_compiler
def test_pickles_load_it_again(library):
    interpreter = prepared(dense(), [load_delegate(library, {"claim": 0})])
    again = pickle.loads(pickle.dumps(interpreter))
    again.allocate_tensors()
    assert placed(again) == "y>- z>0"


SHOWN_OTHERWISE = {
    "strided_slice/ellipsis_of_none": "LiteRT's result has no shape that numpy's slices have",
}


def shown_cases(*, each):
    """Cases whose operators libraries are shown; one of each operator, or all."""
    cases = [x for x in all_cases() if isinstance(x, Case) and x.op not in WITHOUT_ROW]
    cases = [case for case in cases if case.name not in SHOWN_OTHERWISE]
    return cases if each else list({case.op: case for case in cases}.values())


@needs_compiler
@pytest.mark.parametrize("each", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_what_it_is_shown_is_what_litert_shows(library, each):
    pytest.importorskip("ai_edge_litert")
    cases = shown_cases(each=each)
    contents = [content(case) for case in cases]
    compared, folded = 0, 0
    pairs = zip(views("flatlite", library, contents), litert_views(library, contents), strict=True)
    for case, (ours, theirs) in zip(cases, pairs, strict=True):
        if theirs and ours == []:  # its result is a constant before a library is asked
            folded += 1
        elif theirs and ours is not None:
            for node in theirs:  # LiteRT's kernel counts the axis of its options from the front
                if node["kind"] == "PACK":
                    node["data"]["axis"] = ours[0]["data"]["axis"]
            assert ours == theirs, case.name
            compared += 1
    assert compared > 100 > folded


INTEGERS = sum(kind is ctypes.c_uint64 for kind in VARIADIC) - 16


def words(*values):
    """Arguments as a callback is given them."""
    integers = [x & (1 << 64) - 1 for x in values if isinstance(x, int)]
    floats = [x for x in values if isinstance(x, float)]
    integers += [0] * (INTEGERS + 16 - len(integers))
    return [*integers[:INTEGERS], *(floats + [0.0] * 8)[:8], *integers[INTEGERS:]]


@pytest.mark.parametrize(
    ("template", "values", "text"),
    [
        (b"%d%% of %5d|%-5d|%05d", (-1, 2, 3, 4), "-1% of     2|3    |00004"),
        (b"%u %x %#X %lld %zu", (-1, 255, 255, -(1 << 33), 7), "4294967295 ff 0XFF -8589934592 7"),
        (b"%.3f %g %d %e", (0.5, 1e20, 3, 2.0), "0.500 1e+20 3 2.000000e+00"),
        (b"%c%c %s %p", (72, 105, 0, 4096), "Hi (null) 0x1000"),
        (b"%d %d %d %d %d %d %d %d", tuple(range(8)), "0 1 2 3 4 5 6 7"),
        (b"%*d %.*f", (4, 7, 1, 2.25), "   7 2.2"),
        (b"100%", (), "100%"),
    ],
)  # fmt: skip
def test_messages_with_arguments(template, values, text):
    assert formatted(template, words(*values)) == text


def test_strings_in_messages():
    string = ctypes.create_string_buffer(b"abcdef")
    address = ctypes.addressof(string)
    assert formatted(b"<%s> <%.3s> <%8s>", words(*[address] * 3)) == "<abcdef> <abc> <  abcdef>"
