"""Records functions, what TensorFlow answers, and how many operators its converter writes.

Run as `python tests/converter/tf/make_function_operators.py` in an environment that has
TensorFlow 2.21.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import tensorflow as tf
from tensorflow.lite.python import schema_py_generated as schema
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

RNG = np.random.default_rng(12)
CORNERS = RNG.uniform(0, 1, (10, 2))
BOXES = np.concatenate([CORNERS, CORNERS + RNG.uniform(0.3, 1, (10, 2))], -1)
SCORES = RNG.uniform(0, 1, 10)
ROWS, ROW_INDICES = RNG.normal(size=(2, 4)), np.array([[1], [3]])
BATCH = [np.stack([BOXES, BOXES[::-1]]), np.stack([SCORES, SCORES])]
IMAGE = RNG.normal(size=(2, 8, 12, 3))
image, raw = tf.image, tf.raw_ops


def best_of(version: int, **options) -> Callable:
    """One version of the operation, which does not pad if it is not told to."""
    operation = getattr(raw, f"NonMaxSuppressionV{version}")
    limits = {"max_output_size": 8, "iou_threshold": 0.3, "score_threshold": 0.4, **options}
    return lambda x, y: operation(boxes=x, scores=y, **limits)


def square(*window: int):
    """Sizes, strides, rates and padding of windows that lie side by side."""
    return [1, *window, 1], [1, *window, 1], [1, 1, 1, 1], "VALID"


def clipped(*gradients):
    return tf.clip_by_global_norm(gradients, 1.5)


def search(maze):
    """Steps to each place of a maze; its walls are compared in every iteration."""
    walls = tf.cast(maze > 0, tf.float32)
    steps = tf.tensor_scatter_nd_update(tf.fill(maze.shape, 99.0), [[0, 0]], [0.0])
    for _ in tf.range(6):
        padded = tf.pad(steps, [[1, 1], [1, 1]], constant_values=99.0)
        beside = tf.minimum(padded[1:-1, :-2], padded[1:-1, 2:])
        nearest = tf.minimum(tf.minimum(padded[:-2, 1:-1], padded[2:, 1:-1]), beside)
        steps = tf.where(walls > 0, steps, tf.minimum(steps, nearest + 1))
    return steps


def wave(x):
    """Values of which one becomes what another was."""
    before = x
    for _ in tf.range(4):
        x, before = 2 * x - before + 0.1 * (tf.roll(x, 1, 0) - x), x
    return x


def exchange(x, y):
    for _ in tf.range(5):
        x, y = y, x + 1
    return x - y


def invariant(x, y):
    for _ in tf.range(tf.cast(tf.reduce_max(y), tf.int32) + 2):
        x = tf.nn.softmax(x @ (tf.transpose(y) + tf.exp(y))) * tf.reduce_max(y)
    return x


CASES: dict[str, tuple[Callable, Sequence[np.ndarray]]] = {
    "boxes/v3": (best_of(3), [BOXES, SCORES]),
    "boxes/v4": (best_of(4), [BOXES, SCORES]),
    "boxes/v4_padded": (best_of(4, pad_to_max_output_size=True), [BOXES, SCORES]),
    "boxes/v5": (best_of(5, soft_nms_sigma=0.5), [BOXES, SCORES]),
    "boxes/v5_padded": (
        best_of(5, soft_nms_sigma=0.5, pad_to_max_output_size=True), [BOXES, SCORES],
    ),
    "boxes/images": (
        lambda x, y: image.non_max_suppression_padded(x, y, 4, pad_to_max_output_size=True), BATCH,
    ),
    "meshgrid/xy": (lambda x, y: tf.meshgrid(x, y), [SCORES, SCORES[:4]]),
    "meshgrid/ij": (lambda x, y: tf.meshgrid(x, y, indexing="ij"), [SCORES, SCORES[:4]]),
    "meshgrid/three": (lambda x, y: tf.meshgrid(x, y, x), [SCORES, SCORES[:4]]),
    "meshgrid/constant": (
        lambda x: tf.stack(tf.meshgrid(x, np.float32([1, 2, 3])), -1), [SCORES],
    ),
    "update/rows": (tf.tensor_scatter_nd_update, [BOXES, ROW_INDICES, ROWS]),
    "update/elements": (tf.tensor_scatter_nd_update, [SCORES, ROW_INDICES, ROWS[0, :2]]),
    "update/constant": (
        lambda x, y: tf.tensor_scatter_nd_update(x, [[1, 0], [3, 2]], y), [BOXES, ROWS[0, :2]],
    ),
    "patches": (lambda x: image.extract_patches(x, *square(4, 4)), [IMAGE]),
    "patches/cropped": (lambda x: image.extract_patches(x, *square(3, 5)), [IMAGE]),
    "patches/padded": (
        lambda x: image.extract_patches(x, *square(5, 5)[:3], padding="SAME"), [IMAGE],
    ),
    "update/row": (
        lambda x, i, y: tf.tensor_scatter_nd_update(x, [[i]], y[:1]),
        [BOXES, np.array(3), ROWS],
    ),
    "update/element": (
        lambda x, i: tf.tensor_scatter_nd_update(x, [[i, i - 1]], [7.0]), [BOXES, np.array(3)],
    ),
    "update/columns": (
        lambda x, i: tf.tensor_scatter_nd_update(
            x, tf.cast(tf.stack([tf.range(tf.size(i)), i], -1), tf.int64), [7.0, 8.0]
        ),
        [ROWS, np.array([1, 1])],
    ),
    "update/where": (
        lambda x: tf.tensor_scatter_nd_update(
            x, i := tf.where(x > 0), tf.fill([tf.shape(i)[0]], -1.0)
        ),
        [ROWS],
    ),
    "update/repeated": (
        lambda x, i: tf.tensor_scatter_nd_update(x, tf.stack([i, i - i], -1), [7.0, 8.0, 9.0]),
        [ROWS, np.array([1, 0, 1])],
    ),
    "update/cache": (
        lambda y, i: tf.tensor_scatter_nd_update(
            tf.zeros([1, 8, 4]), tf.stack([tf.zeros(2, tf.int32), i + tf.range(2)], -1), y
        ),
        [ROWS, np.array(5)],
    ),
    "norm/of_one": (clipped, [BOXES]),
    "norm/of_two": (clipped, [BOXES, SCORES]),
    "norm/of_three": (clipped, [BOXES, SCORES, ROWS]),
    "norm/global": (lambda x, y: tf.linalg.global_norm([x, y]), [BOXES, SCORES]),
    "loop/maze": (search, [np.int32(np.random.default_rng(0).normal(size=(6, 6)))]),
    "loop/wave": (wave, [BOXES]),
    "loop/exchange": (exchange, [BOXES, BOXES[::-1]]),
    "loop/invariant": (invariant, [BOXES[:4], BOXES[4:8]]),
}  # fmt: skip


def operator_count(content: bytes) -> int:
    """How many operators TensorFlow's file has, in all its subgraphs."""
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(content))
    return sum(len(graph.operators) for graph in model.subgraphs)


