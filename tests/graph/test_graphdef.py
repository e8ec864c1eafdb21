"""GraphDef messages read and written."""

import random

import numpy as np
import pytest

from flatlite.graph.core.evaluate import evaluate
from flatlite.graph.core.graph import Graph
from flatlite.graph.core.library import Function
from flatlite.graph.core.signatures.attributes import FunctionRef
from flatlite.graph.format.fold import fold
from flatlite.graph.format.graphdef import import_graph_def, to_graph_def
from flatlite.graph.format.inline import inline
from flatlite.graph.format.prune import prune
from flatlite.schema import proto
from flatlite.schema.errors import ModelError, OpError

FLOAT = np.dtype("float32")


def read(text):
    return import_graph_def(proto.parse_text("GraphDef", text.encode()))


def node(name, kind, *inputs, **attrs):
    """A NodeDef as text; `T=1` is a type, other attributes are text."""
    words = [f'name: "{name}" op: "{kind}"', *(f'input: "{text}"' for text in inputs)]
    for key, value in attrs.items():
        value = f"type: {value}" if isinstance(value, int) else value
        words.append(f'attr {{ key: "{key}" value {{ {value} }} }}')
    return f"node {{ {' '.join(words)} }}\n"


X = node("x", "Placeholder", dtype=1)


def same_attr(a, b):
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b)
    return a == b


def assert_equal(a, b):
    """Two graphs with the same operations, in the same order."""
    assert [op.name for op in a.operations] == [op.name for op in b.operations]
    for x, y in zip(a.operations, b.operations, strict=True):
        assert (x.type, x.device, x.attrs.keys()) == (y.type, y.device, y.attrs.keys())
        assert [t.name for t in x.inputs] == [t.name for t in y.inputs]
        assert [op.name for op in x.control_inputs] == [op.name for op in y.control_inputs]
        assert all(same_attr(x.attrs[name], y.attrs[name]) for name in x.attrs), x
        assert [(t.dtype, t.shape) for t in x.outputs] == [(t.dtype, t.shape) for t in y.outputs]


def test_nodes_in_any_order_become_operations_in_order():
    graph = read(
        node("sum", "AddV2", "neg", "x:0", "^go", T=1)
        + node("neg", "Neg", "x", T=1)
        + X
        + node("go", "NoOp")
    )
    assert [op.name for op in graph.operations] == ["x", "neg", "go", "sum"]
    total = graph.get_operation("sum")
    assert [t.name for t in total.inputs] == ["neg:0", "x:0"]
    assert [op.name for op in total.control_inputs] == ["go"]


