"""Broken frozen graphs and SavedModels, with words that their errors must have."""

import shutil
from pathlib import Path

import numpy as np

from flatlite.graph.core.graph import Graph
from flatlite.graph.format.graphdef import to_graph_def
from flatlite.schema import proto

HERE = Path(__file__).parents[1] / "converter/tf"
FLOAT, INT = np.dtype("f4"), np.dtype("i4")
TYPES = {"f": 1, "i": 3, "b": 10}
SAVE_AGAIN = "save the model again"


def relu_graph():
    graph = Graph()
    x = graph.add("Placeholder", "x", (), {"dtype": FLOAT, "shape": (2, 3)})
    w = graph.constant(np.ones((3, 4), np.float32), "w")
    y = graph.add("MatMul", "product", [x.outputs[0], w])
    graph.add("Relu", "y", y.outputs)
    return to_graph_def(graph)


def node(message, name):
    return next(n for n in message.node if n.name == name)


def add(message, kind, name, inputs, **attrs):
    """Adds a node without any check."""
    new = message.node.add(name=name, op=kind, input=inputs.split())
    for key, value in attrs.items():
        set_value(new.attr[key], value)


def set_value(attr, value):
    if isinstance(value, np.dtype):
        attr.type = TYPES[value.kind]
    elif isinstance(value, str | bytes):
        attr.s = value.encode() if isinstance(value, str) else value
    elif isinstance(value, tuple):
        attr.shape.SetInParent()
        for size in value:
            attr.shape.dim.add().size = size
    elif isinstance(value, list):
        attr.list.SetInParent()
        for one in value:
            part = proto.message("AttrValue")()
            set_value(part, one)
            field = part.WhichOneof("value")
            getattr(attr.list, field).append(getattr(part, field))
    elif isinstance(value, bool):
        attr.b = value
    else:
        attr.i = value


def constant(message, name, value):
    graph = Graph()
    graph.constant(np.array(value, object) if isinstance(value, bytes) else np.array(value), name)
    message.node.append(to_graph_def(graph).node[0])


def changed(change):
    """A maker of the graph above, changed."""

    def make(folder):
        message = relu_graph()
        change(message)
        return written(message)(folder)

    return make


def written(message):
    def make(folder):
        path = folder / "graph.pb"
        path.write_bytes(message if isinstance(message, bytes) else message.SerializeToString())
        return path

    return make


def set_dtype(message):
    node(message, "w").attr["value"].tensor.dtype = 7


def set_shape(message):
    node(message, "w").attr["value"].tensor.tensor_shape.dim[0].size = 1 << 40


def drop_node(message):
    message.node.remove(node(message, "w"))


def add_twin(message):
    message.node.add().CopyFrom(node(message, "w"))


def add_cycle(message):
    node(message, "product").input[1] = "y"
    message.node.add(name="out", op="Identity", input=["y"]).attr["T"].type = 1


def only_cycle(message):
    node(message, "product").input[0] = "y"


def drop_attr(message):
    del node(message, "x").attr["dtype"]


def add_input(message):
    node(message, "y").input.append("w")


def set_output(message):
    node(message, "y").input[0] = "product:3"


def set_sizes(message):
    node(message, "x").attr["shape"].shape.dim[1].size = 7


def set_unknown(message):
    node(message, "y").op = "NoSuchOperation"


def set_variable(message):
    kernel = node(message, "w")
    kernel.op = "VariableV2"
    for size in (3, 4):
        kernel.attr["shape"].shape.dim.add().size = size


def set_huge(message):
    node(message, "x").attr["shape"].shape.dim[0].size = 1 << 62


def set_repeated(message):
    tensor = node(message, "w").attr["value"].tensor
    tensor.tensor_content = b""
    tensor.float_val.append(1)
    tensor.tensor_shape.dim[1].size = 1 << 29


def set_types(message):
    node(message, "x").attr["dtype"].type = 3


