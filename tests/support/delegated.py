"""Networks from text, recorded models and cases, run with and without delegates."""

import numpy as np
from building import Builder, save
from cases import Case, all_cases, content
from recorded import folder, rows

from flatlite.lite import Interpreter

SHAPE = (2, 3)
VIEWS = {"RESHAPE", "SQUEEZE", "EXPAND_DIMS"}
"""Operators that no delegate is given alone."""

CHAIN = """
a: MUL x CONSTANT
b: RELU a
c: SUB b x
d: ADD c a
"""
"""A network whose operators are also the names of their results."""


def network(text, outputs, **more):
    """A model of 'name: KIND input ...' lines over the input x of shape (2, 3).

    VIEW turns a tensor round between (2, 3) and (3, 2), CONSTANT is an input of numbers.
    """
    b = Builder()
    tensors, shapes = {"x": b.input("x", SHAPE)}, {"x": SHAPE}
    constant = np.linspace(-1, 1, 6, dtype=np.float32)
    for line in text.strip().splitlines():
        name, kind, *inputs = line.replace(":", " ").split()
        shape = shapes[inputs[0]]
        if kind == "VIEW":
            shape = shape[::-1]
            operands = [tensors[inputs[0]], b.constant(f"{name}/to", np.array(shape, np.int32))]
        else:
            operands = [
                b.constant(f"{name}/c", constant.reshape(shape)) if i == "CONSTANT" else tensors[i]
                for i in inputs
            ]
        tensors[name], shapes[name] = b.tensor(name, shape), shape
        b.op("RESHAPE" if kind == "VIEW" else kind, operands, [tensors[name]])
    b.outputs(*(tensors[name] for name in outputs))
    return save(b, **more)


def prepared(content, delegates=None, **options):
    """An allocated interpreter."""
    interpreter = Interpreter(model_content=content, experimental_delegates=delegates, **options)
    interpreter.allocate_tensors()
    return interpreter


def run_random(interpreter, seed=0):
    """The outputs for random inputs, of the shapes they have now."""
    generator = np.random.default_rng(seed)
    for detail in interpreter.get_input_details():
        array = generator.standard_normal(detail["shape"]).astype(detail["dtype"])
        interpreter.set_tensor(detail["index"], array)
    interpreter.invoke()
    return [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]


def assert_same(got, want):
    """Arrays are equal, bit for bit."""
    assert len(got) == len(want)
    for ours, theirs in zip(got, want, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def assert_close(got, want, rtol=1e-5):
    """Arrays are equal within `rtol` of the largest value."""
    assert len(got) == len(want)
    for ours, theirs in zip(got, want, strict=True):
        assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
        scale = float(np.abs(theirs[np.isfinite(theirs)]).max(initial=0))
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=rtol * scale)


def corpus_model(row_id):
    """The .tflite of a corpus row."""
    (row,) = (row for row in rows() if row["id"] == row_id)
    return (folder() / row["files"]["tflite"]).read_bytes()


def claimed_cases(kinds):
    """The cases of tests/cases for operators of `kinds`."""
    return [case for case in all_cases() if isinstance(case, Case) and case.op in kinds]


def check_case(case, delegate, rtol=1e-5):
    """Runs one case on a delegate; what it declines must have a reason and the CPU's answer.

    Gives True when the delegate ran it.
    """
    results = []
    for delegates in ([delegate], None):
        interpreter = prepared(content(case), delegates)
        for detail, array in zip(interpreter.get_input_details(), case.feeds, strict=True):
            interpreter.set_tensor(detail["index"], array)
        interpreter.invoke()
        details = interpreter.get_output_details()
        results.append([interpreter.get_tensor(d["index"]) for d in details])
        if delegates:
            (row,) = interpreter.delegate_report().operators
    if row.part is None:
        assert row.reason
        assert_same(*results)
        return False
    assert_close(*results, rtol=rtol)
    return True


def placed(interpreter):
    """'name>part' of every operator, '-' on the CPU."""
    rows = interpreter.delegate_report().operators
    return " ".join(f"{r.name}>{'-' if r.part is None else r.part}" for r in rows)


class Remote:
    """A result that is not numpy's; counts how often it is read."""

    def __init__(self, array, reads):
        self._array, self._reads = array, reads
        self.shape, self.dtype = array.shape, array.dtype

    def __array__(self, dtype=None, copy=None):
        self._reads.append(self.shape)
        return self._array
