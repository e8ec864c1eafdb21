"""Writes saved_models/: TensorFlow's signatures and errors, and a SavedModel of its TF1 builder.

Run it in an environment with TensorFlow, which the tests themselves do without:

    python tests/training/make_saved_models.py
"""

import json
import shutil
import tempfile
from pathlib import Path

from saved_model_programs import X, network, signatures, wrong_uses

FOLDER = Path(__file__).with_name("saved_models")


def main():
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "file").touch()
        recorded = {"signatures": signatures(tf), "wrong uses": wrong_uses(tf, folder)}
    vocabulary = FOLDER / "words.txt"
    vocabulary.write_text("a\nb\n")
    with tf.Graph().as_default(), tf.Session() as session:
        x, y, w, local = network(tf, True)
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        session.run(w.assign(w + 1.0))
        path = tf.constant(str(vocabulary), name="path")
        words = tf.get_local_variable("words", initializer=tf.identity(path))
        builder = tf.saved_model.Builder(str(FOLDER / "tf1"))
        builder.add_meta_graph_and_variables(
            session,
            [tf.saved_model.SERVING],
            {"serving_default": tf.saved_model.predict_signature_def({"in": x}, {"out": y})},
            assets_collection=[path],
            main_op=tf.group(local.initializer, words.initializer),
        )
        builder.save()
        recorded["out"] = session.run(y, {x: X}).tolist()
    vocabulary.unlink()
    (FOLDER / "recorded.json").write_text(json.dumps(recorded, indent=1) + "\n")


if __name__ == "__main__":
    main()