def set_float64(message):
    for name, key in (("x", "dtype"), ("y", "T"), ("product", "T")):
        node(message, name).attr[key].type = 2
    kernel = node(message, "w")
    kernel.attr["dtype"].type = kernel.attr["value"].tensor.dtype = 2
    kernel.attr["value"].tensor.tensor_content = np.ones((3, 4)).tobytes()


def set_reading(message):
    constant(message, "name", b"/etc/passwd")
    add(message, "ReadFile", "file", "name")
    add(message, "DecodeRaw", "numbers", "file", out_type=FLOAT)
    add(message, "AddV2", "sum", "y numbers", T=FLOAT)


def set_python(message):
    add(message, "PyFunc", "python", "x", Tin=[FLOAT], Tout=[FLOAT], token="pyfunc_0")


def long_length():
    """A message that says its first field has 2**62 bytes."""
    return b"\x0a" + b"\xff" * 8 + b"\x7f" + b"x" * 20


def deep():
    """A node whose attribute is a function with an attribute that is a function, 500 levels."""
    content = b""
    for tag in (*(b"\x52\x12\x12" * 500), *b"\x52\x12\x2a\x0a"):  # fields 10, 2, 2; 10, 2, 5, 1
        size, length = len(content), []
        while size > 127:
            length.append(size & 127 | 128)
            size >>= 7
        content = bytes([tag, *length, size]) + content
    return content


def own_call(message):
    function = message.library.function.add()
    function.signature.name = "f"
    for args, name in ((function.signature.input_arg, "a"), (function.signature.output_arg, "b")):
        args.add(name=name, type=1)
    call = function.node_def.add(name="again", op="PartitionedCall", input=["a"])
    for target in (call, message.node.add(name="call", op="PartitionedCall", input=["x"])):
        target.attr["f"].func.name = "f"
        target.attr["Tin"].list.type.append(1)
        target.attr["Tout"].list.type.append(1)
    function.ret["b"] = "again:output:0"


def bad_reshape(message):
    constant(message, "shape", np.int32([4, 5]))
    add(message, "Reshape", "flat", "y shape", T=FLOAT, Tshape=INT)


def bad_axis(message):
    constant(message, "axis", np.int32(5))
    add(message, "ConcatV2", "joined", "x x axis", T=FLOAT, Tidx=INT, N=2)


def computed_axis(message):
    del message.node[1:]
    add(message, "Cast", "numbers", "x", SrcT=FLOAT, DstT=INT)
    constant(message, "axes", np.int32([0, 1]))
    add(message, "Max", "axis", "numbers axes", T=INT, Tidx=INT)
    add(message, "ConcatV2", "joined", "x x axis", T=FLOAT, Tidx=INT, N=2)


def convolution(kernel, strides):
    def change(message):
        del message.node[:]
        add(message, "Placeholder", "image", "", dtype=FLOAT, shape=(1, 8, 8, 3))
        constant(message, "kernel", np.ones(kernel, np.float32))
        attrs = {"strides": strides, "padding": "SAME"}
        add(message, "Conv2D", "conv", "image kernel", T=FLOAT, **attrs)

    return change


def bad_padding(message):
    constant(message, "paddings", np.int32([[-1, 0], [0, 0]]))
    add(message, "Pad", "padded", "x paddings", T=FLOAT, Tpaddings=INT)


def bad_equation(message):
    add(message, "Einsum", "sums", "x x", T=FLOAT, N=2, equation="ij,jk->")


def bad_slice(message):
    for name in ("begin", "size"):
        constant(message, name, np.int32([2, 9]))
    add(message, "Slice", "part", "x begin size", T=FLOAT, Index=INT)


def bad_branches(message):
    constant(message, "condition", np.bool_(True))
    attrs = {"Tcond": np.dtype(bool), "Tin": [FLOAT], "Tout": [FLOAT]}
    add(message, "If", "choice", "condition x", **attrs)
    for branch in ("then_branch", "else_branch"):
        node(message, "choice").attr[branch].func.name = "nowhere"


