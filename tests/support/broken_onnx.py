"""Broken ONNX files, with words that their errors must have."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def floats(*shape):
    return np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)


def node(kind, names="x", out="y", **attributes):
    return helper.make_node(kind, names.split(), out.split(), **attributes)


def model(*nodes, x=(1, 4, 8, 8), opset=17, dtype=TensorProto.FLOAT, **constants):
    """A model of some nodes that reads `x` and gives `y`."""
    inputs = [helper.make_tensor_value_info("x", dtype, list(x))]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    weights = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "main", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def written(message):
    def make(folder):
        path = folder / "model.onnx"
        content = message if isinstance(message, bytes) else message.SerializeToString()
        path.write_bytes(content)
        return path

    return make


def layer(*arguments, **options):
    return written(model(*arguments, **options))


def changed(change, *arguments, **options):
    message = model(*arguments, **options)
    change(message.graph)
    return written(message)


def external(location, offset=0, length=24, content=bytes(24)):
    """A model whose weights lie in another file, beside a file `weights`."""

    def change(folder):
        message = model(node("Add", "x w"), x=(6,), w=floats(6))
        (weights,) = message.graph.initializer
        onnx.external_data_helper.set_external_data(weights, location, offset, length)
        weights.ClearField("raw_data")
        (folder / "weights").write_bytes(content)
        (folder / "link").symlink_to("/etc/hostname")
        return written(message)(folder)

    return change


def unknown_rank(graph):
    graph.input[0].type.tensor_type.ClearField("shape")


def own_function(folder):
    message = model(helper.make_node("f", ["x"], ["y"], domain="mine"))
    message.opset_import.append(helper.make_opsetid("mine", 1))
    again = helper.make_node("f", ["a"], ["b"], domain="mine")
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("mine", 1)]
    message.functions.append(helper.make_function("mine", "f", ["a"], ["b"], [again], opsets))
    return written(message)(folder)


def doubling_functions(folder):
    """Each calls the next one twice."""
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("mine", 1)]
    message = model(helper.make_node("f0", ["x"], ["y"], domain="mine"))
    message.opset_import.append(opsets[1])
    for i in range(40):
        calls = [helper.make_node(f"f{i + 1}", [a], [b], domain="mine") for a, b in ("ab", "bc")]
        body = calls if i < 39 else [node("Relu", "a", "c")]
        function = helper.make_function("mine", f"f{i}", ["a"], ["c"], body, opsets)
        message.functions.append(function)
    return written(message)(folder)


def repeated(graph):
    graph.initializer[0].dims[0] = 1 << 31


def negative(graph):
    graph.initializer[0].dims[0] = -4


def short(graph):
    graph.initializer[0].raw_data = b"\0" * 8


def odd_type(graph):
    graph.initializer[0].data_type = 99


def odd_input(graph):
    graph.input[0].type.tensor_type.elem_type = 99


def no_output(graph):
    graph.output[0].name = "nowhere"


def sequence(graph):
    graph.input[0].CopyFrom(helper.make_tensor_sequence_value_info("x", TensorProto.FLOAT, [1, 4]))


def nested(folder):
    """If within If, 200 levels."""
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    body = helper.make_graph([node("Identity", "x", "y")], "body", [], [y])
    content = body.SerializeToString()
    for _ in range(200):
        branch = onnx.AttributeProto(name="then_branch", type=onnx.AttributeProto.GRAPH)
        attribute = branch.SerializeToString() + _field(6, content)
        outer = onnx.NodeProto(op_type="If", input=["c"], output=["y"]).SerializeToString()
        content = _field(1, outer + _field(5, attribute))
    return written(_field(7, content))(folder)


def _field(number, content):
    size, length = len(content), []
    while size > 127:
        length.append(size & 127 | 128)
        size >>= 7
    return bytes([number << 3 | 2, *length, size]) + content


W = floats(6, 4, 3, 3)
ADD = node("Add", "x w")
ONNX = {
    "empty": (written(b""), "is empty"),
    "noise": (written(b"\xff" * 40), "is not an ONNX model"),
    "cut": (written(model(node("Relu")).SerializeToString()[:-9]), "is not an ONNX model"),
    "length beyond the end": (
        written(b"\x3a" + b"\xff" * 8 + b"\x7f" + b"x" * 20), "is not an ONNX model"),
    "no graph": (written(b"\x08\x08"), "it has no graph"),
    "nested": (nested, "is not an ONNX model"),
    "tensor that is not there": (
        layer(node("Relu", "nowhere")), "Relu 'y' reads 'nowhere', which nothing before it gives"),
    "tensor given twice": (
        layer(node("Relu"), node("Relu")), "Relu 'y' gives 'y', which is there already"),
    "cycle": (layer(node("Add", "x b", "a"), node("Relu", "a", "b"), node("Relu", "b")),
              "Add 'a' reads 'b', which nothing before it gives"),
    "output that is not there": (
        changed(no_output, node("Relu")), "output 'nowhere' is given by no node"),
    "no outputs": (
        changed(lambda graph: graph.ClearField("output"), node("Relu")),
        "the graph has no outputs; name tensors with output_arrays"),
    "no operator set": (layer(ADD, opset=0, w=W), "the operator set of ai.onnx must be 1 to"),
    "old operator of unknown meaning": (
        changed(unknown_rank, node("PRelu", "x w"), opset=6, w=floats(4)),
        "PRelu 'y': the shape of 'x' must be known", "of operator set 6"),
    "old operator of training": (
        layer(node("BatchNormalization", "x w w w w"), opset=6, w=floats(4)),
        "BatchNormalization 'y': is_test must be 1, got 0"),
    "old operator with a computed size": (
        layer(node("Split", "b x", "y"), opset=1, b=W), "Split 'y': input 1 ('x') must be const"),
    "old operator of one axis": (
        layer(node("Tile", "x w w"), opset=1, w=W), "Tile 'y': that of operator set 1"),
    "old operator of no type": (
        layer(node("Cast", to="REAL"), opset=5), "Cast 'y': to must be a type, got 'REAL'"),
    "operator set of the future": (layer(ADD, opset=9999, w=W), "got 9999; update"),
    "unknown operators": (
        layer(node("StringSplit", "x", "a"), helper.make_node("Fancy", ["a"], ["y"], domain="acme"),
              opset=20),
        "StringSplit x 1, first at node 'a'", "acme.Fancy x 1, first at node 'y'"),
    "function that calls itself": (own_function, "'f'", "must not call themselves"),
    "functions that double": (
        doubling_functions, "calls of the model's functions must make at most 262144 nodes, got"),
    "weights too large": (
        changed(repeated, ADD, w=W), "initializer 'w': shape must have no negative size"),
    "negative size": (
        changed(negative, ADD, w=W), "initializer 'w': shape must have no negative size"),
    "weights cut": (changed(short, ADD, w=W), "initializer 'w' is malformed"),
    "weights of an unknown type": (changed(odd_type, ADD, w=W), "initializer 'w'"),
    "input of an unknown type": (changed(odd_input, node("Relu")), "input 'x'", "type 99"),
    "input that is a sequence": (
        changed(sequence, node("Relu")), "input 'x' must be a tensor, got a sequence_type"),
    "uint64": (
        layer(node("Add", "x x"), dtype=TensorProto.UINT64), "ADD 'y': it has no kernel for ("),
    "weights outside": (external("../weights"), "'../weights'"),
    "weights at an absolute path": (external("/etc/hostname"), "'/etc/hostname'"),
    "weights behind a link": (external("link"), "'link'"),
    "weights that are not there": (external("nowhere"), "nowhere"),
    "weights beyond the end": (external("weights", 8), "lie outside of 'weights', which has 24"),
    "weights of negative length": (external("weights", 0, -8), "initializer 'w'"),
    "weights of another length": (external("weights", 0, 8), "initializer 'w'"),
    "channels": (layer(node("Conv", "x w"), x=(1, 3, 8, 8), w=W),
                 "Conv 'y': 1 groups of 4 channels must be the image's 3 channels"),
    "strides": (layer(node("Conv", "x w", strides=[0, 1]), w=W),
                "Conv 'y': strides must be 2 positive numbers, got [0, 1]"),
    "attribute missing": (layer(node("Concat", "x x")), "Concat 'y': attribute axis is missing"),
    "attribute of another type": (layer(node("Concat", "x x", axis="one")), "Concat 'y'", "axis"),
    "unknown attribute": (layer(node("Relu", fancy=1)), "Relu 'y'", "fancy"),
    "too few inputs": (layer(node("Conv")), "Conv 'y'"),
    "too many inputs": (layer(node("Relu", "x x")), "Relu 'y'"),
    "axis out of range": (layer(node("Softmax", axis=7)), "Softmax 'y'", "7"),
    "permutation": (layer(node("Transpose", perm=[0, 0, 1, 2])), "Transpose 'y'", "[0, 0, 1, 2]"),
    "shapes that do not broadcast": (layer(node("Add", "x w"), w=floats(5)), "ADD 'y'"),
    "reshape to other elements": (
        layer(node("Reshape", "x w"), w=np.int64([3, 3])), "RESHAPE 'y'"),
    "split that does not add up": (
        layer(node("Split", "x w", "y z", axis=1), w=np.int64([1, 2])), "SPLIT_V 'y'"),
    "matrices that do not fit": (layer(node("MatMul", "x w"), w=floats(5, 2)), "BATCH_MATMUL 'y'"),
    "pooling without a size": (layer(node("MaxPool")), "MaxPool 'y'", "kernel_shape"),
    "cast to a type of the future": (layer(node("Cast", to=77)), "Cast 'y'", "77"),
    "mode of resizing": (
        layer(node("Resize", "x  s", mode="magic"), s=floats(4)), "Resize 'y'"),
    "sides without end": (
        layer(helper.make_node("Resize", ["x", "", "", "s"], ["y"], mode="cubic"),
              s=np.int64([1, 4, 8, 1 << 40])),
        "Resize 'y': axis 3 must have at most 16777216 elements"),
    "first state of another size": (
        layer(helper.make_node("GRU", ["x", "w", "r", "", "", "h"], ["y"], hidden_size=2),
              x=(3, 1, 4), w=floats(1, 6, 4), r=floats(1, 6, 2), h=floats(1, 1, 3)),
        "GRU 'y': input 5, a first state, must have rows of hidden_size 2, got (1, 1, 3)"),
    "equation": (layer(node("Einsum", equation="ij->")), "Einsum 'y'"),
    "branch that is not there": (
        layer(node("Cast", "x", "c", to=TensorProto.BOOL), node("If", "c")), "If 'y'"),
}  # fmt: skip
