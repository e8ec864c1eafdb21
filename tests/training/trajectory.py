"""Ten steps of an optimizer, as the tf1_optimizer rows of the corpus were recorded."""

import numpy as np


def setting() -> dict[str, np.ndarray]:
    """The numbers all trajectories start from."""
    rng = np.random.RandomState(42)
    shapes = {"X": (8, 4), "Y": (8, 3), "W0": (4, 3), "B0": (3,), "E0": (6, 3)}
    values = {name: rng.randn(*shape).astype("f4") for name, shape in shapes.items()}
    values["IDS"] = np.array(
        [[1, 3, 3], [0, 5, 1], [2, 2, 2], [4, 0, 3], [1, 1, 5]]
        + [[3, 4, 0], [5, 5, 5], [0, 1, 2], [3, 3, 1], [2, 4, 4]],
        "i4",
    )  # several rows of one index
    values["C"] = rng.randn(10, 3, 3).astype("f4")
    return values


def dense(tf, data, resource):
    """mean((x w + b - y)^2): the loss, its variables, what to feed at a step."""
    w = tf.get_variable("w", initializer=data["W0"], use_resource=resource)
    b = tf.get_variable("b", initializer=data["B0"], use_resource=resource)
    error = tf.matmul(tf.constant(data["X"]), w) + b - tf.constant(data["Y"])
    return tf.reduce_mean(tf.square(error)), {"w": w, "b": b}, lambda step: {}


def sparse(tf, data, resource):
    """sum(g c) + sum(g^2) / 2 of gathered rows g: the loss, its variable, what to feed."""
    table = tf.get_variable("E", initializer=data["E0"], use_resource=resource)
    ids, c = tf.placeholder(tf.int32, [3]), tf.placeholder(tf.float32, [3, 3])
    rows = tf.gather(table, ids)
    loss = tf.reduce_sum(rows * c) + 0.5 * tf.reduce_sum(rows * rows)
    at = lambda step: min(step, 9)  # noqa: E731
    return loss, {"E": table}, lambda step: {ids: data["IDS"][at(step)], c: data["C"][at(step)]}


def trajectory(tf, row):
    """All variables, losses and gradients before each step, slot names, and variable names."""
    data = setting()
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        optimizer = eval(row["expr"], {"tf": tf})
        make = sparse if row["sparse"] else dense
        loss, trained, feeds = make(tf, data, row["resource"])
        pairs = optimizer.compute_gradients(loss, list(trained.values()))
        if clip := row.get("clip_by_global_norm"):
            clipped, _ = tf.clip_by_global_norm([gradient for gradient, _ in pairs], clip)
            pairs = list(zip(clipped, trained.values(), strict=True))
        train = optimizer.apply_gradients(pairs, global_step=step)
        slots = {
            f"{name}/{slot}": values.op.name
            for name, variable in trained.items()
            for slot in optimizer.get_slot_names()
            if (values := optimizer.get_slot(variable, slot)) is not None
        }
        variables = {variable.op.name: variable for variable in tf.global_variables()}
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for t in range(11):
                for name, variable in variables.items():
                    data[f"step{t:02d}/{name}"] = session.run(variable)
                data[f"loss{t:02d}"] = session.run(loss, feeds(t))
                if t < 10:
                    gradients = [gradient for gradient, _ in pairs]
                    values = session.run(gradients, feeds(t))
                    for name, value in zip(trained, values, strict=True):
                        if hasattr(value, "indices"):
                            data[f"grad{t:02d}/{name}/indices"] = value.indices
                            data[f"grad{t:02d}/{name}/values"] = value.values
                        else:
                            data[f"grad{t:02d}/{name}"] = value
                    session.run(train, feeds(t))
    return data, slots, sorted(variables)