def test_every_kind_of_attribute_comes_back():
    graph = Graph()
    attrs = {
        "s": b"text", "i": -3, "f": 0.5, "b": True, "t": np.dtype("int64"), "r": (None, 2),
        "u": None, "n": np.float32([[1, 2]]), "g": FunctionRef("f", {"k": 3}),
        "ls": [b"a", b"b"], "li": [1, 2], "lf": [0.5], "lb": [True, False],
        "lt": [np.dtype("bool"), np.dtype(object)], "lr": [None, (1, None)],
        "lg": [FunctionRef("f", {})], "empty": [],
    }  # fmt: skip
    op = graph.add("Mine", "mine", (), attrs, n_outputs=1)
    again = import_graph_def(to_graph_def(graph)).get_operation("mine")
    for name, value in op.attrs.items():
        assert same_attr(again.attrs[name], value), name


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("dtype: 1 float_val: [1, 2]", np.float32([1, 2])),
        ("dtype: 1 tensor_content: '\\000\\000\\200?\\000\\000\\000@'", np.float32([1, 2])),
        ("dtype: 1 float_val: 7", np.float32([7, 7])),
        ("dtype: 1", np.float32([0, 0])),
        ("dtype: 2 double_val: [1, 2]", np.float64([1, 2])),
        ("dtype: 3 int_val: [-1, 2]", np.int32([-1, 2])),
        ("dtype: 4 int_val: [255, 2]", np.uint8([255, 2])),
        ("dtype: 6 int_val: [-1, 2]", np.int8([-1, 2])),
        ("dtype: 7 string_val: ['a', 'bc']", np.array([b"a", b"bc"], object)),
        ("dtype: 7 string_val: 'a'", np.array([b"a", b"a"], object)),
        ("dtype: 7", np.array([b"", b""], object)),
        ("dtype: 7 tensor_content: '\\001\\002abc'", np.array([b"a", b"bc"], object)),
        ("dtype: 8 scomplex_val: [1, 2, 3, 4]", np.complex64([1 + 2j, 3 + 4j])),
        ("dtype: 9 int64_val: [-1, 5000000000]", np.int64([-1, 5000000000])),
        ("dtype: 10 bool_val: [true, false]", np.array([True, False])),
        ("dtype: 10 tensor_content: '\\002\\000'", np.array([True, False])),
        ("dtype: 19 half_val: [15360, 16384]", np.float16([1, 2])),
        ("dtype: 22 uint32_val: [4294967295, 1]", np.uint32([4294967295, 1])),
        ("dtype: 23 uint64_val: [1, 2]", np.uint64([1, 2])),
    ],
)
def test_constants(text, expected):
    shape = "tensor_shape { dim { size: 2 } }"
    enum = int(text.split()[1])
    graph = read(node("c", "Const", dtype=enum, value=f"tensor {{ {text} {shape} }}"))
    actual = graph.get_operation("c").get_attr("value")
    assert actual.dtype == expected.dtype
    assert not actual.flags.writeable
    np.testing.assert_array_equal(actual, expected)
    again = import_graph_def(to_graph_def(graph)).get_operation("c").get_attr("value")
    np.testing.assert_array_equal(again, expected)


def test_bfloat16_constants():
    value = "tensor { dtype: 14 half_val: [16256, 16384] tensor_shape { dim { size: 2 } } }"
    actual = read(node("c", "Const", dtype=14, value=value)).get_operation("c").get_attr("value")
    assert (actual.dtype.name, actual.astype(float).tolist()) == ("bfloat16", [1.0, 2.0])


def constant(text, enum=1):
    return node("c", "Const", dtype=enum, value=f"tensor {{ dtype: {enum} {text} }}")


def test_one_value_for_a_whole_tensor_takes_no_memory():
    graph = read(constant("float_val: 3 tensor_shape { dim { size: 40000 } dim { size: 40000 } }"))
    value = graph.get_operation("c").get_attr("value")
    assert (value.shape, value.strides, value[7, 9]) == ((40000, 40000), (0, 0), 3)
    assert len(to_graph_def(graph).SerializeToString()) < 200


def test_last_values_are_repeated_within_a_budget():
    graph = read(constant("float_val: [1, 2] tensor_shape { dim { size: 5 } }"))
    assert graph.get_operation("c").get_attr("value").tolist() == [1, 2, 2, 2, 2]
    with pytest.raises(ModelError, match=r"Const 'c': attribute value: 2 values are repeated to"):
        read(constant("float_val: [1, 2] tensor_shape { dim { size: 20000000 } }"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "float_val: 1 tensor_shape { dim { size: 2147483648 } }",
            "must have at most 2147483647 elements, got [2147483648]",
        ),
        (
            "float_val: 1 tensor_shape { dim { size: 0 } dim { size: 4611686018427387905 } }",
            "must have at most 2147483647 elements, got [0, 4611686018427387905]",
        ),
        ("float_val: 1 tensor_shape { dim { size: -1 } }", "the shape of a constant must be known"),
        ("tensor_shape { unknown_rank: true }", "the shape of a constant must be known"),
        ("float_val: [1, 2] tensor_shape { }", "holds 2 values for 1 elements"),
        ("tensor_content: 'abc' tensor_shape { }", "tensor_content must have 4 bytes"),
        ("tensor_shape { " + "dim { size: 1 } " * 33 + "}", "rank must be <= 32, got 33"),
    ],
)
def test_constants_that_cannot_be(text, message):
    with pytest.raises(ModelError) as caught:
        read(constant(text))
    assert str(caught.value).startswith(f"Const 'c': attribute value: {message}")


