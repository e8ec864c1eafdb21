"""Calibration in several processes: the same ranges, bit for bit."""

import time

import numpy as np
import pytest

from flatlite.converter.quantize import calibration_workers
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


@pytest.fixture
def calls(monkeypatch):
    """What was sent to other processes, which are started at once."""
    messages, send = [], calibration_workers._send

    def recorded(pipe, message):
        messages.append(message)
        send(pipe, message)

    monkeypatch.setattr(calibration_workers, "PATIENCE", 0.0)
    monkeypatch.setattr(calibration_workers, "_send", recorded)
    return messages


def until_asked(messages, n, drawn):
    """Samples, until others were asked for some of them; they are counted in `drawn`."""
    deadline = time.monotonic() + 100
    while len(messages) < n and time.monotonic() < deadline:
        time.sleep(0.01)
        drawn.append(SAMPLES[len(drawn) % len(SAMPLES)])
        yield drawn[-1]


@pytest.mark.parametrize(("calibrator", "n"), [("minmax", 2), ("moving_average", 3)])
def test_same_ranges(calibrator, n, tmp_path, calls):
    recipe, drawn = {"scheme": "int8", "calibrator": {"name": calibrator}}, []
    several = converter(quantization_recipe=recipe, calibration_workers=n)
    several.representative_dataset = lambda: until_asked(calls, n - 1 + 10, drawn)
    content = several.convert()
    assert len(calls) >= n - 1 + 10
    one = converter(list(drawn), quantization_recipe=recipe)
    assert content == one.convert()
    one.save_calibration(tmp_path / "one")
    several.save_calibration(tmp_path / "several")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "several").read_bytes()


def test_little_to_measure_is_measured_by_one_process(monkeypatch):
    monkeypatch.setattr(calibration_workers, "PATIENCE", 1000.0)
    monkeypatch.setattr(calibration_workers.subprocess, "Popen", None)
    assert converter(calibration_workers=2).convert() == converter().convert()


def test_a_sample_that_overflows_is_named(calls):
    drawn, large = [], np.full((1, 8), 1e4, np.float32) * np.sign(WEIGHTS[:, 0])

    def samples():
        yield from until_asked(calls, 4, drawn)
        yield [large]
        yield from SAMPLES

    several = converter(calibration_workers=2)
    several.representative_dataset = samples
    with pytest.raises(CalibrationError, match=r"EXP 'y' must stay finite") as raised:
        several.convert()
    assert f"sample {len(drawn)} " in str(raised.value)


def test_histograms_are_counted_in_one_process():
    recipe = {"scheme": "int8", "calibrator": {"name": "percentile", "percentile": 99.0}}
    with pytest.warns(UserWarning, match="one process calibrates, as it counts values in one hist"):
        several = converter(quantization_recipe=recipe, calibration_workers=2).convert()
    assert several == converter(quantization_recipe=recipe).convert()


@pytest.mark.parametrize("n", [0, True, "2"])
def test_how_many(n):
    with pytest.raises(ValueError, match="calibration_workers must be a positive integer, got"):
        converter(calibration_workers=n).convert()
