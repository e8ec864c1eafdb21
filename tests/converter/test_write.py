import numpy as np
from flatbuffers import encode, packer
from flatbuffers.table import Table
from rewriting import graph_of

from flatlite.converter.ir.builder import Builder
from flatlite.converter.ir.graph import Graph, Origin, Signature
from flatlite.converter.ir.parse import parse
from flatlite.converter.ir.write import write
from flatlite.lite import Interpreter
from flatlite.schema.model import load, save

TEXT = """graph main("x:0": float32[n,4], "y:0": float32[n,4]) {
  a = ADD("x:0", float32[4]{1.0})
  b = MUL(a, float32[4]{1.0})
  c = SUB(b, "y:0")
  return c as "out:0", a as "side:0"
}"""


def written(text=TEXT):
    graph = parse(text)
    return graph, write(graph).model


def test_names_and_order_of_inputs_and_outputs():
    _, model = written()
    (subgraph,) = model.subgraphs
    names = [tensor.name for tensor in subgraph.tensors]
    assert [names[i] for i in subgraph.inputs] == ["x:0", "y:0"]
    assert [names[i] for i in subgraph.outputs] == ["out:0", "side:0"]
    assert len(set(names)) == len(names)


def test_unknown_dimensions():
    _, model = written()
    x = model.subgraphs[0].tensors[0]
    assert x.shape == (1, 4)
    assert x.shape_signature == (-1, 4)
    constant = next(t for t in model.subgraphs[0].tensors if t.data is not None)
    assert constant.shape_signature is None


def tables(table, slot):
    """The tables of a table's field."""
    start = table.Vector(slot)
    return [Table(table.Bytes, table.Indirect(start + 4 * i)) for i in range(table.VectorLen(slot))]


def test_scalars_have_an_empty_shape_as_tensorflow_writes_them():
    _, model = written("""graph main("x:0": float32[]) {
      y = ADD("x:0", float32[]{2.0})
      return y as "y:0"
    }""")
    content = save(model)
    root = Table(content, encode.Get(packer.uoffset, content, 0))
    (subgraph,) = tables(root, root.Offset(8))
    tensors = tables(subgraph, subgraph.Offset(4))
    assert [tensor.VectorLen(tensor.Offset(4)) for tensor in tensors] == [0, 0, 0]
    assert all(tensor.Offset(4) for tensor in tensors)  # 0 for a field that is not there


def test_equal_constants_share_a_buffer():
    graph, model = written()
    content = save(model)
    assert content.count(np.float32([1, 1, 1, 1]).tobytes()) == 1
    assert save(write(graph).model) == content


def test_signature_survives_passes_that_merge_outputs():
    text = """graph main(x: float32[4]) {
        a = RELU(x)
        return a as "p", x as "q", a as "r"
    }"""
    graph = parse(text)
    graph.signature = Signature("serve", ("in",), ("first", "second", "third"))
    model = load(save(write(graph).model))
    (signature,) = model.signatures
    assert signature.key == "serve"
    assert signature.inputs == {"in": 0}
    assert signature.outputs == {"first": 1, "second": 0, "third": 1}
    assert [tensor.name for tensor in model.subgraphs[0].tensors] == ["x", "p"]


def test_several_signatures_and_called_graphs():
    text = """graph one(x: float32[4]) {
  c: bool[1] = CUSTOM:Test(x)
  y: float32[4] = IF(c, x; calls=[yes, no])
  return y
}
graph yes(a: float32[4]) {
  return a
}
graph no(a: float32[4]) {
  b = NEG(a)
  return b
}"""
    first, second = parse(text), parse("graph two(x: float32[4]) {\n y = ABS(x)\n return y\n}")
    first.signature = Signature("one", ("x",), ("y",))
    second.signature = Signature("two", ("x",), ("y",))
    model = write([first, second]).model
    assert [subgraph.name for subgraph in model.subgraphs] == ["one", "two", "yes", "no"]
    options = model.subgraphs[0].operators[1].options
    assert (options.then_subgraph_index, options.else_subgraph_index) == (2, 3)
    assert [(s.key, s.subgraph) for s in model.signatures] == [("one", 0), ("two", 1)]


def test_only_what_is_used_is_written():
    graph = Graph()
    b = Builder(graph)
    x = b.input("x", np.float32, (4,))
    b.input("unused", np.float32, (4,))
    b.constant(np.zeros(100))
    graph.outputs = [b.RELU(x)]
    model = write(graph).model
    assert len(model.subgraphs[0].tensors) == 3
    assert model.subgraphs[0].operators[0].options is None


def test_metadata():
    graph = graph_of("graph main(x: float32[4]) {\n y = GELU(x)\n return y\n}")
    model = write(graph, metadata={"CONVERSION_METADATA": b"1"}, description="test").model
    assert model.metadata["min_runtime_version"] == b"2.9.0".ljust(16, b"\0")
    assert list(model.metadata) == ["min_runtime_version", "CONVERSION_METADATA"]
    assert model.description == "test"


def test_origins_are_those_of_results():
    graph = parse(TEXT)
    for op in graph.ops:
        op.output.origin = Origin(f"{op.output.name}:0", (1, 0) if op.kind == "MUL" else None)
    model, (origins,), *_ = write(graph)
    names = [tensor.name for tensor in model.subgraphs[0].tensors]
    assert {names[i]: origin for i, origin in origins.items()} == {
        "side:0": Origin("a:0"),
        "b": Origin("b:0", (1, 0)),
        "out:0": Origin("c:0"),
    }


def test_the_file_runs():
    _, model = written()
    interpreter = Interpreter(model_content=save(model))
    interpreter.allocate_tensors()
    x, y = interpreter.get_input_details()
    interpreter.set_tensor(x["index"], np.float32([[1, 2, 3, 4]]))
    interpreter.set_tensor(y["index"], np.float32([[1, 1, 1, 1]]))
    interpreter.invoke()
    out, side = interpreter.get_output_details()
    assert interpreter.get_tensor(out["index"]).tolist() == [[1, 2, 3, 4]]
    assert interpreter.get_tensor(side["index"]).tolist() == [[2, 3, 4, 5]]
