"""Writes object_checkpoints/: what TensorFlow's Checkpoint writes, and says of what it restores.

Run it in an environment with TensorFlow, which the tests themselves do without:

    python tests/training/checkpoints/make_object_checkpoints.py
"""

import json
import shutil
import tempfile
from pathlib import Path

from object_programs import PROGRAMS, managed, outcomes

FOLDER = Path(__file__).with_name("object_checkpoints")


def object_graph(tf, prefix):
    """The text of the object graph of a checkpoint."""
    from tensorflow.core.protobuf.trackable_object_graph_pb2 import TrackableObjectGraph

    content = tf.train.load_variable(prefix, "_CHECKPOINTABLE_OBJECT_GRAPH")
    return str(TrackableObjectGraph.FromString(content))


def main():
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    shutil.rmtree(FOLDER, ignore_errors=True)
    recorded = {"graphs": {}}
    for name, program in PROGRAMS.items():
        for use_resource in (False, True):
            key = f"{name}-{'resource' if use_resource else 'reference'}"
            with tf.Graph().as_default(), tf.Session() as session, session.as_default():
                checkpoint, train = program(tf, use_resource)
                session.run(tf.global_variables_initializer())
                for _ in range(3 if train is not None else 0):
                    session.run(train)
                prefix = checkpoint.save(str(FOLDER / key))
                values = {v.op.name: session.run(v).tolist() for v in tf.global_variables()}
                text = object_graph(tf, prefix)
            values = {
                k: [item.decode() for item in v] if k.endswith("names") else v
                for k, v in values.items()
            }
            recorded["graphs"][key] = {"text": text, "values": values}
    recorded["outcomes"] = outcomes(tf, str(FOLDER / "single-reference-1"))
    with tempfile.TemporaryDirectory() as folder:
        text = json.dumps(managed(tf, f"{folder}/a/b"))
        recorded["managed"] = json.loads(text.replace(folder, ""))
    (FOLDER / "checkpoint").unlink()
    (FOLDER / "recorded.json").write_text(json.dumps(recorded, indent=1) + "\n")


if __name__ == "__main__":
    main()
