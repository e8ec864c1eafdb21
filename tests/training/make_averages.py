"""Writes averages.json: what TensorFlow's schedules and moving averages give.

Run it in an environment with TensorFlow, which the tests themselves do without:

    python tests/training/make_averages.py
"""

import json
from pathlib import Path

GOLDENS = Path(__file__).with_name("averages.json")
STEPS = [0, 1, 5, 9, 10, 24, 30, 49, 50, 73]
SCHEDULES = [
    "tf.train.cosine_decay_restarts(0.1, g, 10)",
    "tf.train.cosine_decay_restarts(0.1, g, 10, t_mul=1.0, m_mul=0.5, alpha=0.1)",
    "tf.train.cosine_decay_restarts(0.1, g, 10, t_mul=1.5, m_mul=0.9, alpha=0.01)",
    "tf.train.linear_cosine_decay(0.1, g, 50)",
    "tf.train.linear_cosine_decay(0.1, g, 50, num_periods=2., alpha=0.1, beta=0.01)",
    "tf.train.noisy_linear_cosine_decay(0.1, g, 50, initial_variance=0.)",
]
AVERAGES = [
    "tf.train.ExponentialMovingAverage(0.9)",
    "tf.train.ExponentialMovingAverage(0.99, num_updates=n)",
    "tf.train.ExponentialMovingAverage(0.9, zero_debias=True)",
    "tf.train.ExponentialMovingAverage(0.9, name='Shadow')",
]


def rates(tf, expr: str) -> list[float]:
    """The rates of a schedule at STEPS."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        step = tf.compat.v1.placeholder("int32", [])
        names = {"tf": tf.compat.v1, "g": step}
        rate = eval(expr, names)
        return [float(session.run(rate, {step: n})) for n in STEPS]


def averages(tf, expr: str) -> dict:
    """Names and values of the shadows of a variable and a tensor after each of four updates."""
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        n = v1.placeholder_with_default(3, [])
        x = v1.placeholder("float32", [2], name="x")
        with v1.variable_scope("layer"):
            w = v1.get_variable("w", initializer=[1.0, -2.0], use_resource=False)
        v1.get_variable("count", initializer=0, trainable=False, use_resource=False)
        average = eval(expr, {"tf": v1, "n": n})
        before = average.average_name(w)
        tensor = x * 2.0
        update = average.apply([w, tensor])
        change = w.assign(w * 2.0)
        session.run(v1.global_variables_initializer())
        values = []
        for i in range(4):
            session.run(update, {x: [i, -i]})
            values.append([v.tolist() for v in session.run(map_of(average, w, tensor))])
            session.run(change)
        return {
            "names": [before, average.average_name(w), average.average(tensor).op.name],
            "variables": sorted(v.op.name for v in v1.global_variables()),
            "averaged": [v.op.name for v in v1.moving_average_variables()],
            "restore": {k: v.op.name for k, v in sorted(average.variables_to_restore().items())},
            "values": values,
        }


def map_of(average, *items):
    """The shadows of some items."""
    return [average.average(item) for item in items]


if __name__ == "__main__":
    import tensorflow as tf

    tf.compat.v1.disable_v2_behavior()
    recorded = {expr: rates(tf, expr) for expr in SCHEDULES}
    recorded |= {expr: averages(tf, expr) for expr in AVERAGES}
    GOLDENS.write_text(json.dumps(recorded, indent=1) + "\n")
