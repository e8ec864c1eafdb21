"""Writes tests/converter/tf/checkpoint_model: signatures that train, save and restore on a device.

Run as `python tests/converter/tf/make_checkpoint_model.py` in an environment that has TensorFlow.
`cases.npz` has what TensorFlow's own calls gave, one after the other, as
"<number>/<signature>/in/<key>" and ".../out/<key>"; `checkpoint` is what its call of `save` wrote.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import tensorflow as tf

FOLDER = Path(__file__).parent / "checkpoint_model"
PATH = tf.TensorSpec([], tf.string, name="path")


class Layer(tf.Module):
    """A dense layer; its checkpoints are those of TensorFlow's versions 1 and 2."""

    def __init__(self):
        super().__init__()
        random = np.random.RandomState(0)
        self.w = tf.Variable(random.randn(4, 3).astype(np.float32), name="w")
        self.b = tf.Variable(np.zeros(3, np.float32), name="b")
        self.steps = tf.Variable(0, name="steps")

    @tf.function(
        input_signature=[
            tf.TensorSpec([None, 4], tf.float32, name="x"),
            tf.TensorSpec([None, 3], tf.float32, name="y"),
        ]
    )
    def train(self, x, y):
        with tf.GradientTape() as tape:
            losses = tf.nn.softmax_cross_entropy_with_logits(y, x @ self.w + self.b)
            loss = tf.reduce_mean(losses)
        for variable, slope in zip(
            [self.w, self.b], tape.gradient(loss, [self.w, self.b]), strict=True
        ):
            variable.assign_sub(0.5 * slope)
        self.steps.assign_add(1)
        return {"loss": loss, "steps": self.steps.read_value()}

    @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32, name="x")])
    def infer(self, x):
        return {"p": tf.nn.softmax(x @ self.w + self.b)}

    @tf.function(input_signature=[PATH])
    def save(self, path):
        tf.raw_ops.Save(
            filename=path,
            tensor_names=["w", "b", "steps"],
            data=[self.w.read_value(), self.b.read_value(), self.steps.read_value()],
        )
        return {"path": path}

    @tf.function(input_signature=[PATH])
    def restore(self, path):
        """The shape of `w` is said, that of `b` is not, and that of `steps` a Reshape makes."""
        w = tf.raw_ops.Restore(file_pattern=path, tensor_name="w", dt=tf.float32)
        b = tf.raw_ops.Restore(file_pattern=path, tensor_name="b", dt=tf.float32)
        steps = tf.raw_ops.Restore(file_pattern=path, tensor_name="steps", dt=tf.int32)
        self.w.assign(tf.ensure_shape(w, [4, 3]))
        self.b.assign(b)
        self.steps.assign(tf.reshape(steps, []))
        return {"w": w, "b": b}

    @tf.function(input_signature=[PATH])
    def save2(self, path):
        values = [self.w.read_value(), self.steps.read_value()]
        slices = ["4 3 0,2:-", ""]
        values[0] = values[0][:2]
        save = tf.raw_ops.SaveV2(
            prefix=path, tensor_names=["w", "steps"], shape_and_slices=slices, tensors=values
        )
        with tf.control_dependencies([save]):  # it does not run by itself
            return {"path": tf.identity(path)}

    @tf.function(input_signature=[PATH])
    def restore2(self, path):
        rows, steps = tf.raw_ops.RestoreV2(
            prefix=path, tensor_names=["w", "steps"], shape_and_slices=["4 3 0,2:-", ""],
            dtypes=[tf.float32, tf.int32],
        )  # fmt: skip
        self.steps.assign(steps)
        return {"rows": rows}


def main():
    layer = Layer()
    names = ("train", "infer", "save", "restore", "save2", "restore2")
    signatures = {name: getattr(layer, name).get_concrete_function() for name in names}
    shutil.rmtree(FOLDER, ignore_errors=True)
    tf.saved_model.save(layer, str(FOLDER), signatures=signatures)
    (FOLDER / "fingerprint.pb").unlink(missing_ok=True)
    random = np.random.RandomState(1)
    x = random.randn(5, 4).astype(np.float32)
    y = np.eye(3, dtype=np.float32)[[0, 1, 2, 1, 0]]
    calls = [
        ("train", {"x": x, "y": y}), ("train", {"x": x, "y": y}), ("save", {"path": "checkpoint"}),
        ("save2", {"path": "checkpoint2"}), ("train", {"x": x, "y": y}), ("infer", {"x": x}),
        ("restore", {"path": "checkpoint"}), ("infer", {"x": x}), ("train", {"x": x, "y": y}),
        ("restore2", {"path": "checkpoint2"}), ("train", {"x": x, "y": y}),
    ]  # fmt: skip
    recorded = {}
    for i, (name, inputs) in enumerate(calls):
        places = {k: str(FOLDER / v) if k == "path" else v for k, v in inputs.items()}
        outputs = signatures[name](**{k: tf.constant(v) for k, v in places.items()})
        recorded.update({f"{i:02}/{name}/in/{k}": np.asarray(v) for k, v in inputs.items()})
        arrays = {k: v.numpy() for k, v in outputs.items() if k != "path"}
        recorded.update({f"{i:02}/{name}/out/{k}": v for k, v in arrays.items()})
    np.savez_compressed(FOLDER / "cases.npz", **recorded)


if __name__ == "__main__":
    main()
