"""Models with unknown sizes: TensorFlow's answers, and no more operators than its converter writes.

What TensorFlow makes of tf_models.py lies in tf_models.npz.
"""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from running import answers
from stored import difference, values

from flatlite.lite import Interpreter, TFLiteConverter
from flatlite.schema import proto
from flatlite.schema.model import load

pytestmark = pytest.mark.usefixtures("runs_in_litert")
ARRAYS = np.load(Path(__file__).with_name("tf_models.npz"))
MODELS = json.loads(ARRAYS["models"].tobytes())["models"]
REFERENCE = "BUILTIN_WITHOUT_DEFAULT_DELEGATES"

MORE_OPERATORS: dict[str, tuple[int, str]] = {}
"""Where a file has more operators than TensorFlow's: how many more, and why."""


def frozen_graph(name, folder):
    path = folder / f"{name}.pb"
    path.write_bytes(ARRAYS[f"{name}/graph"].tobytes())
    row = MODELS[name]
    return TFLiteConverter.from_frozen_graph(path, row["inputs"], row["outputs"])


def saved_model(name, folder):
    """The same graph as TensorFlow 1 saved it: with a signature and no functions."""
    message = proto.parse("SavedModel", b"")
    meta = message.meta_graphs.add()
    meta.meta_info_def.tags.append("serve")
    meta.graph_def.CopyFrom(proto.parse("GraphDef", ARRAYS[f"{name}/graph"].tobytes()))
    row, signature = MODELS[name], meta.signature_def["serving_default"]
    kinds = {"float32": 1, "int32": 3}
    for tensor, (shape, dtype, _) in zip(row["inputs"], row["signature"], strict=True):
        port = signature.inputs[tensor.split(":")[0]]
        port.name, port.dtype = tensor, kinds[dtype]
        for n in shape:
            port.tensor_shape.dim.add(size=-1 if n is None else n)
    signature.outputs["output"].name = row["outputs"][0]
    (folder / "saved_model.pb").write_bytes(message.SerializeToString())
    return TFLiteConverter.from_saved_model(folder)


def recorded(name):
    """(inputs, shape and kept elements of TensorFlow's answer) at each size."""
    row = MODELS[name]
    for i, shapes in enumerate(row["sizes"]):
        inputs = {
            tensor.split(":")[0]: values(shape, dtype, i, high)
            for tensor, shape, (_, dtype, high) in zip(
                row["inputs"], shapes, row["signature"], strict=True
            )
        }
        yield inputs, (ARRAYS[f"{name}/{i}/shape"], ARRAYS[f"{name}/{i}/elements"])


def operators(content):
    """How many operators of each kind a file has, in all its subgraphs."""
    return Counter(op.op for graph in load(content).subgraphs for op in graph.operators)


@pytest.mark.parametrize("source", [frozen_graph, saved_model])
@pytest.mark.parametrize("name", MODELS)
def test_answers(name, source, tmp_path, litert):
    converter = source(name, tmp_path)
    content = converter.convert()
    assert converter.verified
    interpreter = Interpreter(model_content=content)
    names = [detail["name"].split(":")[0] for detail in interpreter.get_input_details()]
    for inputs, want in recorded(name):
        arrays = [inputs[n.removeprefix("serving_default_")] for n in names]
        (ours,) = answers(interpreter, *arrays)
        assert not difference(ours, *want)
        theirs = litert.run(content, [arrays], REFERENCE)
        assert not isinstance(theirs, str), theirs
        assert not difference(theirs[0][0], *want)


@pytest.mark.parametrize("name", [n for n in MODELS if MODELS[n]["operators"]])
def test_no_more_operators_than_tensorflow(name, tmp_path):
    converter = frozen_graph(name, tmp_path)
    converter.verify = False
    ours, theirs = operators(converter.convert()), Counter(MODELS[name]["operators"])
    more, _ = MORE_OPERATORS.get(name, (0, ""))
    surplus = f"more of {dict(ours - theirs)}, fewer of {dict(theirs - ours)}"
    assert ours.total() - theirs.total() == more if more else ours.total() <= theirs.total(), (
        surplus
    )
