"""Programs with loss scales; records loss_scales.json with TensorFlow:

python tests/training/loss_scale_programs.py
"""

import json
import os
from pathlib import Path

GRADIENTS = [1.0, 2.0, 0.5, float("inf"), 1.0, float("nan"), 3.0, 1.0, 1.0, 2.0]
"""What each step's loss is multiplied by."""


def fixed(tf, opt):
    return tf.train.experimental.MixedPrecisionLossScaleOptimizer(opt, 8.0)


def dynamic(tf, opt):
    scale = tf.train.experimental.DynamicLossScale(4.0, 2, 3.0)
    return tf.train.experimental.enable_mixed_precision_graph_rewrite(opt, scale)


def growing(tf, opt):
    scale = tf.train.experimental.DynamicLossScale(3e38, 1)
    return tf.train.experimental.MixedPrecisionLossScaleOptimizer(opt, scale)


PROGRAMS = {
    "fixed": (fixed, "GradientDescentOptimizer", False),
    "dynamic": (dynamic, "GradientDescentOptimizer", True),
    "dynamic_adam": (dynamic, "AdamOptimizer", True),
    "dynamic_reference": (dynamic, "AdagradOptimizer", False),
    "growing": (growing, "GradientDescentOptimizer", True),
}


def run(tf, name) -> dict:
    """Names of the optimizer's variables, and their values, the variables and the step."""
    wrap, kind, resource = PROGRAMS[name]
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable([1.0, 2.0], name="v", use_resource=resource)
        table = tf.Variable([[1.0], [2.0], [3.0]], name="table", use_resource=resource)
        factor = tf.placeholder(tf.float32, [])
        count = tf.train.get_or_create_global_step()
        loss = tf.reduce_sum(v * v) * factor + tf.reduce_sum(tf.gather(table, [0, 2])) * factor
        opt = wrap(tf, getattr(tf.train, kind)(0.1))
        step = opt.minimize(loss, global_step=count)
        session.run(tf.global_variables_initializer())
        variables = opt.variables()
        steps = []
        for value in GRADIENTS[: 3 if name == "fixed" else None]:
            session.run(step, {factor: value})
            values = session.run([v, table, count, *variables])
            steps.append([float(x) for array in values for x in array.ravel()])
        return {"names": sorted(x.name for x in variables), "steps": steps}


if __name__ == "__main__":
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    import tensorflow.compat.v1 as tensorflow

    tensorflow.disable_v2_behavior()
    recorded = {name: run(tensorflow, name) for name in PROGRAMS}
    text = json.dumps(recorded, indent=1) + "\n"
    Path(__file__).with_name("loss_scales.json").write_text(text)
