"""Lists of tensors, which VARIANT tensors hold, in a model with and without a loop."""

import numpy as np
import pytest
from building import Builder, save
from running import answers

from flatlite.lite import Interpreter
from flatlite.schema import tables

FLOAT32, INT32 = (bytes([tables.TENSOR_TYPE[name]]) for name in ("FLOAT32", "INT32"))
X = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)


class Lists(Builder):
    """A subgraph with operators on lists."""

    def shape(self, *sizes):
        """A shape as an input."""
        return self.constant(f"shape{len(self.subgraph.tensors)}", np.array(sizes, np.int32))

    def number(self, n):
        """One int32."""
        return self.constant(f"n{len(self.subgraph.tensors)}", np.array(n, np.int32))

    def results(self, code, inputs, *results, options=None) -> list[int]:
        """The results of a custom operator, each as (dtype, shape)."""
        outputs = [
            self.tensor(f"t{len(self.subgraph.tensors) + i}", shape, dtype)
            for i, (dtype, shape) in enumerate(results)
        ]
        self.op("CUSTOM", inputs, outputs, custom_code=code, custom_options=options)
        return outputs

    def custom(self, code, inputs, result, options=None) -> int:
        """The only result of a custom operator."""
        return self.results(code, inputs, result, options=options)[0]

    def list(self, code, inputs, options=None):
        """A list that an operator gives."""
        return self.custom(code, inputs, ("VARIANT", ()), options=options)


def run(b, outputs, *feeds):
    return answers(Interpreter(model_content=save(b.outputs(*outputs))), *feeds)


def test_a_list_of_rows():
    b = Lists()
    x = b.input("x", X.shape)
    rows = b.list("TensorListFromTensor", [x, b.shape(3)])
    third = b.custom("TensorListGetItem", [rows, b.number(2), b.shape(3)], ("FLOAT32", (3,)))
    other = b.list("TensorListSetItem", [rows, b.number(0), third])
    shorter, last = b.results(
        "TensorListPopBack", [other, b.shape(3)], ("VARIANT", ()), ("FLOAT32", (3,))
    )
    longer = b.list("TensorListPushBack", [shorter, third])
    stacked = b.custom("TensorListStack", [longer, b.shape(3)], ("FLOAT32", (5, 3)))
    before = b.custom("TensorListStack", [rows, b.shape(3)], ("FLOAT32", (5, 3)))
    count = b.custom("TensorListLength", [shorter], ("INT32", ()))
    shape = b.custom("TensorListElementShape", [rows], ("INT32", (1,)))
    actual = run(b, [stacked, before, last, count, shape], X)
    expected = X.copy()
    expected[0] = expected[4] = X[2]
    for got, want in zip(actual, (expected, X, X[4], 4, [3]), strict=True):
        np.testing.assert_array_equal(got, want)


def test_elements_that_are_not_set():
    b = Lists()
    x = b.input("x", (3,))
    empty = b.list("TensorListReserve", [b.shape(3), b.number(2)], FLOAT32)
    one = b.list("TensorListSetItem", [empty, b.number(3), x])  # beyond the end: it grows
    sums = b.list("VariantAddN", [one, one])
    zeros = b.list("VariantZerosLike", [one])
    actual = run(
        b,
        [
            b.custom("TensorListStack", [built, b.shape(-1)], ("FLOAT32", (4, 3)))
            for built in (one, sums, zeros)
        ],
        X[0],
    )
    expected = np.zeros((4, 3), np.float32)
    expected[3] = X[0]
    for got, factor in zip(actual, (1, 2, 0), strict=True):
        np.testing.assert_array_equal(got, factor * expected)


def test_numbers_make_a_row():
    """LiteRT leaves the axis of a single number out."""
    b = Lists()
    x = b.input("x", (4, 1), "INT32")
    built = b.list("TensorListFromTensor", [x, b.shape(1)])
    stacked = b.custom("TensorListStack", [built, b.shape(1)], ("INT32", (4,)))
    actual = run(b, [stacked], np.arange(4, dtype=np.int32).reshape(4, 1))
    np.testing.assert_array_equal(actual[0], [0, 1, 2, 3])


