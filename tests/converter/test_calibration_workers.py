"""Calibration in several processes: the same ranges, bit for bit."""

import numpy as np
import pytest

from flatlite.errors import CalibrationError
from flatlite.graph.core.graph import Graph
from flatlite.graph.format.graphdef import to_graph_def
from flatlite.lite import Optimize, TFLiteConverter

GENERATOR = np.random.default_rng(0)
SAMPLES = [[GENERATOR.normal(0, 1 + i % 5, (1, 8)).astype(np.float32)] for i in range(23)]
WEIGHTS = GENERATOR.normal(0, 0.1, (8, 6)).astype(np.float32)


def converter(samples=SAMPLES, **settings):
    """x -> MatMul -> Exp -> y"""
    graph = Graph()
    x = graph.add("Placeholder", "x", (), {"dtype": np.dtype("f4"), "shape": (1, 8)}).outputs
    product = graph.add("MatMul", "product", [*x, graph.constant(WEIGHTS, "w")]).outputs[0]
    graph.add("Exp", "y", [product])
    result = TFLiteConverter(to_graph_def(graph), None, None, [("x", [1, 8])], ["y"])
    result.optimizations = [Optimize.DEFAULT]
    result.representative_dataset = lambda: iter(samples)
    for key, value in settings.items():
        setattr(result, key, value)
    return result


@pytest.mark.parametrize(("calibrator", "n"), [("minmax", 2), ("moving_average", 3)])
def test_same_ranges(calibrator, n, tmp_path):
    recipe = {"scheme": "int8", "calibrator": {"name": calibrator}}
    one = converter(quantization_recipe=recipe)
    several = converter(quantization_recipe=recipe, calibration_workers=n)
    assert several.convert() == one.convert()
    one.save_calibration(tmp_path / "one")
    several.save_calibration(tmp_path / "several")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "several").read_bytes()


def test_a_sample_that_overflows_is_named():
    samples = [*SAMPLES[:3], [np.full((1, 8), 1e4, np.float32) * np.sign(WEIGHTS[:, 0])]]
    with pytest.raises(CalibrationError, match=r"sample 3 .*EXP 'y' must stay finite"):
        converter(samples, calibration_workers=2).convert()


def test_histograms_are_counted_in_one_process():
    recipe = {"scheme": "int8", "calibrator": {"name": "percentile", "percentile": 99.0}}
    with pytest.warns(UserWarning, match="one process calibrates, as it counts values in one hist"):
        several = converter(quantization_recipe=recipe, calibration_workers=2).convert()
    assert several == converter(quantization_recipe=recipe).convert()


@pytest.mark.parametrize("n", [0, True, "2"])
def test_how_many(n):
    with pytest.raises(ValueError, match="calibration_workers must be a positive integer, got"):
        converter(calibration_workers=n).convert()