@pytest.mark.parametrize("content", ["\\002a", "\\200", "\\001ab"])
def test_packed_strings_that_cannot_be(content):
    with pytest.raises(ModelError, match="must have the lengths of 1 strings and the strings, got"):
        read(constant(f"tensor_content: '{content}' tensor_shape {{ }}", 7))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (node("n", "Neg", "nope", T=1), "Node 'n': Unknown input node 'nope'"),
        (X + node("n", "Neg", "x", "^nope", T=1), "Node 'n': Unknown input node '^nope'"),
        (X + X, "Node 'x' is not unique"),
        (X + node("n", "Neg", "x:k", T=1), "Node 'n': input 'x:k' is not a tensor name"),
        (
            X + node("n", "Neg", "x:3", T=1),
            "Node 'n': Connecting to invalid output 3 of source node x which has 1 outputs.",
        ),
        (
            node("a", "Neg", "b", T=1) + node("b", "Neg", "a", T=1),
            "the graph has a cycle through a, b; only NextIteration may close a loop",
        ),
        (X + node("n", "Neg", "x"), None),
        (node("p", "Placeholder"), "Placeholder 'p': attribute dtype is missing"),
        (
            node("p", "Placeholder", dtype="i: 1"),
            "Placeholder 'p': attribute dtype must be of kind type, got int",
        ),
        (
            node("p", "Placeholder", dtype=1, shape="list { i: 1 }"),
            "Placeholder 'p': attribute shape must be of kind shape, got list",
        ),
        (
            node("p", "Placeholder", dtype=77),
            "Placeholder 'p': attribute dtype: DataType must be in",
        ),
        (
            X + node("s", "Squeeze", "x", T=1, squeeze_dims="list { s: 'a' }"),
            "Squeeze 's': attribute squeeze_dims must be of kind list(int), got list(string)",
        ),
        (
            X + node("n", "NoOp", "^x", "x"),
            "Node 'n': control inputs must follow other inputs",
        ),
        (
            node("n", "Neg", T=1),
            "Neg 'n': NodeDef expected inputs 'float' do not match 0 inputs specified",
        ),
        (
            X + node("n", "Neg", "x", T=3),
            "Neg 'n': Input 0 of node n was passed float from x:0 incompatible with expected",
        ),
    ],
)
def test_graphs_that_cannot_be(text, message):
    if message is None:  # a type that the inputs tell may be left out
        read(text)
        return
    with pytest.raises(ModelError) as caught:
        read(text)
    assert str(caught.value).startswith(message)


def test_loops_are_closed_by_next_iteration():
    text = X + node("e", "Enter", "x", T=1, frame_name="s: 'f'")
    text += node("m", "Merge", "e", "n", T=1, N="i: 2") + node("n", "NextIteration", "m", T=1)
    graph = read(text)
    merge = graph.get_operation("m")
    assert [t.name for t in merge.inputs] == ["e:0", "n:0"]
    assert graph.get_tensor("n:0").consumers() == [merge]
    assert_equal(graph, import_graph_def(to_graph_def(graph)))
    graph.outputs = [graph.get_tensor("m:0")]
    assert_equal(prune(graph), graph)


def square_library():
    """f(x) = (x * x, x + x), written with TensorFlow's names for outputs."""
    return """
    library { function {
      signature { name: "f" input_arg { name: "x" type_attr: "T" }
        output_arg { name: "p" type_attr: "T" } output_arg { name: "s" type_attr: "T" }
        attr { name: "T" type: "type" } }
      node_def { name: "halves" op: "Split" input: "axis:output:0" input: "x"
        attr { key: "T" value { placeholder: "T" } } attr { key: "num_split" value { i: 2 } } }
      node_def { name: "axis" op: "Const" attr { key: "dtype" value { type: 3 } }
        attr { key: "value" value { tensor { dtype: 3 tensor_shape { } } } } }
      node_def { name: "mul" op: "Mul" input: "halves:output:0" input: "halves:output:1"
        attr { key: "T" value { placeholder: "T" } } }
      ret { key: "p" value: "mul:z:0" } ret { key: "s" value: "x" } } }
    """


