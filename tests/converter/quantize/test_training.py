"""Graphs rewritten for quantized training, beside TensorFlow's rewriting and what it learns."""

import json
from pathlib import Path

import numpy as np
import pytest
from running import answers, kinds

import flatlite.compat.v1 as tf
from flatlite.graph.core.signatures.attributes import AttributeReader
from flatlite.lite import Interpreter, Optimize, TFLiteConverter
from flatlite.schema.proto import GraphDef

FOLDER = Path(__file__).parents[2] / "graph/quantize_training"


def definition(name):
    return GraphDef.FromString((FOLDER / f"{name}.pb").read_bytes())


def node_facts(graph_def):
    """Operation, inputs and attributes of each node by name, without notes of the library."""

    def value(attr):
        read = AttributeReader().read(attr, None, "attr")
        return np.asarray(read).tolist() if isinstance(read, np.ndarray) else read

    return {
        node.name: (
            node.op,
            list(node.input),
            {key: value(attr) for key, attr in node.attr.items() if key[0] != "_"},
        )
        for node in graph_def.node
    }


@pytest.mark.parametrize("name", ["network", "saved", "shared"])
def test_same_graph_as_tensorflow(name):
    rewritten = tf.train.do_quantize_training_on_graphdef(definition(name), 8)
    assert node_facts(rewritten) == node_facts(definition(f"{name}_rewritten"))


ERRORS = json.loads((FOLDER / "errors.json").read_text())


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    kind, message = ERRORS[name]
    with pytest.raises(Exception, match=r".") as caught:
        tf.train.do_quantize_training_on_graphdef(definition(name), int(name.rpartition("_")[2]))
    assert type(caught.value).__name__ == kind
    assert str(caught.value) == message


@pytest.fixture
def learned():
    """A function that gives a session with the rewritten graph, ranges as TensorFlow learned them,
    with what it recorded and what the graph gives here.
    """
    sessions = []

    def start(name):
        graph_def = tf.train.do_quantize_training_on_graphdef(definition(name), 8)
        with np.load(FOLDER / f"{name}.npz") as file:
            recorded = dict(file)
        with tf.Graph().as_default():
            tf.import_graph_def(graph_def, name="")
            session = tf.Session()
        sessions.append(session)
        for node in graph_def.node:
            if node.op == "Assign" and node.name.endswith("/Assign"):
                session.run(session.graph.get_operation_by_name(node.name))
        feeds = {
            f"{node.name}:0": recorded[f"{node.name.removesuffix('Merge')}Variable 3"]
            for node in graph_def.node
            if node.op == "Merge"
        }
        return session, recorded, session.run("z:0", {"x:0": recorded["x3"], **feeds})

    yield start
    for session in sessions:
        session.close()


def converted(session, **settings):
    ends = [[session.graph.get_tensor_by_name(name)] for name in ("x:0", "z:0")]
    converter = TFLiteConverter.from_session(session, *ends)
    for key, value in settings.items():
        setattr(converter, key, value)
    return converter.convert()


@pytest.mark.parametrize("name", ["network", "shared"])
def test_the_file_rounds_in_the_learned_ranges(name, learned):
    session, recorded, output = learned(name)
    np.testing.assert_allclose(output, recorded["z3"], atol=1e-6)
    content = converted(session)
    assert "FAKE_QUANT" in kinds(content)
    interpreter = Interpreter(model_content=content)
    interpreter.allocate_tensors()
    np.testing.assert_allclose(answers(interpreter, recorded["x3"])[0], recorded["z3"], atol=1e-6)


def test_gradients_of_rounding():
    """Nothing comes back of what was cut off; the ends of the range get it."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(np.float32([-3, -1, 0.3, 2, 9]))
        ends = [tf.constant(np.float32(value)) for value in (-2, 4)]
        y = tf.quantization.fake_quant_with_min_max_vars(x, *ends)
        dx, low, high = session.run(tf.gradients(y * y, [x, *ends]))
        rounded = session.run(y)
        z = tf.quantization.quantize_and_dequantize(x, *ends, range_given=True)
        (straight,) = session.run(tf.gradients(z, [x]))
    np.testing.assert_allclose(dx, [0, *(2 * rounded[1:4]), 0])
    np.testing.assert_allclose([low, high], [2 * rounded[0], 2 * rounded[4]])
    np.testing.assert_array_equal(straight, np.ones(5))


def test_int8_of_the_learned_ranges(learned):
    """Samples tell the ranges that the rewriting does not state: those of results of products."""
    session, recorded, _ = learned("network")
    content = converted(
        session,
        optimizations=[Optimize.DEFAULT],
        representative_dataset=lambda: ([recorded[f"x{i}"]] for i in range(4)),
    )
    assert not {"DEQUANTIZE", "FAKE_QUANT"} & set(kinds(content)[:-1])
    interpreter = Interpreter(model_content=content)
    interpreter.allocate_tensors()
    details = interpreter.get_tensor_details()
    scales = [
        d["quantization"] for d in details if d["name"].startswith("x") and d["dtype"] is np.int8
    ]
    low, high = (recorded[f"x/{end}/Variable 3"] for end in ("Min", "Max"))
    np.testing.assert_allclose(scales, [(max(-low / 128, high / 127), 0)], rtol=1e-6)
    result = answers(interpreter, recorded["x3"])[0]
    noise = np.sqrt(np.mean((result - recorded["z3"]) ** 2) / np.mean(recorded["z3"] ** 2))
    assert noise < 0.05
