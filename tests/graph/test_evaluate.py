"""Graphs run by the reference kernels."""

import numpy as np
import pytest

from flatlite.graph.core import blas
from flatlite.graph.core.evaluate import evaluate
from flatlite.graph.core.graph import Graph
from flatlite.graph.core.library import Function
from flatlite.graph.core.signatures.attributes import FunctionRef
from flatlite.schema import errors

FLOAT, INT = np.dtype("float32"), np.dtype("int32")


def placeholder(graph, name="x", shape=(None, 2), dtype=FLOAT):
    return graph.add("Placeholder", name, (), {"dtype": dtype, "shape": shape}).outputs[0]


def add(graph, kind, name, *inputs, **attrs):
    return graph.add(kind, name, inputs, attrs).outputs[0]


@pytest.fixture
def graph():
    return Graph()


def test_only_what_is_fetched_is_run(graph):
    x = placeholder(graph)
    y = add(graph, "Neg", "y", x)
    graph.add("MyOp", "mine", [y], n_outputs=1)
    twice = add(graph, "AddV2", "twice", y, y)
    results = evaluate(graph, [twice, y, x], {x: [[1, 2]]})
    assert [r.tolist() for r in results] == [[[-2, -4]], [[-1, -2]], [[1, 2]]]
    assert {r.dtype for r in results} == {FLOAT}


def test_a_tensor_in_the_middle_can_be_fed(graph):
    y = add(graph, "Neg", "y", placeholder(graph))
    z = add(graph, "Neg", "z", y)
    assert evaluate(graph, [z], {y: np.ones((1, 2))})[0].tolist() == [[-1, -1]]


def test_results_are_in_the_declared_types(graph):
    x = placeholder(graph, dtype=np.dtype("float16"))
    total = add(graph, "Sum", "s", x, graph.constant(np.int32([0])))
    (result,) = evaluate(graph, [total], {x: np.full((4000, 2), 0.1)})
    assert result.dtype == np.float16
    np.testing.assert_allclose(result, 400, rtol=1e-3)


def test_what_was_read_is_freed(graph):
    x = placeholder(graph, shape=(None,))
    y = x
    for i in range(40):
        y = add(graph, "Neg", f"n{i}", y)
    n_bytes = 1_000_000
    (result,) = evaluate(graph, [y], {x: np.ones(n_bytes // 4)}, memory=3 * n_bytes)
    assert result[0] == 1


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            np.ones((1, 3)),
            "Cannot feed value of shape (1, 3) for Tensor x:0, which has shape (?, 2)",
        ),
        (np.ones(2), "Cannot feed value of shape (2,) for Tensor x:0, which has shape (?, 2)"),
    ],
)
def test_fed_shapes_are_checked(graph, value, message):
    x = placeholder(graph)
    with pytest.raises(ValueError) as caught:
        evaluate(graph, [x], {x: value})
    assert str(caught.value) == message


def failing(graph, kind):
    """An operation that fails at run time, and its feeds."""
    x = placeholder(graph, shape=None)
    if kind == "Gather":
        return add(graph, "Gather", "g", x, graph.constant(np.int32([[0, 7]]))), {x: np.ones(3)}
    if kind == "MatMul":
        return add(graph, "MatMul", "m", x, x), {x: np.ones((2, 3))}
    if kind == "FloorDiv":
        n = placeholder(graph, "n", None, INT)
        return add(graph, "FloorDiv", "d", n, graph.constant(np.int32(0))), {n: 1}
    if kind == "Multinomial":
        return add(graph, "Multinomial", "r", x, graph.constant(np.int32(1))), {x: np.ones((2, 3))}
    if kind == "Placeholder":
        return add(graph, "Neg", "y", x), {}
    return graph.add("MyOp", "mine", [x], n_outputs=1).outputs[0], {x: 1}


