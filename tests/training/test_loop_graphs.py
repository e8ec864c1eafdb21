"""Graphs that TF1 wrote, with loops made of Switch and Merge, train as in TensorFlow."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import flatlite.compat.v1 as tf

FOLDER = Path(__file__).with_name("loop_graphs")
LOSSES = json.loads((FOLDER / "losses.json").read_text())
X = np.linspace(-1, 1, 4 * 6 * 3).reshape(4, 6, 3).astype(np.float32)


@pytest.mark.parametrize("name", LOSSES)
def test_losses(name, tmp_path):
    """Those of each step, from the graph's initial values on."""
    path = tmp_path / "graph.meta"
    path.write_bytes(gzip.decompress((FOLDER / f"{name}.meta.gz").read_bytes()))
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.import_meta_graph(str(path))
        session.run("init")
        steps = [session.run(["loss:0", "step"], {"x:0": X})[0] for _ in LOSSES[name]]
    np.testing.assert_allclose(steps, LOSSES[name], rtol=1e-5)