def main():
    recorded = {}
    for name, (body, inputs) in CASES.items():
        arrays = [x.astype(np.int32 if x.dtype.kind == "i" else np.float32) for x in inputs]
        specs = [tf.TensorSpec(x.shape, x.dtype, name=f"x{i}") for i, x in enumerate(arrays)]
        function = tf.function(lambda *a, body=body: tf.nest.flatten(body(*a)))
        concrete = function.get_concrete_function(*specs)
        frozen = convert_variables_to_constants_v2(concrete)
        converter = tf.lite.TFLiteConverter.from_concrete_functions([concrete], function)
        if name.startswith("patches"):
            converter.target_spec.supported_ops = [tf.lite.OpsSet.SELECT_TF_OPS]
        content = converter.convert()
        graph = frozen.graph.as_graph_def().SerializeToString()
        recorded[f"{name}/graph"] = np.frombuffer(graph, np.uint8)
        recorded[f"{name}/inputs"] = np.array([x.name for x in frozen.inputs])
        recorded[f"{name}/outputs"] = np.array([x.name for x in frozen.outputs])
        recorded[f"{name}/operators"] = np.array(operator_count(content))
        recorded |= {f"{name}/x{i}": x for i, x in enumerate(arrays)}
        recorded |= {f"{name}/y{i}": y.numpy() for i, y in enumerate(function(*arrays))}
    np.savez_compressed(Path(__file__).with_name("function_operators.npz"), **recorded)


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    main()