@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [
        (
            "Gather",
            errors.InvalidArgumentError,
            "Gather 'g': indices[0,1] = 7 is not in [0, 3) (inputs: float32[3], int32[1, 2])",
        ),
        (
            "MatMul",
            errors.InvalidArgumentError,
            "MatMul 'm': Dimensions must be equal, but are 3 and 2 (inputs: ",
        ),
        (
            "FloorDiv",
            errors.InvalidArgumentError,
            "FloorDiv 'd': Integer division by zero (inputs: int32[], int32[])",
        ),
        ("Multinomial", errors.UnimplementedError, "Multinomial 'r' has no reference kernel"),
        (
            "Placeholder",
            errors.InvalidArgumentError,
            "Placeholder 'x': You must feed a value for placeholder tensor 'x' with dtype float32",
        ),
        ("MyOp", errors.UnimplementedError, "MyOp 'mine' has no reference kernel"),
    ],
)
def test_failures_name_the_operation(graph, kind, error, message):
    tensor, feeds = failing(graph, kind)
    with pytest.raises(error) as caught:
        evaluate(graph, [tensor], feeds)
    assert caught.value.message.startswith(message)
    assert caught.value.op.graph is graph


def test_memory_is_refused_before_it_is_taken(graph):
    n = placeholder(graph, "n", (2,), INT)
    big = add(graph, "Fill", "big", n, graph.constant(np.float32(0)))
    with pytest.raises(errors.ResourceExhaustedError) as caught:
        evaluate(graph, [big], {n: [2**30, 2**30]}, memory=1 << 30)
    assert caught.value.message == f"Fill 'big' needs {2**62} bytes, {2**30} are allowed"
    x = placeholder(graph, shape=(None,))
    for i in range(40):  # doubles each time
        x = add(graph, "ConcatV2", f"c{i}", x, x, graph.constant(np.int32(0)))
    with pytest.raises(errors.ResourceExhaustedError, match="bytes, 1048576 are allowed"):
        evaluate(graph, [x], {graph.get_tensor("x:0"): [1.0]}, memory=1 << 20)


def test_padding_within_a_kernel_counts_too(graph):
    x = placeholder(graph, shape=(1, 1, 1, 1))
    filters = graph.constant(np.ones((1, 1, 1, 1), np.float32))
    pads = [0, 0, 2**30, 2**30 - 1, 2**30, 2**30 - 1, 0, 0]
    attrs = {"strides": [1, 2**31, 2**31, 1], "padding": b"EXPLICIT", "explicit_paddings": pads}
    y = add(graph, "Conv2D", "y", x, filters, **attrs)
    assert y.shape == (1, 1, 1, 1)
    with pytest.raises(errors.ResourceExhaustedError, match=r"Conv2D 'y': .* bytes are needed"):
        evaluate(graph, [y], {x: np.ones((1, 1, 1, 1))})


def test_control_inputs_with_an_effect_are_run(graph):
    x = placeholder(graph)
    condition = placeholder(graph, "ok", (), np.dtype(bool))
    check = graph.add("Assert", "check", [condition, x])
    group = graph.add("NoOp", "group", control_inputs=[check])
    y = graph.add("Neg", "y", [x], control_inputs=[group]).outputs[0]
    assert evaluate(graph, [y], {x: [[1, 2]], condition: True})[0].tolist() == [[-1, -2]]
    with pytest.raises(errors.InvalidArgumentError, match="Assert 'check': assertion failed"):
        evaluate(graph, [y], {x: [[1, 2]], condition: False})


def function(graph, name, kind, *constants):
    """Adds the function name(x) = kind(x, *constants) to the library."""
    body = Graph(graph.functions)
    x = body.add("_Arg", "x", (), {"T": FLOAT, "index": 0}).outputs[0]
    y = add(body, kind, "y", x, *(body.constant(np.float32(n)) for n in constants))
    body.inputs, body.outputs = [x], [y]
    graph.functions.add(Function.of(name, body))
    return FunctionRef(name)