def unknown_ops(message):
    del message.node[1:]
    for i in range(40):
        add(message, f"Unheard{i:02}", f"n{i}", f"n{i - 1}" if i else "x", T=FLOAT)


def stablehlo(message):
    del message.node[2:]
    attrs = {"Tin": [FLOAT], "Tout": [FLOAT], "Sout": [], "module": b"ML\xefR", "version": 9}
    add(message, "XlaCallModule", "module", "x", **attrs)


def bad_dimensions(message):
    constant(message, "starts", np.int32([[1]]))
    constant(message, "sizes", np.int32([1, 3]))
    attrs = {"T": FLOAT, "Tindices": INT, "indices_are_sorted": False}
    attrs["dimension_numbers"] = b"\x1a\x01\x07"
    add(message, "XlaGather", "rows", "x starts sizes", **attrs)


def control_characters(message):
    node(message, "w").name = "w\x1b[31m\n\n\n"


GRAPHS = {
    "constant of another type": (changed(set_dtype), "Const 'w'"),
    "constant too large": (
        changed(set_shape), "Const 'w': attribute value: must have at most 2147483647 elements"),
    "missing node": (changed(drop_node), "Node 'product': Unknown input node 'w'"),
    "two nodes of a name": (changed(add_twin), "Node 'w' is not unique"),
    "cycle": (changed(add_cycle), "a cycle through product, y; only NextIteration"),
    "nothing but a cycle": (changed(only_cycle), "Cannot tell the outputs of the graph"),
    "missing attribute": (changed(drop_attr), "Placeholder 'x': attribute dtype is missing"),
    "too many inputs": (
        changed(add_input),
        "NodeDef expected inputs 'float' do not match 2 inputs",
    ),
    "no such output": (
        changed(set_output),
        "Node 'y': Connecting to invalid output 3 of source node product"),
    "sizes that do not match": (changed(set_sizes), "'product'"),
    "types that do not match": (changed(set_types), "MatMul 'product'"),
    "float64": (changed(set_float64), "float64"),
    "unknown operation": (changed(set_unknown), "NoSuchOperation x 1, first at node 'y'"),
    "variable": (
        changed(set_variable),
        "Please freeze the graph using freeze_graph.py.\nThe outputs need the variables"),
    "input too large": (changed(set_huge), "2147483647"),
    "constants too large": (
        changed(set_repeated),
        "the constants of the source have 6442450944 bytes, a .tflite file at most"),
    "StableHLO": (changed(stablehlo), "XlaCallModule 'module'", "its module must have 1 byte"),
    "dimensions of XLA": (changed(bad_dimensions), "XlaGather 'rows'", "must be among 2"),
    "file that is read": (changed(set_reading), "ReadFile"),
    "Python": (changed(set_python), "PyFunc"),
    "length beyond the end": (written(long_length()), "graph.pb"),
    "nested": (written(deep()), "graph.pb"),
    "empty": (written(b""), "graph.pb"),
    "function that calls itself": (changed(own_call), "PartitionedCall 'again'", "f -> f"),
    "reshape to other elements": (changed(bad_reshape), "Reshape 'flat'"),
    "axis out of range": (changed(bad_axis), "ConcatV2 'joined'"),
    "computed axis": (changed(computed_axis), "ConcatV2 'joined'"),
    "filters of other channels": (
        changed(convolution((3, 3, 5, 4), [1, 1, 1, 1])), "Conv2D 'conv'"),
    "stride of zero": (changed(convolution((3, 3, 3, 4), [1, 0, 0, 1])), "Conv2D 'conv'"),
    "strides of two numbers": (changed(convolution((3, 3, 3, 4), [1, 1])), "Conv2D 'conv'"),
    "negative padding": (changed(bad_padding), "Pad 'padded'"),
    "equation": (changed(bad_equation), "Einsum 'sums'"),
    "slice beyond the end": (changed(bad_slice), "SLICE 'part'"),
    "branches that are not there": (changed(bad_branches), "'choice/then_branch'", "'nowhere'"),
    "40 unknown operations": (
        changed(unknown_ops), *(f"Unheard{i:02}" for i in range(40))),
    "control characters": (changed(control_characters), "w"),
}  # fmt: skip


