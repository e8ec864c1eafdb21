"""Variables in quantized files, as make_quantized_variables.py recorded them of TensorFlow: float
in int8, unless they are asked for as integers, and int16 in int16x8.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from quantized_cells import error_of, random_inputs, variable_uses

import flatlite.compat.v1 as tf
from flatlite.lite import Interpreter, OpsSet, Optimize, TFLiteConverter

FOLDER = Path(__file__).parent / "variables"
ROWS = json.loads((FOLDER / "variables.json").read_text())
CASES = [(model, scheme) for model, row in ROWS.items() for scheme in row["schemes"]]
STEP = 5e-7  # of a scale: sums in another order move a range by a float32 step or two
WORST = 1.02
SHAPE = (1, 6)
INT16X8 = OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8


def converted(model, scheme="", **recipe):
    converter = TFLiteConverter.from_saved_model(FOLDER / model)
    samples = random_inputs([SHAPE], 1, 20)
    converter.optimizations = [Optimize.DEFAULT]
    converter.representative_dataset = lambda: ({"x": x} for (x,) in samples)
    if scheme == "int8_variables":
        converter._experimental_variable_quantization = True
    if scheme == "int16x8":
        converter.target_spec.supported_ops = {INT16X8}
    if recipe:
        converter.quantization_recipe = recipe
    return converter, converter.convert()


def answers(model, content):
    run = Interpreter(model_content=content).get_signature_runner()
    inputs = random_inputs([SHAPE], 1, 20)
    return [
        [outputs[key] for key in ROWS[model]["keys"]] for outputs in (run(x=x) for (x,) in inputs)
    ]


@pytest.mark.parametrize(("model", "scheme"), CASES)
def test_as_tensorflow(model, scheme, litert):
    row = ROWS[model]["schemes"][scheme]
    _, content = converted(model, scheme)
    uses = variable_uses(content)
    assert [use[:2] + use[3:] for use in uses] == [use[:2] + use[3:] for use in row["uses"]]
    for mine, yours in zip(uses, row["uses"], strict=True):
        assert mine[2:3] == pytest.approx(yours[2:3], rel=STEP)
    outputs = answers(model, content)
    plain = TFLiteConverter.from_saved_model(FOLDER / model).convert()
    assert error_of(outputs, answers(model, plain)) <= WORST * row["error"]
    (first,) = random_inputs([SHAPE], 1, 20)[0]
    theirs = litert.run(content, [{"x": first}], "BUILTIN_REF", "serving_default")
    assert not isinstance(theirs, str), theirs
    for key, value in zip(ROWS[model]["keys"], outputs[0], strict=True):
        np.testing.assert_array_equal(value, theirs[0][key])


@pytest.mark.parametrize("model", ROWS)
def test_strict_has_no_float_variables(model):
    converter, content = converted(model, scheme=None, strict=True)
    assert not converter.float_islands
    assert {use[1] for use in variable_uses(content)} == {"INT8"}


def test_a_recipe_asks_for_variables():
    _, content = converted("window", variables=True)
    assert {use[1] for use in variable_uses(content)} == {"INT8"}
    with pytest.warns(UserWarning, match="READ_VARIABLE x 1.*'past': its variable stays float32"):
        _, content = converted("window", variables=False)
    assert {use[1] for use in variable_uses(content)} == {"FLOAT32"}


def test_variables_of_layers_that_stay_float_stay_float():
    layers = [["READ_VARIABLE", "float"]]
    with pytest.warns(UserWarning, match="ASSIGN_VARIABLE x 2.* its variable stays float32"):
        _, content = converted("average", variables=True, layers=layers)
    assert {use[1] for use in variable_uses(content)} == {"FLOAT32"}


@pytest.mark.parametrize("scheme", ["int8", "int16x8"])
def test_a_state_of_another_scale_than_its_value(scheme):
    """What a gate gives has a scale of its own, and is requantized for the variable."""
    generator = np.random.default_rng(0)
    weights = generator.normal(size=(6, 6)).astype(np.float32) / 2
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, SHAPE, name="x")
        state = tf.get_variable("state", SHAPE, initializer=tf.zeros_initializer, use_resource=True)
        gate = tf.sigmoid(tf.matmul(x, tf.constant(weights)) + state * 0.5)
        with tf.control_dependencies([state.assign(gate)]):
            y = tf.matmul(gate, tf.constant(weights))
        session.run(tf.global_variables_initializer())
        converter = TFLiteConverter.from_session(session, [x], [y])
    converter.representative_dataset = lambda: ([x] for (x,) in random_inputs([SHAPE], 1, 20))
    converter.quantization_recipe = {"scheme": scheme, "variables": True}
    content = converter.convert()
    assert {use[1] for use in variable_uses(content)} == {scheme.partition("x")[0].upper()}
    noise = converter.reader_signal_to_noise[""]
    assert noise.keys() == {
        *(
            f"Sigmoid -> {reader}"
            for reader in ("FULLY_CONNECTED 'MatMul_1'", "ASSIGN_VARIABLE 'state'")
        )
    }
    assert min(noise.values()) > 30