@pytest.mark.parametrize(
    ("kind", "condition", "expected"),
    [("If", True, 3.0), ("StatelessIf", False, -2.0), ("If", np.float32(0.5), 3.0)],
)
def test_branches(graph, kind, condition, expected):
    x, value = placeholder(graph, shape=()), np.asarray(condition)
    chosen = placeholder(graph, "condition", (), value.dtype)
    branches = {
        "then_branch": function(graph, "f", "AddV2", 1),
        "else_branch": function(graph, "g", "Neg"),
    }
    y = add(graph, kind, "y", chosen, x, Tout=[FLOAT], output_shapes=[()], **branches)
    assert y.shape == ()
    assert evaluate(graph, [y], {x: 2, chosen: value})[0] == expected


@pytest.mark.parametrize(("index", "expected"), [(0, 3.0), (1, -2.0), (7, -2.0), (-1, -2.0)])
def test_cases(graph, index, expected):
    x, i = placeholder(graph, shape=()), placeholder(graph, "i", (), INT)
    branches = [function(graph, "f", "AddV2", 1), function(graph, "g", "Neg")]
    y = add(graph, "StatelessCase", "y", i, x, Tout=[FLOAT], branches=branches)
    assert evaluate(graph, [y], {x: 2, i: index})[0] == expected


@pytest.mark.parametrize("kind", ["While", "StatelessWhile"])
def test_loops(graph, kind):
    x = placeholder(graph, shape=())
    functions = {"cond": function(graph, "c", "Less", 100), "body": function(graph, "b", "Mul", 3)}
    y = add(graph, kind, "y", x, T=[FLOAT], output_shapes=[()], **functions)
    assert evaluate(graph, [y], {x: 5})[0] == 135
    with pytest.raises(errors.DeadlineExceededError, match="time is over at"):
        evaluate(graph, [y], {x: 0}, seconds=0.2)


@pytest.mark.parametrize("kind", ["PartitionedCall", "StatefulPartitionedCall"])
def test_calls_and_their_depth(graph, kind):
    x = placeholder(graph, shape=())
    y = add(graph, kind, "y", x, Tout=[FLOAT], f=function(graph, "f", "Neg"))
    assert evaluate(graph, [y], {x: 5})[0] == -5
    body = Graph(graph.functions)
    argument = body.add("_Arg", "x", (), {"T": FLOAT, "index": 0}).outputs[0]
    body.inputs = [argument]
    body.outputs = [add(body, kind, "again", argument, Tout=[FLOAT], f=FunctionRef("r"))]
    graph.functions.add(Function.of("r", body))
    endless = add(graph, kind, "endless", x, Tout=[FLOAT], f=FunctionRef("r"))
    with pytest.raises(errors.ResourceExhaustedError, match="calls may be 64 deep"):
        evaluate(graph, [endless], {x: 5})


def test_a_call_of_a_missing_function(graph):
    y = add(graph, "PartitionedCall", "y", Tin=[], Tout=[FLOAT], f=FunctionRef("nope"))
    with pytest.raises(errors.InvalidArgumentError, match="the library has no function 'nope'"):
        evaluate(graph, [y], {})


def test_placeholders_with_default_and_other_sources(graph):
    x = graph.constant(np.float32([1, 2]))
    default = add(graph, "PlaceholderWithDefault", "d", x, shape=(2,))
    empty = add(graph, "Empty", "e", graph.constant(np.int32([2])), dtype=FLOAT, init=True)
    survivors = add(graph, "GuaranteeConst", "k", default)
    assert evaluate(graph, [survivors], {})[0].tolist() == [1, 2]
    assert evaluate(graph, [survivors], {default: [3, 4]})[0].tolist() == [3, 4]
    assert evaluate(graph, [empty], {})[0].tolist() == [0, 0]
    bad = add(graph, "CheckNumerics", "c", placeholder(graph), message=b"here")
    with pytest.raises(errors.InvalidArgumentError, match="here : Tensor had NaN values"):
        evaluate(graph, [bad], {graph.get_tensor("x:0"): [[1, np.nan]]})