def model(edit=None, name="orders", files=None, remove=()):
    """A maker of a SavedModel: `edit(meta)` changes it, `files` are written, `remove`d are gone."""

    def make(folder):
        path = folder / "model"
        shutil.copytree(HERE / "saved_models" / name, path)
        if edit is not None:
            message = proto.message("SavedModel")()
            message.ParseFromString((path / "saved_model.pb").read_bytes())
            edit(message.meta_graphs[0])
            (path / "saved_model.pb").write_bytes(message.SerializeToString())
        for file, content in (files or {}).items():
            (path / file).write_bytes(content)
        for file in remove:
            (path / file).unlink()
        return path

    return make


INDEX, DATA = "variables/variables.index", "variables/variables.data-00000-of-00001"


def other_shape(meta):
    for one in meta.graph_def.node:
        if one.name == "b":
            one.attr["shape"].shape.dim[0].size = 1


def no_signatures(meta):
    meta.signature_def.clear()


def no_tensor(meta):
    signature = meta.signature_def["serving_default"]
    next(iter(signature.outputs.values())).name = "nowhere:0"


def no_result(meta):
    signature = meta.signature_def["serving_default"]
    next(iter(signature.outputs.values())).name = "StatefulPartitionedCall:99"


def no_function(meta):
    del meta.graph_def.library.function[:]


def linked(folder):
    path = folder / "model"
    path.mkdir()
    (path / "saved_model.pb").symlink_to(HERE / "saved_models/orders/saved_model.pb")
    return path


def linked_variables(folder):
    path = model(remove=[DATA])(folder)
    (path / DATA).symlink_to(HERE / "saved_models/orders" / DATA)
    return path


def other_variables(folder):
    path = model()(folder)
    shutil.rmtree(path / "variables")
    shutil.copytree(HERE / "saved_models/counts/variables", path / "variables")
    return path


def nothing(folder):
    path = folder / "model"
    path.mkdir()
    return path


def escaping_asset(folder):
    path = folder / "model"
    shutil.copytree(HERE / "state_models/tables", path)
    message = proto.message("SavedModel")()
    message.ParseFromString((path / "saved_model.pb").read_bytes())
    for asset in message.meta_graphs[0].asset_file_def:
        asset.filename = "../../../../etc/passwd"
    (path / "saved_model.pb").write_bytes(message.SerializeToString())
    return path


SAVED_MODELS = {
    "empty folder": (nothing, "SavedModel file does not exist at"),
    "empty file": (model(files={"saved_model.pb": b""}), "it holds no graph"),
    "no message": (model(files={"saved_model.pb": b"<html>"}), "bytes that are not a SavedModel"),
    "length beyond the end": (model(files={"saved_model.pb": long_length()}), "not a SavedModel"),
    "index missing": (model(remove=[INDEX]), "variables.index"),
    "data missing": (model(remove=[DATA]), "data-00000-of-00001"),
    "data cut": (model(files={DATA: b"\0" * 10}), "must lie in"),
    "data of zeros": (model(files={DATA: b"\0" * 4096}), "'"),
    "index of zeros": (model(files={INDEX: b"\0" * 4096}), "variables.index"),
    "variables of another model": (other_variables, "'w', 'b'", SAVE_AGAIN),
    "variable of another shape": (model(other_shape), "Variable 'b' is float32 (1,)"),
    "no signatures": (model(no_signatures), "signature"),
    "output that is not there": (model(no_tensor), "nowhere"),
    "result that is not there": (model(no_result), "99"),
    "functions missing": (model(no_function), "function"),
    "link out of the folder": (linked, "cp -rL"),
    "variables behind a link": (linked_variables, "cp -rL"),
    "asset out of the folder": (escaping_asset, "its file must be an asset of the model"),
}  # fmt: skip
