"""The mistakes people make with a representative dataset: each is an error or a warning, with what
to do about it, whichever way the model is quantized.
"""

import itertools

import numpy as np
import pytest

from flatlite.graph.core.graph import Graph
from flatlite.graph.format.graphdef import to_graph_def
from flatlite.lite import OpsSet, Optimize, RepresentativeDataset, TFLiteConverter

GENERATOR = np.random.default_rng(5)
IMAGES = [GENERATOR.uniform(0, 1, (1, 6, 6, 3)).astype(np.float32) for _ in range(6)]
WEIGHTS = [GENERATOR.normal(size=(1, 48)).astype(np.float32) for _ in range(6)]
GOOD = list(zip(IMAGES, WEIGHTS, strict=True))
INT16X8 = OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8


def two_inputs():
    """(image, weights) -> convolution, mean, product with the weights."""
    graph = Graph()
    image = graph.add("Placeholder", "image", (), {"dtype": np.dtype("f4"), "shape": (1, 6, 6, 3)})
    weights = graph.add("Placeholder", "weights", (), {"dtype": np.dtype("f4"), "shape": (1, 48)})
    filters = graph.constant(GENERATOR.normal(size=(3, 3, 3, 48)).astype(np.float32), "filters")
    options = {"strides": [1, 1, 1, 1], "padding": b"SAME", "T": np.dtype("f4")}
    y = graph.add("Conv2D", "conv", [*image.outputs, filters], options).outputs[0]
    y = graph.add("Mean", "mean", [y, graph.constant(np.int32([1, 2]), "axes")]).outputs[0]
    graph.add("Mul", "y", [y, *weights.outputs])
    return to_graph_def(graph)


GRAPH = two_inputs()


def by_attributes(converter):
    converter.optimizations = [Optimize.DEFAULT]
    converter.target_spec.supported_ops = {OpsSet.TFLITE_BUILTINS_INT8}


def by_int16_operators(converter):
    converter.optimizations = [Optimize.DEFAULT]
    converter.target_spec.supported_ops = {INT16X8, OpsSet.TFLITE_BUILTINS}


def by_recipe(converter):
    converter.quantization_recipe = {"scheme": "int8", "calibrator": "percentile"}


def by_algorithms(converter):
    converter.quantization_recipe = {"scheme": "int8", "algorithms": ["bias_correction"]}


def by_weights(converter):
    """Weights alone, rounded by what flows into them."""
    converter.quantization_recipe = {"scheme": "weight_only_int4", "algorithms": ["gptq"]}


WAYS = [by_attributes, by_int16_operators, by_recipe, by_algorithms, by_weights]
NEEDS_DATA = "representative_dataset` must be specified.|set representative_dataset = Repr"


def samples(*rows):
    return lambda: iter(rows)


def with_image(i, image):
    """The good samples, one image replaced."""
    return samples(*GOOD[:i], (image, WEIGHTS[i]), *GOOD[i + 1 :])


USED_UP = iter([])
ERRORS = {
    "none": (None, NEEDS_DATA),
    "empty": (samples(), "gave no samples; .* pass the function that makes it"),
    "NaN": (with_image(3, IMAGES[3] * np.nan), "sample 3 .* input 'image' must be finite"),
    "infinity": (with_image(2, IMAGES[2] + np.inf), "sample 2 .* input 'image' must be finite"),
    "order": (
        samples(*[row[::-1] for row in GOOD]),
        "would fit in another order: yield them for 'image', 'weights', in this order",
    ),
    "count": (samples(*[row[:1] for row in GOOD]), "must have 2 arrays, for 'image', 'weights'"),
    "shape": (with_image(1, IMAGES[1][:, :5]), r"sample 1 .* shape \(1, 6, 6, 3\), got \(1, 5, 6"),
    "type": (with_image(0, IMAGES[0].astype(np.float64)), r"use x.astype\(np.float32\)"),
    "bytes": (with_image(0, (IMAGES[0] * 255).astype(np.uint8)), r"use x.astype\(np.float32\)"),
    "list": (GOOD, "a callable that returns an iterable .*; wrap it: lambda: samples"),
    "generator": (iter(GOOD), "a callable .*; pass the function that makes it"),
    "names": (
        samples({"image": IMAGES[0], "weight": WEIGHTS[0]}),
        "must have the keys 'image', 'weights', got 'image', 'weight'",
    ),
    "used up": (lambda: USED_UP, "a generator that was used up gives none the second time"),
    "not samples": (lambda: 5, "must return an iterable of samples, got int; `yield` the samples"),
    "bare array": (lambda: iter(IMAGES), r"list with one array for each input .*; yield \[x\]"),
}
"""Mistake -> (dataset, what the error says)."""
WARNINGS = {
    "resized pixels": (
        [(255 * x * np.float32(0.999), w) for x, w in GOOD],
        "'image' has values from 0 to 255, as raw pixels .*preprocess the samples as in training",
    ),
    "raw pixels": (
        [(np.rint(255 * x), w) for x, w in GOOD],
        "'image' has values from 0 to 255, as raw pixels .*preprocess the samples as in training",
    ),
    "constant": (
        [(x * 0 + 0.5, w) for x, w in GOOD],
        "'image' is 0.5 in every sample, .* yield real inputs",
    ),
    "always the same": (
        [(IMAGES[0], w) for _, w in GOOD],
        "'image' is the same in all 6 samples; yield different ones",
    ),
}
"""Mistake -> (samples, what the warning says)."""


def converter_of(way, dataset):
    ends = [("image", [1, 6, 6, 3]), ("weights", [1, 48])], ["y"]
    converter = TFLiteConverter(GRAPH, None, None, *ends)
    converter.representative_dataset = dataset
    way(converter)
    return converter


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("mistake", ERRORS)
def test_errors(mistake, way):
    dataset, words = ERRORS[mistake]
    with pytest.raises(ValueError, match=words):
        converter_of(way, dataset).convert()


def test_a_list_in_a_representative_dataset():
    with pytest.raises(ValueError, match="wrap it: RepresentativeDataset"):
        RepresentativeDataset(GOOD)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("mistake", WARNINGS)
@pytest.mark.filterwarnings("ignore:the model stays float")
def test_warnings(mistake, way):
    rows, words = WARNINGS[mistake]
    with pytest.warns(UserWarning, match=words) as warned:
        converter_of(way, lambda: iter(rows)).convert()
    assert any(one.filename == __file__ for one in warned)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.filterwarnings("ignore:the model stays float")
def test_a_generator_that_a_function_hands_on_is_used_up_by_the_first_conversion(way):
    generator = iter(GOOD)
    converter = converter_of(way, lambda: generator)
    assert converter.convert()
    with pytest.raises(ValueError, match="a generator that was used up gives none the second"):
        converter.convert()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.filterwarnings("ignore:the model stays float")
def test_good_samples_are_no_mistake(way):
    """In lists and in dicts; warnings would be errors."""
    names = ("image", "weights")
    files = [
        converter_of(way, lambda rows=rows: iter(rows)).convert()
        for rows in (GOOD, [dict(zip(names, row, strict=True)) for row in GOOD])
    ]
    assert all(itertools.starmap(np.array_equal, itertools.pairwise(files)))
