"""Layers of KerasHub that are written by themselves: their rows, at several sizes of a sequence."""

import numpy as np
import pytest
import running
from keras_files import keras_file, model, one

from flatlite.lite import Interpreter, TFLiteConverter

TABLE = np.random.default_rng(4).normal(size=(12, 4)).astype(np.float32)


def positions(**config):
    """A layer of KerasHub as its files have it."""
    layer = one("PositionEmbedding", "p", [["x", 0, 0]], **config)
    return {
        **layer,
        "module": "keras_hub.src.layers.modeling.position_embedding",
        "registered_name": "keras_hub>PositionEmbedding",
    }


@pytest.fixture
def converted(tmp_path):
    """converted(kwargs of the call) -> the file of a model that adds positions to its input."""

    def convert(**kwargs):
        layer = positions(sequence_length=12)
        layer["inbound_nodes"][0]["kwargs"] = kwargs
        total = one("Add", "y", [["x", 0, 0], ["p", 0, 0]])
        config = model(layer, total, x=[None, None, 4])
        weights = {"layers/position_embedding/vars/0": TABLE}
        path = keras_file(tmp_path, config, weights)
        return TFLiteConverter.from_keras_model_file(str(path)).convert()

    return convert


@pytest.mark.parametrize("start", [0, 3])
def test_positions(converted, start, litert):
    content = converted(start_index=start) if start else converted()
    for n, length in ((1, 5), (3, 7), (2, 9)):
        x = np.random.default_rng(n).normal(size=(n, length, 4)).astype(np.float32)
        expected = x + TABLE[start : start + length]
        (theirs,) = litert.run(content, [[x]])
        for results in (theirs, running.answers(Interpreter(model_content=content), x)):
            np.testing.assert_allclose(results[0], expected, rtol=1e-6)