def loop(steps):
    """A model: the squares of 0, 1, ... collected by a WHILE."""
    main, cond, body = Lists("main"), Lists("cond"), Lists("body")
    n = main.input("n", (), "INT32")
    reserved = main.list("TensorListReserve", [main.shape(), main.number(0)], INT32)
    start = main.op("CAST", [n], [main.tensor("i", (), "INT32")])
    start = main.op("SUB", [start, n], [main.tensor("zero", (), "INT32")])
    ends = [main.tensor("i_end", (), "INT32"), main.tensor("list_end", (), "VARIANT")]
    main.op("WHILE", [start, reserved], ends, cond_subgraph_index=1, body_subgraph_index=2)
    main.outputs(main.custom("TensorListStack", [ends[1], main.shape()], ("INT32", (steps,))))
    i = cond.input("i", (), "INT32")
    cond.input("list", (), "VARIANT")
    cond.outputs(cond.op("LESS", [i, cond.number(steps)], [cond.tensor("go", (), "BOOL")]))
    i, items = body.input("i", (), "INT32"), body.input("list", (), "VARIANT")
    square = body.op("MUL", [i, i], [body.tensor("square", (), "INT32")])
    after = body.op("ADD", [i, body.number(1)], [body.tensor("next", (), "INT32")])
    body.outputs(after, body.list("TensorListPushBack", [items, square]))
    return save(main, cond, body)


def test_a_loop_that_collects():
    interpreter = Interpreter(model_content=loop(7))
    for _ in range(2):  # each run begins with an empty list
        (outputs,) = answers(interpreter, np.array(3, np.int32))
        np.testing.assert_array_equal(outputs, np.arange(7) ** 2)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda b, x: b.list("TensorListReserve", [b.shape(3), b.number(2)]),
            "TensorListReserve 't3': the options must hold the elements' type, got none",
        ),
        (
            lambda b, x: b.list("TensorListReserve", [b.shape(3), b.number(2)], bytes([9])),
            "lists of int8 are not supported",
        ),
        (
            lambda b, x: b.list("TensorListReserve", [b.shape(3), b.number(-1)], FLOAT32),
            r"a list must have \[0, 16777216\] elements, got -1",
        ),
        (
            lambda b, x: b.list("TensorListFromTensor", [x, x]),
            "the shape must be integers, got float32",
        ),
        (
            lambda b, x: b.list("TensorListReserve", [x, b.number(2)], FLOAT32),
            "the shape must be integers, got float32",
        ),
        (
            lambda b, x: b.custom("TensorListLength", [x], ("INT32", ())),
            r"input 0 must be a list \(VARIANT\), got float32",
        ),
        (
            lambda b, x: b.custom(
                "TensorListGetItem",
                [b.list("TensorListFromTensor", [x, b.shape(3)]), b.number(5), b.shape(3)],
                ("FLOAT32", (3,)),
            ),
            "element 5 in a list with 5 elements",
        ),
        (
            lambda b, x: b.custom(
                "TensorListStack",
                [b.list("TensorListFromTensor", [x, b.shape(3)]), b.shape(3)],
                ("INT32", (5, 3)),
            ),
            "the list holds float32, got int32",
        ),
        (
            lambda b, x: b.custom(
                "TensorListStack",
                [b.list("TensorListReserve", [b.shape(), b.number(2)], FLOAT32), b.shape(-1)],
                ("FLOAT32", (2, 3)),
            ),
            "Tried to stack list which only contains uninitialized tensors",
        ),
    ],
)
def test_refused(build, message):
    b = Lists()
    x = b.input("x", X.shape)
    built = build(b, x)
    with pytest.raises(RuntimeError, match=message):
        run(b, [built], X)


def test_a_list_is_an_object_to_the_caller():
    b = Lists()
    x = b.input("x", X.shape)
    built = b.list("TensorListFromTensor", [x, b.shape(3)])
    interpreter = Interpreter(model_content=save(b.outputs(built)))
    assert interpreter.get_output_details()[0]["dtype"] is np.object_
    (box,) = answers(interpreter, X)
    np.testing.assert_array_equal(box.item().elements, X)
