import numpy as np
import pytest

from flatlite.converter.ir.dims import symbol
from flatlite.converter.ir.graph import Graph, Op, Origin, Tensor, same_bits
from flatlite.converter.ir.parse import parse
from flatlite.converter.ir.text import large_constants, to_text

F32 = np.dtype(np.float32)


def tensor(name, *sizes):
    return Tensor(name, F32, sizes)


def chain():
    """x -> RELU -> y -> NEG -> z, and z twice into an ADD."""
    graph = Graph()
    x, y, z, w = (tensor(name, 4) for name in "xyzw")
    graph.inputs = [x]
    relu = graph.append(Op("RELU", [x], [y]))
    neg = graph.append(Op("NEG", [y], [z]))
    add = graph.append(Op("ADD", [z, z], [w]))
    graph.outputs = [w]
    return graph, relu, neg, add


def edges_hold(graph):
    """Whether producer and readers say what the ops' lists say."""
    for one in graph.tensors():
        makers = [op for op in graph.ops if any(one is t for t in op.outputs)]
        readers = [op for op in graph.ops for t in op.inputs if t is one]
        assert makers == ([one.producer] if one.producer else [])
        assert sorted(map(id, readers)) == sorted(map(id, one.readers))


def test_a_size_that_is_no_number_is_unknown():
    x = tensor("x", symbol("n", 7), 4)
    assert x.shape == (None, 4)
    assert x.rank == 2
    assert not x.is_static
    assert Tensor("y", F32, None).shape is None


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (np.float32([np.nan]), np.float32([np.nan]), True),
        (np.float32([0.0]), np.float32([-0.0]), False),
        (np.float32([1]), np.float64([1]), False),
        (np.zeros((1, 2)), np.zeros((2, 1)), False),
        (np.array([b"a"], object), np.array([b"a"], object), True),
    ],
)
def test_same_bits(first, second, same):
    assert same_bits(first, second) is same


def test_edges_follow_every_change():
    graph, relu, neg, add = chain()
    edges_hold(graph)
    assert neg.output.readers == [add, add]
    assert graph.sole_reader(neg.output) is None
    assert graph.sole_reader(relu.output) is neg
    graph.replace(neg.output, relu.output)
    edges_hold(graph)
    graph.remove(neg)
    edges_hold(graph)
    assert [op.kind for op in graph.ops] == ["RELU", "ADD"]
    new = graph.insert_after(relu, Op("ABS", [relu.output], [tensor("a", 4)]))
    add.set_input(1, new.output)
    graph.insert_before(relu, Op("EXP", [graph.inputs[0]], [tensor("e", 4)]))
    edges_hold(graph)
    assert [op.kind for op in graph.ops] == ["EXP", "RELU", "ABS", "ADD"]


def test_what_is_read_is_not_removed():
    graph, relu, _, add = chain()
    with pytest.raises(ValueError, match="RELU 'y' cannot be removed: it is still read"):
        graph.remove(relu)
    with pytest.raises(ValueError, match="ADD 'w' cannot be removed"):
        graph.remove(add)


def test_an_output_that_is_replaced_keeps_its_name():
    graph, _, neg, add = chain()
    graph.replace(add.output, neg.output)
    assert graph.outputs == [neg.output]
    assert graph.output_names == ["w"]


def test_absorb_keeps_the_later_tensor():
    graph, relu, neg, _ = chain()
    neg.output.origin = Origin("z:0")
    graph.absorb(relu, neg)
    edges_hold(graph)
    assert relu.output.name == "z"
    assert relu.output.origin == Origin("z:0")


def test_set_input_fills_omitted_ones():
    graph, relu, *_ = chain()
    bias = tensor("b", 4)
    relu.set_input(2, bias)
    assert relu.inputs[1] is None
    assert relu.input(2) is bias
    assert relu.input(7) is None
    relu.set_input(2, None)
    assert bias.readers == []
    edges_hold(graph)


def test_origin_of_a_transposed_tensor_says_how_to_get_the_source():
    source = np.arange(24).reshape(2, 3, 4)
    order = (0, 2, 1)
    origin = Origin("x:0").permuted(order)
    assert (np.transpose(np.transpose(source, order), origin.layout) == source).all()
    twice = origin.permuted((2, 0, 1))
    moved = np.transpose(np.transpose(source, order), (2, 0, 1))
    assert (np.transpose(moved, twice.layout) == source).all()
    assert origin.permuted((0, 2, 1)).layout is None


TEXT = """graph main(x: float32[n,28,28,1], "a b:0": int8[4]<0.5:3>) {
  y: float32[n,784] = RESHAPE(x, int32[2]{-1, 784})
  z: float32[n,10] = FULLY_CONNECTED(y, float32[10,784]#0123abcd, none; keep_num_dims=true)
  q: int8[2]<0.5:3,0.25:0@0>, r: bool[2] = CUSTOM:Foo("a b:0", string[2]{"a, {", "b\\"}"}; bytes=0a)
  u: float32[?] = WHILE(z, float32[100]{nan}; calls=[cond, body])
  ASSIGN_VARIABLE(q, r)
  return z as "o:0", y as "p", float32[]{1.0} as "c"
}
graph cond(a: float32[?]) {
  return a
}
graph body(a: float32[?]) {
  return a
}"""


def test_text_round_trip():
    weights = np.random.default_rng(0).normal(size=(10, 784)).astype(np.float32)
    graph = parse(TEXT, {"0123abcd": weights})
    text = to_text(graph)
    constants = large_constants(graph)
    assert [value.shape for value in constants.values()] == [(10, 784)]
    assert text == TEXT.replace("0123abcd", next(iter(constants)))
    assert str(parse(text, constants)) == text


def test_text_infers_types():
    graph = parse("graph main(x: float32[n,4]) {\n y = EXPAND_DIMS(x, int32[]{1})\n return y\n}")
    assert graph.outputs[0].shape == (None, 1, 4)


def test_names_are_made_unique_and_quoted():
    graph, relu, neg, _ = chain()
    relu.output.name = neg.output.name = "conv/Relu:0"
    assert '"conv/Relu:0": float32[4] = RELU(x)' in str(graph)
    assert '"conv/Relu:0_2": float32[4] = NEG("conv/Relu:0")' in str(graph)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nothing", "must have a line 'graph name"),
        ("graph g(x: float32[4]) {\n y = RELU(v)\n}", "tensor v is not known in line: y = RELU"),
        ("graph g(x: float32[4]) {\n y: float32 = RELU(x)\n}", "a type must be written"),
        ("graph g(x: float32[4]) {\n y = ADD(x, float32[9]#w)\n}", "constant #w is not given"),
        ("graph g(x: float32[4]) {\n y\n}", "an op must be written"),
    ],
)
def test_bad_text(text, message):
    with pytest.raises(ValueError, match=message):
        parse(text)