def test_bodies_of_functions():
    graph = read(X + square_library())
    body = graph.functions.body(FunctionRef("f", {"T": FLOAT}))
    assert [t.name for t in body.inputs] == ["x:0"]
    assert [t.name for t in body.outputs] == ["mul:0", "x:0"]
    assert [t.name for t in body.get_operation("mul").inputs] == ["halves:0", "halves:1"]
    assert body.outputs[0].dtype == FLOAT
    assert graph.functions.body(FunctionRef("f", {"T": FLOAT})) is body
    with pytest.raises(ModelError, match="function 'f': attribute T is not given"):
        graph.functions.body("f")
    with pytest.raises(KeyError, match="the library has no function 'g'"):
        graph.functions.body("g")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("mul:z:0", "mul:z:1", "Node 'p': Connecting to invalid output z:1 of source node mul"),
        ("mul:z:0", "nope:z:0", "function 'f': result p is of an unknown node 'nope'"),
        ('key: "p"', 'key: "q"', "function 'f': result p is not in ret"),
        ("halves:output:1", "halves:nope:0", "Node 'mul': Connecting to invalid output nope:0"),
        ("type_attr", "number_attr", "function 'f': argument x: DataType must be in"),
    ],
)
def test_bodies_that_cannot_be(old, new, message):
    with pytest.raises(ModelError) as caught:
        read(square_library().replace(old, new)).functions.body(FunctionRef("f", {"T": FLOAT}))
    assert str(caught.value).startswith(message)


def test_functions_made_from_graphs_are_written():
    graph = Graph()
    body = Graph(graph.functions)
    x = body.add("_Arg", "x", (), {"T": FLOAT, "index": 0}).outputs[0]
    halves = body.add("Split", "s", [body.constant(np.int32(0)), x], {"num_split": 2}).outputs
    body.inputs, body.outputs = [x], [halves[1], x]
    graph.functions.add(Function.of("f", body))
    call = graph.add("f", "call", [graph.constant(np.float32([1, 2]), "c")])
    assert [t.dtype for t in call.outputs] == [FLOAT, FLOAT]
    again = import_graph_def(to_graph_def(graph))
    assert_equal(again, graph)
    assert [t.name for t in again.functions.body("f").outputs] == ["s:1", "x:0"]
    assert [a.tolist() for a in evaluate(inline(again), *fetched(inline(again), 2))] == [
        [2],
        [1, 2],
    ]


def fetched(graph, n):
    """The last tensors of an inlined graph that nothing reads: for evaluate()."""
    return [graph.get_tensor("call/s:1"), graph.get_tensor("c:0")][:n], {}


def graph_defs(corpus):
    paths = sorted(corpus.glob("*/*/*/graph.pb")) + sorted(corpus.glob("*/*/frozen.pb"))
    assert paths
    return paths


def test_the_corpus_comes_back_equal(corpus):
    for path in graph_defs(corpus):
        graph = import_graph_def(proto.parse("GraphDef", path.read_bytes()))
        message = to_graph_def(graph)
        assert_equal(graph, import_graph_def(message))
        assert message.SerializeToString(deterministic=True) == to_graph_def(
            import_graph_def(message)
        ).SerializeToString(deterministic=True)


def test_damaged_graphs_are_refused_in_words(corpus):
    """Flipped bytes: a graph, or a ModelError; never another exception."""
    rng = random.Random(0)
    contents = [path.read_bytes() for path in graph_defs(corpus) if path.stat().st_size < 20_000]
    outcomes = {"read": 0, "refused": 0}
    for _ in range(600):
        content = bytearray(rng.choice(contents))
        for _ in range(rng.choice((1, 1, 3))):
            content[rng.randrange(len(content))] = rng.choice((0, 255, rng.randrange(256)))
        try:
            message = proto.parse("GraphDef", bytes(content))
        except ValueError:
            continue
        try:
            graph = import_graph_def(message)
            graph.outputs = [op.outputs[0] for op in graph.operations[-1:] if op.outputs]
            fold(prune(inline(graph)))
            outcomes["read"] += 1
        except (ModelError, OpError):
            outcomes["refused"] += 1
    assert min(outcomes.values()) > 20
