"""What quantization may cost a LeNet that is trained here on handwritten digits, in points."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from running import answers

import flatlite
import flatlite.compat.v1 as tf
from flatlite.lite import Interpreter, TFLiteConverter

EXAMPLE = runpy.run_path(str(Path(flatlite.__file__).parent / "examples/train_digits.py"))
LIMITS = {
    "int8": ({"scheme": "int8"}, 0.5),
    **{
        f"int8, {name}": ({"scheme": "int8", "calibrator": name}, 0.5)
        for name in ("moving_average", "percentile", "entropy", "mse", "octav")
    },
    "int4 weights": ({"scheme": "int8_int4"}, 1.5),
    "int4 weights, weight only": ({"scheme": "weight_only_int4"}, 1.5),
    "int4 weights, AdaRound": ({"scheme": "int8_int4", "algorithms": ["adaround"]}, 1.5),
    "int16x8": ({"scheme": "int16x8"}, 0.1),
    "dynamic": ({"scheme": "dynamic"}, 0.5),
    "float16": ({"scheme": "float16"}, 0.1),
}
"""Recipe, and the points that it may lose on 360 images; one image is 0.28 points."""


@pytest.fixture(scope="module")
def lenet():
    """(a converter of the trained net, test images, test labels, percent of the float file)"""
    (images, labels), (test_images, test_labels) = EXAMPLE["load"]()
    with tf.Graph().as_default(), tf.Session() as session:
        model = EXAMPLE["Model"]()
        session.run(tf.global_variables_initializer())
        quiet = Console(quiet=True)
        EXAMPLE["train"](session, model, images, labels, epochs=12, console=quiet)
        converter = TFLiteConverter.from_session(session, [model.images], [model.probabilities])
    plain = percent(converter.convert(), test_images, test_labels)
    converter.representative_dataset = lambda: ([image[np.newaxis]] for image in images[:200])
    return converter, test_images, test_labels, plain


def percent(content, images, labels):
    """How many images a file recognises, of a hundred."""
    interpreter = Interpreter(model_content=content)
    interpreter.resize_tensor_input(interpreter.get_input_details()[0]["index"], images.shape)
    interpreter.allocate_tensors()
    (probabilities,) = answers(interpreter, images)
    return 100 * EXAMPLE["accuracy"](probabilities, labels)


@pytest.mark.parametrize("name", LIMITS)
def test_points(lenet, name):
    converter, images, labels, plain = lenet
    assert plain > 96
    converter.quantization_recipe, limit = LIMITS[name]
    lost = plain - percent(converter.convert(), images, labels)
    assert lost <= limit