class Lists:
    """Appends TensorList operations."""

    def __init__(self, graph):
        self.graph = graph

    def number(self, value):
        return self.graph.constant(np.asarray(value, np.int32))

    def __getattr__(self, kind):
        def call(*inputs, **attrs):
            tensors = [item if hasattr(item, "op") else self.number(item) for item in inputs]
            return self.graph.add(f"TensorList{kind}", None, tensors, attrs).outputs

        return call


def test_tensor_lists(graph):
    lists, x = Lists(graph), graph.constant(np.float32([[1, 2], [3, 4], [5, 6]]))
    (full,) = lists.FromTensor(x, [2])
    (changed,) = lists.SetItem(full, 1, graph.constant(np.float32([0, 0])))
    (shorter,) = lists.Resize(changed, 2)
    (longer,) = lists.PushBack(shorter, graph.constant(np.float32([7, 8])))
    last = lists.PopBack(longer, [2], element_dtype=FLOAT)
    (empty,) = lists.Reserve([2], 2, element_dtype=FLOAT)
    (placed,) = lists.ScatterIntoExistingList(empty, x, [3, 0, 1])
    (scattered,) = lists.ScatterV2(x, [2, 0, 1], [2], -1)
    parts = lists.Split(x, [-1, 2], graph.constant(np.int64([1, 2])))
    (stacked,) = lists.Stack(longer, [2], element_dtype=FLOAT)
    fetches = {
        stacked: [[1, 2], [0, 0], [7, 8]],
        last[1]: [7, 8],
        lists.Length(last[0])[0]: 2,
        lists.GetItem(full, 2, [2], element_dtype=FLOAT)[0]: [5, 6],
        lists.GetItem(empty, 0, [2], element_dtype=FLOAT)[0]: [0, 0],
        lists.Stack(placed, -1, element_dtype=FLOAT)[0]: [[3, 4], [5, 6], [0, 0], [1, 2]],
        lists.Gather(scattered, [0, 2], [2], element_dtype=FLOAT)[0]: [[3, 4], [1, 2]],
        lists.ElementShape(full, shape_type=INT)[0]: [2],
    }
    joined = lists.ConcatV2(
        parts[0], [-1, 2], graph.constant(np.int64([])), element_dtype=FLOAT, shape_type=INT
    )
    fetches |= {joined[0]: [[1, 2], [3, 4], [5, 6]], joined[1]: [1, 2]}
    results = evaluate(graph, list(fetches), {})
    assert [result.tolist() for result in results] == list(fetches.values())
    assert stacked.shape == (None, 2)


@pytest.mark.parametrize(
    ("index", "message"),
    [(3, "Trying to access element 3 in a list with 3"), (-1, "Trying to access element -1 ")],
)
def test_lists_are_checked(graph, index, message):
    lists = Lists(graph)
    (full,) = lists.FromTensor(graph.constant(np.float32([1, 2, 3])), np.zeros(0))
    (item,) = lists.GetItem(full, index, np.zeros(0), element_dtype=FLOAT)
    with pytest.raises(errors.InvalidArgumentError, match=f"TensorListGetItem.*: {message}"):
        evaluate(graph, [item], {})


@pytest.mark.parametrize(("seconds", "expected"), [(60.0, [1, 1]), (-1.0, [1, 3])])
def test_products_have_one_thread_until_the_evaluation_is_long(monkeypatch, seconds, expected):
    threads, inside = [3], []
    monkeypatch.setattr(blas, "_control", lambda: (lambda: threads[-1], threads.append))
    monkeypatch.setattr(blas, "SECONDS", seconds)
    with blas.one_thread_at_first():
        inside.append(threads[-1])
        with blas.one_thread_at_first():  # another thread's evaluation
            blas.check()
        inside.append(threads[-1])
    assert inside == expected
    assert threads == [3, 1, 3]


def test_an_evaluation_leaves_the_threads_of_numpys_products_as_they_were():
    control = blas._control()
    if control is None:
        pytest.skip("numpy has no OpenBLAS here")
    before = control[0]()
    with blas.one_thread_at_first():
        assert control[0]() == 1
    assert control[0]() == before
