"""Results that are views of one memory, and results without elements."""

import numpy as np
import pytest
from running import answers

from flatlite.interpreter.interpreter import Interpreter

X = np.arange(24, dtype=np.float32).reshape(4, 6) - 11


def axes(b, *values):
    """A constant of int32."""
    return b.constant(f"axes{values}", np.array(values, np.int32))


def parts(b, x, kind="SPLIT"):
    """The first tensor in two parts along dimension 0."""
    halves = [b.tensor(f"half{i}", (2, 6)) for i in range(2)]
    if kind == "SPLIT":
        b.op("SPLIT", [b.constant("axis", np.int32(0)), x], halves, num_splits=2)
    else:
        inputs = [x, axes(b, 2, 2), b.constant("axis", np.int32(0))]
        b.op("SPLIT_V", inputs, halves, num_splits=2)
    return halves


def where(b, x, name="found"):
    """A result of a size that only running can give."""
    flags, positions = b.tensor(f"{name} flags", (4, 6), "BOOL"), b.tensor(name, (1, 2), "INT64")
    b.op("GREATER", [x, b.constant("zero", np.float32(0))], [flags])
    return b.op("WHERE", [flags], [positions])


@pytest.mark.parametrize("kind", ["SPLIT", "SPLIT_V"])
@pytest.mark.parametrize("readable", [(0,), (1,), (0, 1), ()])
@pytest.mark.parametrize("behind_abs", [False, True])
def test_a_part_stays_readable_after_a_stage(builder, saved, litert, kind, readable, behind_abs):
    b = builder()
    x = y = b.input("x", (4, 6))
    if behind_abs:
        y = b.op("ABS", [x], [b.tensor("y", (4, 6))])
    halves = parts(b, y, kind)
    actual = where(b, x)
    again = b.op("CAST", [actual], [b.tensor("again", (1, 2), "FLOAT32")])
    negative = b.op("NEG", [halves[0]], [b.tensor("negative", (2, 6))])
    model = saved(b.outputs(again, negative, *(halves[i] for i in readable)))
    theirs = litert.run(model, [[X]])[0]
    interpreter = Interpreter(model_content=model)
    for _ in range(2):
        for ours, expected in zip(answers(interpreter, X), theirs, strict=True):
            np.testing.assert_array_equal(ours, expected)


def test_a_part_outlives_two_stages(builder, saved, litert):
    b = builder()
    x = b.input("x", (4, 6))
    first, second = parts(b, b.op("ABS", [x], [b.tensor("y", (4, 6))]))
    actual, more = where(b, x), where(b, x, "more")
    total = b.op("ADD", [first, second], [b.tensor("total", (2, 6))])
    model = saved(b.outputs(actual, more, total))
    theirs = litert.run(model, [[X]])[0]
    for ours, expected in zip(answers(Interpreter(model_content=model), X), theirs, strict=True):
        np.testing.assert_array_equal(ours, expected)


@pytest.mark.parametrize(
    "kind, shape, numbers, keep",
    [
        ("SUM", (3, 0), (1,), False),
        ("SUM", (3, 0), (0, 1), True),
        ("MEAN", (3, 0), (1,), False),
        ("REDUCE_MAX", (3, 0), (1,), False),
        ("REDUCE_PROD", (3, 0), (1,), True),
        ("SUM", (0, 4), (1,), False),
    ],
)
def test_an_intermediate_result_is_empty(builder, saved, litert, kind, shape, numbers, keep):
    b = builder()
    x = b.input("x", shape)
    y = b.op("ABS", [x], [b.tensor("y", shape)])
    b.op(kind, [y, axes(b, *numbers)], [b.tensor("z", ())], keep_dims=keep)
    model = saved(b.outputs(len(b.subgraph.tensors) - 1))
    empty = np.zeros(shape, np.float32)
    theirs = litert.run(model, [[empty]])[0]
    ours = answers(Interpreter(model_content=model), empty)
    np.testing.assert_array_equal(ours[0], theirs[0])


def test_nothing_is_found(builder, saved, litert):
    b = builder()
    x = b.input("x", (0, 4))
    y = b.op("ABS", [x], [b.tensor("y", (0, 4))])
    z = b.op("GATHER", [y, axes(b, 3, 1)], [b.tensor("z", (0, 2))], axis=1)
    s = b.op("SUM", [z, axes(b, 0)], [b.tensor("s", (2,))])
    model = saved(b.outputs(z, s))
    empty = np.zeros((0, 4), np.float32)
    theirs = litert.run(model, [[empty]])[0]
    for ours, expected in zip(
        answers(Interpreter(model_content=model), empty), theirs, strict=True
    ):
        np.testing.assert_array_equal(ours, expected)


@pytest.mark.parametrize("kind", ["REDUCE_ALL", "REDUCE_ANY"])
def test_all_of_nothing_is_one(builder, saved, litert, kind):
    b = builder()
    x, truth, number = (
        b.input("x", (3, 0), "BOOL"),
        b.tensor("t", (3,), "BOOL"),
        b.tensor("n", (3,), "UINT8"),
    )
    b.op(kind, [x, axes(b, 1)], [truth])
    b.op("CAST", [truth], [number])
    content, empty = saved(b.outputs(number)), np.zeros((3, 0), bool)
    (theirs,) = litert.run(content, [[empty]])
    np.testing.assert_array_equal(answers(Interpreter(model_content=content), empty), theirs)
